"""Frames and columns of libraries that export Arrow data: polars, PyArrow, DuckDB and others."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import types

from dask_graphflow.exceptions import EdgeListError, VertexTypeError

from . import dtypes
from .advice import To, convert, is_dask, library_of, texts

# pandas converts these without loss, and columns without nulls of those in WITHOUT_NULLS.
TEXT = (types.is_string, types.is_large_string, types.is_string_view)
ALWAYS = (types.is_floating, types.is_timestamp, types.is_duration, *TEXT)
WITHOUT_NULLS = (types.is_integer, types.is_boolean)
# Types whose values polars and DuckDB do not export as they are, or not at all, and what to make of them:
# Object exports memory addresses, UHUGEINT wraps around, BIT and BIGNUM are encoded, and the offset of a
# time is lost.
NOT_EXPORTED: dict[str, To] = {
    "Object": "text",
    "Int128": "whole decimals",
    "UInt128": "whole decimals",
    "UHUGEINT": "whole decimals",
    "BIT": "text",
    "BIGNUM": "text",
    "TIME WITH TIME ZONE": "text",
}


Choose = Callable[[list[str]], Container[str]]


def as_frame(given: Any, role: str, choose: Choose | None = None) -> Any:
    """Return a frame or column of another library as a DataFrame or Series of pandas.

    The library has to export Arrow data by the method ``__arrow_c_stream__`` or ``__arrow_c_array__``. A
    lazy frame of polars or narwhals is collected. Numbers and text are not copied, unless a column has
    several chunks. Frames that work like those of pandas, and values that are not frames, are returned
    unchanged.

    Parameters
    ----------
    given : object
    role : str
        Name of the argument, for error messages.
    choose : callable, optional
        Takes the names of all columns, and returns those to convert. By default all are converted.

    Raises
    ------
    EdgeListError
        It is a frame of a library that does not export Arrow data.
    VertexTypeError
        The library does not export the values of a column as they are.
    """
    if hasattr(given, "iloc") or is_dask(given) or isinstance(given, type):
        return given
    if hasattr(given, "to_native"):  # narwhals
        return as_frame(given.to_native(), role, choose)
    if hasattr(given, "collect_schema"):  # polars
        names = given.collect_schema().names()
        given = given.select([names[at] for at in _choose(names, choose)])
    _check_exported(given, role, choose)
    if hasattr(given, "collect"):
        given = given.collect()
    if hasattr(given, "__arrow_c_stream__"):
        if hasattr(given, "columns") or hasattr(given, "schema"):
            return _read(pa.RecordBatchReader.from_stream(given), choose)
        values = pa.chunked_array(given)
    elif hasattr(given, "__arrow_c_array__"):
        values = pa.chunked_array([pa.array(given)])
    elif hasattr(given, "columns"):
        kind = type(given)
        raise EdgeListError(
            f"{role} is a {kind.__module__}.{kind.__name__}; give a DataFrame of Dask, pandas or cuDF, or "
            f"one of a library that exports Arrow data, such as polars{_to_pandas(given, role)}"
        )
    else:
        return given
    if not types.is_struct(values.type):
        return _series(values)
    return _read(pa.Table.from_struct_array(values).to_reader(), choose)


def _read(batches: pa.RecordBatchReader, choose: Choose | None) -> pd.DataFrame:
    """Return a frame of rows that are read batch by batch. Columns that are not chosen are dropped."""
    names = batches.schema.names
    chosen = _choose(names, choose)
    columns = [_Column(batches.schema.field(at).type) for at in chosen]
    for batch in batches:
        for column, at in zip(columns, chosen, strict=True):
            column.append(batch.column(at))
    frame = pd.DataFrame({at: column.series() for at, column in enumerate(columns)}, copy=False)
    frame.columns = pd.Index([names[at] for at in chosen])
    return frame


class _Column:
    """The values of a column, in the order of the batches.

    If there are several batches, numbers without nulls are copied at once, so that their library can use
    the memory of a batch for the next one.
    """

    def __init__(self, kind: pa.DataType) -> None:
        self._kind, self._chunks = kind, list[pa.Array]()
        self._values, self._count = np.empty(0), 0
        self._plain = types.is_integer(kind) or types.is_floating(kind)

    def append(self, values: pa.Array) -> None:
        """Add the values of a batch."""
        if not len(values):
            return
        self._chunks.append(values)
        self._plain = self._plain and not values.null_count
        if self._plain and (self._count or len(self._chunks) > 1):
            for chunk in self._chunks:
                self._copy(chunk.to_numpy())
            self._chunks.clear()

    def _copy(self, values: np.ndarray) -> None:
        stop = self._count + len(values)
        if stop > len(self._values):
            # What is not written yet takes no memory.
            larger = np.empty(max(stop, 2 * len(self._values)), values.dtype)
            larger[: self._count] = self._values[: self._count]
            self._values = larger
        self._values[self._count : stop] = values
        self._count = stop

    def series(self) -> pd.Series:
        """Return all values as a series."""
        values = self._values[: self._count]
        if self._count and not self._chunks:
            return pd.Series(values, copy=False)
        copied = [pa.array(values)] if self._count else []
        return _series(pa.chunked_array([*copied, *self._chunks], self._kind))


def _choose(names: list[str], choose: Choose | None) -> list[int]:
    """Return the positions of the columns to convert. Names can occur more than once."""
    kept = names if choose is None else choose(names)
    return [at for at, name in enumerate(names) if name in kept]


def _check_exported(given: Any, role: str, choose: Choose | None) -> None:
    """Raise unless the library exports the values of all chosen columns as they are."""
    library = library_of(given)
    if library == "polars" and hasattr(given, "collect_schema"):
        columns = list(given.collect_schema().items())
    elif library == "duckdb" and hasattr(given, "columns"):
        columns = list(zip(given.columns, given.types, strict=True))
    elif library != "polars":
        return
    else:
        to = NOT_EXPORTED.get(str(given.dtype))
        call = texts(role) if to == "text" else f"{role.rstrip('=')}.to_list()"
        if to is not None:
            raise VertexTypeError(_not_exported(role, given.dtype, library, call))
        return
    for at in _choose([name for name, _ in columns], choose):
        name, dtype = columns[at]
        to = NOT_EXPORTED.get(str(dtype))
        if to is not None:
            call = convert(role, library, [name], to)
            raise VertexTypeError(_not_exported(f"{role} column {name!r}", dtype, library, call))


def _not_exported(subject: str, dtype: Any, library: str, call: str) -> str:
    return (
        f"{subject} has the type {dtype}, whose values {library} cannot export as Arrow data unchanged; "
        f"ids and weights need a type that it can export. Convert the column, for example with {call}"
    )


def _series(column: pa.ChunkedArray) -> pd.Series:
    """Return a column as pandas reads it, or with an Arrow dtype if that would change values."""
    if types.is_dictionary(column.type):
        if _is_categorical(column):
            # Older versions of PyArrow cannot convert unsigned codes, which polars uses.
            signed = pa.dictionary(pa.int64(), column.type.value_type, column.type.ordered)
            return column.cast(signed).to_pandas()  # type: ignore[no-any-return]
        column = dtypes.decoded(column)
    if exact_dtype(column.type, nulls=bool(column.null_count)) is None:
        return column.to_pandas()  # type: ignore[no-any-return]
    return pd.Series(pd.arrays.ArrowExtensionArray(dtypes.decoded(column)))


def exact_dtype(kind: pa.DataType, *, nulls: bool) -> pd.ArrowDtype | None:
    """Return the dtype that holds values of an Arrow type exactly; None for pandas' own choice."""
    if any(test(kind) for test in (ALWAYS if nulls else ALWAYS + WITHOUT_NULLS)):
        return None
    if getattr(kind, "extension_name", "").startswith("pandas."):
        return None
    if types.is_dictionary(kind) and any(test(kind.value_type) for test in TEXT):
        return None
    return pd.ArrowDtype(kind)


def _is_categorical(column: pa.ChunkedArray) -> bool:
    """Say whether a dictionary column is categorical in pandas: with texts, each of them once."""
    if exact_dtype(column.type, nulls=False) is not None:
        return False
    values = [chunk.dictionary for chunk in column.chunks]
    return not any(one.null_count or len(one.unique()) < len(one) for one in values)


def _to_pandas(frame: Any, name: str) -> str:
    """Return advice, as the end of a message, on how to convert a frame to pandas, if it has a method."""
    methods = ("to_pandas", "toPandas", "df")
    method = next((method for method in methods if callable(getattr(frame, method, None))), None)
    return "" if method is None else f". Convert it with {name}.{method}()"
