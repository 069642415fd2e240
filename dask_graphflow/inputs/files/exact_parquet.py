"""Parquet files as lazy frames, with the dtypes that ids and weights need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dask
import dask.dataframe as dd
import pyarrow as pa
from dask.dataframe.io.parquet.arrow import ArrowDatasetEngine


class _Exact(ArrowDatasetEngine):  # type: ignore[misc]
    """Reads a partition with dtypes that also depend on which of its types have nulls."""

    @classmethod
    def _create_dd_meta(cls, dataset_info: dict[str, Any]) -> Any:
        schema = dataset_info["schema"]
        for name in _uuids(dataset_info["ds"]):  # Dask's schema has no logical types
            at = schema.get_field_index(name)
            schema = schema.set(at, schema.field(at).with_type(pa.uuid()))
        dtype_of = dataset_info["kwargs"]["arrow_to_pandas"]["types_mapper"]
        encoded = [field for field in schema if pa.types.is_dictionary(field.type)]
        categories = [field.name for field in encoded if dtype_of(field.type, nulls=False) is None]
        dataset_info |= {"schema": schema, "categories": categories}
        return super()._create_dd_meta(dataset_info)

    @classmethod
    def _arrow_table_to_pandas(
        cls, table: Any, categories: Any, *, arrow_to_pandas: Mapping[str, Any], **kwargs: Any
    ) -> Any:
        dtype_of = arrow_to_pandas["types_mapper"]
        nulls = {column.type for column in table.columns if column.null_count}
        mapper = {"types_mapper": lambda kind: dtype_of(kind, nulls=kind in nulls)}
        return super()._arrow_table_to_pandas(table, categories, arrow_to_pandas=mapper, **kwargs)


def _uuids(dataset: Any) -> list[str]:
    """Return the columns of a dataset with the logical type of UUIDs, as the first file says."""
    first = next(dataset.get_fragments(), None)
    if first is None or pa.binary(16) not in dataset.schema.types or not hasattr(pa, "uuid"):
        return []
    schema = first.metadata.schema
    columns = [schema.column(at) for at in range(len(schema))]
    uuids = {one.path for one in columns if one.logical_type.type == "UUID"}
    return [name for name in dataset.schema.names if name in uuids]


def read_parquet(
    paths: Sequence[str], options: Mapping[str, Any] | None, dtype_of: Callable[..., Any]
) -> Any:
    """Return Parquet files as a lazy frame. The options are those of the file system.

    `dtype_of` takes an Arrow type, and `nulls`: whether the partition has nulls of this type. It returns
    the dtype in pandas, or None for the one that Dask chooses.
    """
    exact = {"engine": _Exact, "arrow_to_pandas": {"types_mapper": dtype_of}}
    own = exact if dask.config.get("dataframe.backend", "pandas") == "pandas" else {}
    return dd.read_parquet(list(paths), storage_options=options, **own)
