"""What a Dask frame is read from: a pandas frame or files, their rows, and how to split Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import pyarrow as pa
from dask.dataframe.dask_expr import new_collection
from dask.dataframe.dask_expr._expr import DropnaFrame, Elemwise, Expr, Filter, Projection
from dask.dataframe.dask_expr.io import FromMap, FromPandas, ReadParquet
from dask.dataframe.dask_expr.io.parquet import ReadParquetFSSpec

from .expr import Held


def find_source(frame: Any) -> Any:
    """Return the source of all rows of a frame, if known: a pandas frame, or Parquet's fragments.

    Return None if the rows are changed after they are read, or come from another source.
    """
    in_memory = _in_memory(frame)
    return _fragments(_read_as_it_is(frame)) if in_memory is None else in_memory


def num_rows(frame: Any) -> int | None:
    """Return the number of rows of a frame in this process' memory; None for all others."""
    in_memory = _in_memory(frame)
    return None if in_memory is None else len(in_memory)


def rows_at_most(frame: Any) -> int | None:
    """Return about the maximum number of rows of a frame, or None if it is not known before they are read.

    It is known for frames in this process' memory, for Parquet files that are like the first one, and for
    inputs of :func:`dask.dataframe.from_map` with an attribute `rows`. Rows may be filtered, and columns
    computed from others, after they are read.
    """
    node = frame.expr
    while isinstance(node, Elemwise | Filter | DropnaFrame) and "frame" in node._parameters:
        node = node.frame
    if isinstance(node, FromPandas):
        return len(node.operand("frame")._data)
    if isinstance(node, ReadParquet):
        files = _files(node)
        return files[0].metadata.num_rows * len(files) if files else 0
    if isinstance(node, FromMap):
        inputs = node.operand("iterables")[0]
        return sum(one.rows for one in inputs) if _know_their_rows(inputs) else None
    return None


def _know_their_rows(inputs: Sequence[Any]) -> bool:
    return all(getattr(one, "rows", None) is not None for one in inputs)


def _in_memory(frame: Any) -> Any:
    """Return the in-memory frame that contains all rows of a Dask frame, or None."""
    if isinstance(frame, Held):
        return frame()
    node = _read_as_it_is(frame)
    if isinstance(node, FromPandas) and node.operand("_partitions") is None:
        return node.operand("frame")._data
    return None


def _read_as_it_is(frame: Any) -> Expr:
    """Return the expression from which a frame is made, without column selections."""
    node = frame.expr
    while isinstance(node, Projection):
        node = node.frame
    return node


def _fragments(node: Expr) -> list[Any] | None:
    """Return Parquet's fragments, one per file, if all their rows are read; otherwise None."""
    if not isinstance(node, ReadParquet) or node.operand("_partitions") is not None:
        return None
    return None if node.operand("filters") else _files(node)


def _files(node: ReadParquet) -> list[Any]:
    """Return Parquet's fragments, one per file."""
    if hasattr(node, "fragments"):
        return list(node.fragments)
    return list(node._dataset_info["ds"].get_fragments())


class Pieces(NamedTuple):
    """The sizes into which Parquet files can be split, judged by the first file."""

    partition: int  # bytes of a partition in memory
    row_group: int  # bytes of a row group in memory
    divisible: bool  # whether Dask can read some row groups of a file at a time
    rows: int  # number of rows in all files, if they are like the first
    # Dict of column name to list of (least, greatest). The bounds of each row group, for the columns whose
    # statistics are in the file.
    bounds: dict[str, list[tuple[Any, Any]]]


def pieces_of(frame: Any, columns: list[str]) -> Pieces | None:
    """Return the sizes of the pieces in which some columns of a frame are read.

    Return None if the frame is not read from Parquet, or if the rows are changed after they are read.
    """
    node = None if isinstance(frame, Held) else _read_as_it_is(frame)
    fragments = None if node is None else _fragments(node)
    if not fragments:
        return None
    metadata = fragments[0].metadata
    width = {name: getattr(frame._meta[name].dtype, "itemsize", 8) for name in columns}
    sizes: list[int] = []
    bounds: dict[str, list[tuple[Any, Any]]] = {}
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        read = [
            one
            for one in map(group.column, range(group.num_columns))
            if one.path_in_schema in width
        ]
        # Text takes about as much memory as its uncompressed size in the file.
        own = [
            max(group.num_rows * width[c.path_in_schema], c.total_uncompressed_size) for c in read
        ]
        sizes.append(sum(own))
        for one in read:
            if one.is_stats_set and one.statistics.has_min_max:
                # PyArrow 16 cannot read the bounds of every type.
                with suppress(pa.ArrowNotImplementedError):
                    least_and_most = one.statistics.min, one.statistics.max
                    bounds.setdefault(one.path_in_schema, []).append(least_and_most)
    per_file = max(1, frame.npartitions // len(fragments))
    return Pieces(
        sum(sizes) // per_file,
        max(sizes, default=0),
        isinstance(node, ReadParquetFSSpec),
        metadata.num_rows * len(fragments),
        bounds,
    )


def by_row_groups(frame: Any, count: int) -> Any:
    """Return a frame that reads divisible :class:`Pieces` with `count` row groups per partition."""
    node = _read_as_it_is(frame)
    fresh = {"_dataset_info_cache": None, "_pq_length_stats": None}
    smaller = node.substitute_parameters({"split_row_groups": count, **fresh})
    return new_collection(frame.expr.substitute(node, smaller))
