"""Dtypes of ids and weights: which ones can be read, and exact conversion between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from dask.dataframe.utils import UNKNOWN_CATEGORIES
from pandas.api import types as pdtypes

from dask_graphflow.exceptions import VertexTypeError

ID_KINDS = {
    "bool",
    "integer",
    "string",
    "binary",
    "date",
    "time",
    "datetime",
    "datetime with a time zone",
    "timedelta",
    "decimal",
    "period",
}
NUMBERS = {"bool", "integer", "float"}
UNITS = ("s", "ms", "us", "ns")

# The frames whose columns hold ids, by what a message calls them; other names are options with ids.
FRAMES = {
    "edges": "edges",
    "source": "edges",
    "target": "edges",
    "vertices": "vertices",
    "seed": "seed",
}
ALLOWED = "ids are integers, strings, categoricals, dates or times"


class Inexact(Exception):  # noqa: N818 - it never reaches a user
    """A dtype cannot hold a column's values exactly.

    Attributes
    ----------
    value : object
        The first value that does not fit; None if the two dtypes are not compatible at all.
    """

    def __init__(self, value: Any = None) -> None:
        super().__init__(value)
        self.value = value


def kind(dtype: Any) -> str:
    """Return the kind of values that a dtype holds; all ids of one graph are of one kind.

    For a dtype whose values cannot be ids or weights, this is the name of the dtype.
    """
    if isinstance(dtype, pd.ArrowDtype):
        return _arrow_kind(dtype.pyarrow_dtype, str(dtype))
    if isinstance(dtype, pd.PeriodDtype):
        return "period"
    kind_name = next((name for name, test in _TESTS.items() if test(dtype)), None)
    if kind_name is not None:
        return kind_name
    # cuDF's decimals, recognized by name because nothing here imports cuDF.
    return "decimal" if type(dtype).__name__.startswith("Decimal") else str(dtype)


_TESTS: dict[str, Callable[[Any], bool]] = {
    "bool": pdtypes.is_bool_dtype,
    "integer": pdtypes.is_integer_dtype,
    "float": pdtypes.is_float_dtype,
    "datetime with a time zone": lambda dtype: isinstance(dtype, pd.DatetimeTZDtype),
    "datetime": pdtypes.is_datetime64_dtype,
    "timedelta": pdtypes.is_timedelta64_dtype,
    "string": lambda dtype: pdtypes.is_string_dtype(dtype) or pdtypes.is_object_dtype(dtype),
}


def _arrow_kind(arrow: pa.DataType, otherwise: str) -> str:
    is_a = pa.types
    if is_a.is_timestamp(arrow):
        return "datetime" if arrow.tz is None else "datetime with a time zone"
    tests = {
        "bool": is_a.is_boolean,
        "integer": is_a.is_integer,
        "float": is_a.is_floating,
        "string": lambda t: is_a.is_string(t) or is_a.is_large_string(t),
        "binary": lambda t: (
            is_a.is_binary(t) or is_a.is_large_binary(t) or is_a.is_fixed_size_binary(t)
        ),
        "date": is_a.is_date,
        "time": is_a.is_time,
        "timedelta": is_a.is_duration,
        "decimal": is_a.is_decimal,
    }
    return next((name for name, test in tests.items() if test(arrow)), otherwise)


def is_integer(dtype: Any) -> bool:
    """Say whether values of this dtype are integers."""
    return kind(dtype) == "integer"


def is_number(dtype: Any) -> bool:
    """Say whether values of this dtype are real numbers with which kernels compute."""
    return kind(dtype) in NUMBERS


def plain(dtype: Any) -> np.dtype:
    """Return NumPy's dtype for a dtype of numbers."""
    if isinstance(dtype, pd.ArrowDtype):
        dtype = dtype.pyarrow_dtype.to_pandas_dtype()
    numpy_dtype: np.dtype[Any] = np.dtype(getattr(dtype, "numpy_dtype", dtype))
    return numpy_dtype


def limits(dtype: Any) -> tuple[int, int]:
    """Return the ends of the range in which a dtype of numbers holds every integer exactly."""
    numpy_dtype = plain(dtype)
    if numpy_dtype.kind == "f":
        most = 2 ** (np.finfo(numpy_dtype).nmant + 1)
        return -most, most
    info = np.iinfo(numpy_dtype)
    return int(info.min), int(info.max)


def values_dtype(dtype: Any) -> Any:
    """Return the dtype of the values of a categorical, sparse or dictionary dtype; others unchanged."""
    if isinstance(dtype, pd.SparseDtype):
        return dtype.subtype
    if isinstance(dtype, pd.ArrowDtype) and pa.types.is_dictionary(dtype.pyarrow_dtype):
        return pd.ArrowDtype(dtype.pyarrow_dtype.value_type)
    if hasattr(dtype, "categories"):
        categories = dtype.categories
        if categories is None or (len(categories) and categories[0] == UNKNOWN_CATEGORIES):
            # The categories are known only once a partition is read. Text is by far the most common,
            # and reading raises if they turn out to be something else.
            return pd.Series(["a"]).dtype
        return categories.dtype
    return dtype


def values_of(series: Any) -> Any:
    """Return a column decoded to its values, if it is encoded."""
    dtype = values_dtype(series.dtype)
    if dtype is series.dtype:
        return series
    if isinstance(series.dtype, pd.CategoricalDtype) and series.isna().any():
        # A nullable dtype is needed: conversion to integers fails, and bool would turn nulls into True.
        values = series.dtype.categories
        if isinstance(values.dtype, np.dtype) and values.dtype.kind in "biu":
            name = values.dtype.name  # pandas' nullable integers are named "Int8" and "UInt8"
            nullable = "boolean" if name == "bool" else name.replace("i", "I").replace("u", "U")
            values = values.astype(nullable)
        decoded = values.array.take(series.cat.codes.to_numpy(), allow_fill=True)
        return pd.Series(decoded, index=series.index, name=series.name)
    return series.astype(dtype)


def vertex_dtype(series: Any, role: str) -> Any:
    """Return the dtype of a column's ids, or raise if its values cannot be ids.

    For a categorical, sparse or dictionary column, this is the dtype of its values.
    """
    dtype = values_dtype(series.dtype)
    dtype_kind = kind(dtype)
    if dtype_kind in ID_KINDS:
        return dtype
    subject = f"{role}={series.name!r}" if role in FRAMES else role
    if dtype_kind == "float" and role in FRAMES:
        astype = f"{FRAMES[role]}.astype({{{series.name!r}: 'int64'}})"
        advice = f"If the floats are whole numbers with gaps, drop the nulls and use {astype}"
    elif dtype_kind == "float":
        advice = "Write whole numbers as integers, such as 1 instead of 1.0"
    else:
        advice = f"To use them as ids, {to_text(series.name, role, dtype)}"
    raise VertexTypeError(f"{subject} has dtype {dtype}; {ALLOWED}. {advice}")


def to_text(column: Any, role: str, dtype: Any = None) -> str:
    """Return advice, as the end of a message, on how to convert ids of a dtype to text."""
    if role not in FRAMES:
        return f"make them text, for example with [str(value) for value in {role.rstrip('=')}]"
    frame = FRAMES[role]
    values = f"{frame}[{column!r}]"
    # pandas 3.0 cannot map Arrow's views.
    made = f"[str(value) for value in {values}]" if "_view" in str(dtype) else f"{values}.map(str)"
    text = f"{{{column!r}: {made}}}"
    return f"make them text, for example with {frame}.assign(**{text})"


def common_dtype(left: Any, right: Any, left_name: str, right_name: str) -> Any:
    """Return the dtype that holds the ids of two columns, or raise if they differ in kind.

    For two integer types this is the wider one, and for two units of time the finer one.
    """
    if left == right:
        return left
    both = f"{left_name} has dtype {left} and {right_name} has dtype {right}"
    of_left, of_right = kind(left), kind(right)
    if {of_left, of_right} == {"datetime", "datetime with a time zone"}:
        raise VertexTypeError(
            f"{both}: one has a time zone and the other has none. Give both a time zone, for example "
            "with .dt.tz_localize('UTC')"
        )
    if of_left != of_right or of_left == "period":
        raise VertexTypeError(
            f"{both}; ids of one graph are of one type. Convert one of them, for example with "
            f"astype({{...: {str(left)!r}}})"
        )
    if of_left == "integer":
        wide = np.promote_types(plain(left), plain(right))
        if wide.kind == "f":
            raise VertexTypeError(
                f"{both}, and no integer type holds the values of both. Convert one of them, for "
                f"example with astype({{...: {str(left)!r}}})"
            )
        return wide
    if of_left in ("datetime", "datetime with a time zone", "timedelta"):
        return _in_unit(left, max(_unit(left), _unit(right), key=UNITS.index))
    return left


def _unit(dtype: Any) -> str:
    """Return the unit of a dtype of datetimes or timedeltas."""
    if isinstance(dtype, pd.ArrowDtype):
        return str(dtype.pyarrow_dtype.unit)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return str(dtype.unit)
    return str(np.datetime_data(dtype)[0])


def _in_unit(dtype: Any, unit: str) -> Any:
    """Return a dtype of datetimes or timedeltas with another unit."""
    if isinstance(dtype, pd.ArrowDtype):
        arrow = dtype.pyarrow_dtype
        if pa.types.is_duration(arrow):
            return pd.ArrowDtype(pa.duration(unit))
        return pd.ArrowDtype(pa.timestamp(unit, arrow.tz))
    if isinstance(dtype, pd.DatetimeTZDtype):
        return pd.DatetimeTZDtype(unit, dtype.tz)  # type: ignore[call-overload]
    return np.dtype(f"{dtype.kind}8[{unit}]")


def exactly(series: Any, dtype: Any) -> Any:
    """Return a column without nulls with another dtype and the same values.

    Values are checked only if the dtypes differ and the new one may not hold all of them.

    Raises
    ------
    Inexact
        The dtype cannot hold some value.
    """
    if series.dtype == dtype:
        return series
    if not len(series):
        return type(series)([], dtype=dtype, name=series.name)
    have, want = kind(series.dtype), kind(dtype)
    if have != want and not {have, want} <= NUMBERS:
        raise Inexact
    if have == "string":
        if series.dtype == object and isinstance(series, pd.Series) and not _is_text(series):
            raise Inexact
        return series.astype(dtype)
    if "integer" in (have, want) and "bool" not in (have, want):
        _check_range(series, have, dtype)
    return _round_trip(series, dtype)


def _is_text(series: pd.Series) -> bool:
    return pdtypes.infer_dtype(series, skipna=True) in ("string", "empty")


def _check_range(series: Any, have: str, dtype: Any) -> None:
    """Raise if some value is outside the range in which both dtypes hold integers exactly."""
    own, other = limits(series.dtype), limits(dtype)
    if have == "integer" and other[0] <= own[0] and own[1] <= other[1]:
        return
    low, high = max(own[0], other[0]), min(own[1], other[1])
    for value in (series.min(), series.max()):
        if not low <= value <= high:  # also true for NaN
            raise Inexact(value)


def _round_trip(series: Any, dtype: Any) -> Any:
    """Convert a column and back, and raise if a value changed.

    pandas truncates fractions and fine units of time without an error, and cuDF wraps around.
    """
    try:
        made = series.astype(dtype)
    except (TypeError, ValueError, OverflowError, NotImplementedError) as error:
        raise Inexact(_first_unfit(series, dtype)) from error
    if kind(dtype) == kind(series.dtype) == "integer":
        return made  # the range was checked
    differs = (made.astype(series.dtype) != series) & (series == series)  # NaN is allowed
    if differs.any():
        raise Inexact(series[differs].iloc[0])
    return made


def _first_unfit(series: Any, dtype: Any) -> Any:
    """Return the smallest or largest value if it cannot be converted; None if both can."""
    extremes = series.sort_values().iloc[[0, -1]]
    for at in (0, 1):
        try:
            extremes.iloc[[at]].astype(dtype)
        except (TypeError, ValueError, OverflowError, NotImplementedError):
            return extremes.iloc[at]
    return None


def check_objects(series: pd.Series, role: str) -> None:
    """Raise if a pandas column of Python objects holds anything but strings.

    Dask would convert such objects to text.
    """
    values = series
    if isinstance(series.dtype, pd.CategoricalDtype):
        values = pd.Series(series.dtype.categories)
    if values.dtype == object and not _is_text(values):
        inferred = pdtypes.infer_dtype(values, skipna=True)
        advice = to_text(series.name, role)
        if values is series and series.infer_objects().dtype != object:
            advice = "convert the column with infer_objects()"
        subject = f"{role} column {series.name!r}" if role in FRAMES else role
        raise VertexTypeError(
            f"{subject} holds Python objects ({inferred}); {ALLOWED}, which can be "
            f"hashed and sorted. To use them as ids, {advice}; or give an id of several parts as several "
            "columns"
        )
