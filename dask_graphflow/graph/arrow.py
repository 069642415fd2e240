"""Frames and columns of libraries that export Arrow data: polars, PyArrow, DuckDB and others."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container
from typing import Any

import pandas as pd
import pyarrow as pa
from dask.base import is_dask_collection
from pyarrow import types

from dask_graphflow.exceptions import EdgeListError

# pandas converts these without loss, and columns without nulls of those in WITHOUT_NULLS.
ALWAYS = (
    types.is_floating,
    types.is_timestamp,
    types.is_duration,
    types.is_string,
    types.is_large_string,
    types.is_string_view,
    types.is_dictionary,
)
WITHOUT_NULLS = (types.is_integer, types.is_boolean)


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
    """
    if hasattr(given, "iloc") or is_dask_collection(given) or isinstance(given, type):
        return given
    if not hasattr(given, "__arrow_c_stream__") and hasattr(given, "collect_schema"):
        names = given.collect_schema().names()
        given = given.select([names[at] for at in _chosen(names, choose)]).collect()
    if hasattr(given, "__arrow_c_stream__"):
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
    table = pa.Table.from_struct_array(values)
    table = table.select(_chosen(table.column_names, choose))
    frame = pd.DataFrame(dict(enumerate(map(_series, table.columns))), copy=False)
    frame.columns = pd.Index(table.column_names)
    return frame


def _chosen(names: list[str], choose: Choose | None) -> list[int]:
    """Return the positions of the columns to convert. Names can occur more than once."""
    kept = names if choose is None else choose(names)
    return [at for at, name in enumerate(names) if name in kept]


def _series(column: pa.ChunkedArray) -> pd.Series:
    """Return a column as pandas reads it, or with an Arrow dtype if that would change values."""
    if types.is_binary_view(column.type):
        column = column.cast(pa.large_binary())  # pandas cannot select rows of a view
    if types.is_decimal(column.type) and column.type.scale == 0:
        with contextlib.suppress(pa.ArrowInvalid):  # DuckDB's sums of integers are decimals
            column = column.cast(pa.int64())
    tests = ALWAYS if column.null_count else ALWAYS + WITHOUT_NULLS
    if any(test(column.type) for test in tests):
        return column.to_pandas()  # type: ignore[no-any-return]
    return pd.Series(pd.arrays.ArrowExtensionArray(column))


def _to_pandas(frame: Any, name: str) -> str:
    """Return advice, as the end of a message, on how to convert a frame to pandas, if it has a method."""
    methods = ("to_pandas", "toPandas", "df")
    method = next((method for method in methods if callable(getattr(frame, method, None))), None)
    return "" if method is None else f". Convert it with {name}.{method}()"
