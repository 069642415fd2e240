"""Dtypes of ids and weights: which ones can be read, and exact conversion between them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api import types as pdtypes

from dask_graphflow.exceptions import VertexTypeError

from .advice import FRAMES, convert, texts

UNKNOWN_CATEGORIES = "__UNKNOWN_CATEGORIES__"  # the category of Dask's metadata if it knows none
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
    "UUID",
    "null",
}
NUMBERS = {"bool", "integer", "float"}
UNITS = ("s", "ms", "us", "ns")

ALLOWED = "ids are integers, strings, categoricals, dates or times"
MOST_DIGITS = 76


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
    simple = isinstance(dtype, np.dtype | pd.StringDtype)
    known = _kind_of_simple(dtype) if simple else _find_kind(dtype)
    if known is not None:
        return known
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


def _find_kind(dtype: Any) -> str | None:
    return next((name for name, test in _TESTS.items() if test(dtype)), None)


_kind_of_simple = lru_cache(maxsize=64)(_find_kind)  # the tests of pandas take microseconds each


def _arrow_kind(arrow: pa.DataType, otherwise: str) -> str:
    is_a = pa.types
    if is_uuid(arrow):
        return "UUID"
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
        "null": is_a.is_null,
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
    """Return the dtype in which values of a dtype are used; most are used as they are.

    A categorical, sparse, dictionary or run-end encoded dtype becomes that of its values. Numbers get the
    byte order of this machine. Views and short decimals become the types that Arrow can hash and sort.
    """
    if isinstance(dtype, pd.SparseDtype):
        return values_dtype(dtype.subtype)
    if isinstance(dtype, pd.ArrowDtype):
        used = _used(dtype.pyarrow_dtype)
        return dtype if used == dtype.pyarrow_dtype else pd.ArrowDtype(used)
    if hasattr(dtype, "categories"):
        categories = dtype.categories
        if categories is None or (len(categories) and categories[0] == UNKNOWN_CATEGORIES):
            # The categories are known only once a partition is read. Text is by far the most common,
            # and reading raises if they turn out to be something else.
            return text_dtype()
        return values_dtype(categories.dtype)
    if isinstance(dtype, np.dtype) and not dtype.isnative:
        return dtype.newbyteorder("=")
    return dtype


def text_dtype() -> Any:
    """Return the dtype in which pandas reads text: ``str``, or ``object`` before version 3."""
    return pd.Series(["a"]).dtype


def _used(arrow: pa.DataType) -> pa.DataType:
    """Return the Arrow type in which values of an Arrow type are used."""
    is_a = pa.types
    if is_a.is_dictionary(arrow) or is_a.is_run_end_encoded(arrow):
        return _used(arrow.value_type)
    if is_a.is_string_view(arrow):
        return pa.large_string()
    if is_a.is_binary_view(arrow):
        return pa.large_binary()
    if is_a.is_decimal(arrow) and arrow.bit_width < 128:
        return pa.decimal128(arrow.precision, arrow.scale)
    return arrow


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return an Arrow column with the type in which its values are used."""
    used = _used(column.type)
    if column.type == used:
        return column
    while pa.types.is_dictionary(column.type) or pa.types.is_run_end_encoded(column.type):
        by_code = pa.types.is_dictionary(column.type)
        decode = pa.DictionaryArray.dictionary_decode if by_code else pc.run_end_decode
        column = pa.chunked_array(map(decode, column.chunks), column.type.value_type)
    try:
        return column.cast(used)
    except pa.ArrowNotImplementedError:
        # Older versions of PyArrow cannot cast views.
        chunks = [pa.array(chunk.to_pylist(), used) for chunk in column.chunks]
        return pa.chunked_array(chunks, used)


def values_of(series: Any) -> Any:
    """Return a column with the dtype in which its values are used; see :func:`values_dtype`."""
    dtype = values_dtype(series.dtype)
    if dtype is series.dtype:
        return series
    if isinstance(series.dtype, pd.ArrowDtype):  # pandas cannot convert all of its types
        made = pd.arrays.ArrowExtensionArray(decoded(_column(series)))
        return pd.Series(made, index=series.index, name=series.name)
    if isinstance(series.dtype, pd.CategoricalDtype) and series.isna().any():
        # A nullable dtype is needed: conversion to integers fails, and bool would turn nulls into True.
        values = series.dtype.categories
        values = values.astype(nullable(values.dtype))
        taken = values.array.take(series.cat.codes.to_numpy(), allow_fill=True)
        return pd.Series(taken, index=series.index, name=series.name)
    return series.astype(dtype)


def nullable(dtype: Any) -> Any:
    """Return the dtype that also holds nulls; only NumPy's integers and booleans need another one."""
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biu":
        return dtype
    name = dtype.name  # pandas' nullable integers are named "Int8" and "UInt8"
    return "boolean" if name == "bool" else name.replace("i", "I").replace("u", "U")


def is_uuid(arrow: pa.DataType) -> bool:
    """Say whether this is Arrow's extension type for UUIDs."""
    return getattr(arrow, "extension_name", None) == "arrow.uuid"


def sortable(ids: Any) -> Any:
    """Return a frame that can be hashed and sorted: UUIDs become their bytes, whose order is the same."""
    uuids = [name for name, dtype in ids.dtypes.items() if kind(dtype) == "UUID"]
    return ids.assign(**{name: _bytes_of(ids[name]) for name in uuids}) if uuids else ids


def _bytes_of(uuids: pd.Series) -> pd.Series:
    values = _column(uuids)
    stored = pa.chunked_array([chunk.storage for chunk in values.chunks], values.type.storage_type)
    return pd.Series(pd.arrays.ArrowExtensionArray(stored), index=uuids.index)


def _column(series: pd.Series) -> pa.ChunkedArray:
    """Return a column with an Arrow dtype as Arrow data."""
    values = pa.array(series.array)
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])


def number_dtype(dtype: Any) -> Any:
    """Return the dtype in which kernels compute with numbers of a dtype, or None if it holds no numbers.

    Decimals with digits after the point become float64, and all other decimals int64.
    """
    dtype = values_dtype(dtype)
    if kind(dtype) == "decimal":
        return np.dtype("float64" if _digits(dtype)[1] > 0 else "int64")
    return dtype if is_number(dtype) else None


def numbers_of(series: Any) -> Any:
    """Return a column of numbers with :func:`number_dtype`. Each decimal becomes the nearest float.

    Raises
    ------
    Inexact
        An integer does not fit in 64 bits.
    """
    series = values_of(series)
    dtype = number_dtype(series.dtype)
    if dtype is None or kind(series.dtype) != "decimal":
        return series
    if not isinstance(series, pd.Series):
        return series.astype(dtype)
    values = _column(series)
    if dtype.kind == "f":
        values = values.cast(pa.string())  # the nearest float, unlike a direct conversion
    try:
        values = values.cast(pa.from_numpy_dtype(dtype))
    except pa.ArrowInvalid as error:
        raise Inexact(_first_unfit(series.dropna(), pd.ArrowDtype(pa.int64()))) from error
    made = pd.Series(pd.arrays.ArrowExtensionArray(values), index=series.index, name=series.name)
    return made if values.null_count else made.astype(dtype)


def vertex_dtype(series: Any, role: str, library: str = "pandas") -> Any:
    """Return the dtype of a column's ids, or raise if its values cannot be ids.

    For a categorical, sparse or dictionary column, this is the dtype of its values. The message contains
    `role`, the name of the argument, and suits the `library`; see :func:`.advice.library_of`.
    """
    dtype = values_dtype(series.dtype)
    dtype_kind = kind(dtype)
    if dtype_kind in ID_KINDS:
        return dtype
    subject = f"{role}={series.name!r}" if role in FRAMES else role
    if dtype_kind == "float" and role in FRAMES:
        call = convert(role, library, [series.name], "integers")
        advice = f"If they are whole numbers, make them integers, for example with {call}"
        if library == "dask":
            advice += (
                f"; or read a text file with dtype={{{series.name!r}: 'str'}}, or --text-ids on the "
                "command line"
            )
    elif dtype_kind == "float":
        advice = "Write whole numbers as integers, such as 1 instead of 1.0"
    else:
        advice = f"To use them as ids, {to_text(series, role, library)}"
    raise VertexTypeError(f"{subject} has dtype {dtype}; {ALLOWED}. {advice}")


def to_text(series: Any, role: str, library: str = "pandas") -> str:
    """Return advice, as the end of a message, on how to convert ids to text."""
    if role not in FRAMES:
        return f"make them text, for example with {texts(role)}"
    arrow = getattr(series.dtype, "pyarrow_dtype", None)
    lists = arrow is not None and "list" in str(arrow)
    call = convert(role, library, [series.name], "text", lists=lists)
    return f"make them text, for example with {call}"


def common_dtype(left: Any, right: Any, left_name: str, right_name: str, advice: str = "") -> Any:
    """Return the dtype that holds the ids of two columns, or raise if they differ in kind.

    This is the wider of two integer types, the finer of two units of time, and a decimal with the digits of
    both for decimals and integers. `advice` is the end of the message if the kinds differ.
    """
    if left == right:
        return left
    both = f"{left_name} has dtype {left} and {right_name} has dtype {right}"
    of_left, of_right = kinds = kind(left), kind(right)
    if "null" in kinds:  # no id at all
        return right if of_left == "null" else left
    if set(kinds) == {"datetime", "datetime with a time zone"}:
        raise VertexTypeError(
            f"{both}: one has a time zone and the other has none. Give both a time zone, for example "
            "with .dt.tz_localize('UTC')"
        )
    if "decimal" in kinds and (common := _common_decimal(left, right)) is not None:
        return common
    advice = advice or f"Give {right_name} ids of the edges' type, {left}"
    if of_left != of_right or of_left == "period":
        raise VertexTypeError(f"{both}; ids of one graph are of one type. {advice}")
    if of_left == "integer":
        wide = np.promote_types(plain(left), plain(right))
        if wide.kind == "f":
            raise VertexTypeError(f"{both}; no integer type holds the values of both. {advice}")
        return wide
    if of_left in ("datetime", "datetime with a time zone", "timedelta"):
        return in_finer_unit(left, right)
    if of_left == "time":
        return max(left, right, key=lambda dtype: UNITS.index(unit(dtype)))
    return pd.ArrowDtype(pa.large_binary()) if of_left == "binary" else left


def _common_decimal(left: Any, right: Any) -> Any:
    """Return the decimal dtype that holds the values of both; None if there is none."""
    if not {kind(left), kind(right)} <= {"decimal", "integer"}:
        return None
    whole, scale = (max(pair) for pair in zip(_digits(left), _digits(right), strict=True))
    if whole + scale > MOST_DIGITS:
        return None
    return pd.ArrowDtype(
        (pa.decimal128 if whole + scale <= 38 else pa.decimal256)(whole + scale, scale)
    )


def _digits(dtype: Any) -> tuple[int, int]:
    """Return the number of digits before and after the point of a dtype of decimals or integers."""
    if kind(dtype) == "integer":
        return max(len(str(abs(end))) for end in limits(dtype)), 0
    own = getattr(dtype, "pyarrow_dtype", dtype)  # cuDF's decimals have the same attributes
    return own.precision - own.scale, own.scale


def in_finer_unit(dtype: Any, other: Any) -> Any:
    """Return a dtype of datetimes or timedeltas with the finer one of its unit and that of another."""
    return _in_unit(dtype, max(unit(dtype), unit(other), key=UNITS.index))


def unit(dtype: Any) -> str:
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


def empty(dtype: Any, kind: type = pd.Series) -> Any:
    """Return an empty series with a dtype."""
    # The constructor of pandas 2.0 ignores the unit of a dtype with a time zone.
    return kind([], dtype=dtype).astype(dtype)


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
        return empty(dtype, type(series)).rename(series.name)
    have, want = kind(series.dtype), kind(dtype)
    if {have, want} == {"decimal", "integer"} and isinstance(series, pd.Series):
        return _as_decimals(series, dtype) if want == "decimal" else _as_integers(series, dtype)
    if have != want and not {have, want} <= NUMBERS:
        raise Inexact
    if have == "string":
        if series.dtype == object and isinstance(series, pd.Series) and not _is_text(series):
            raise Inexact
        return series.astype(dtype)
    if "integer" in (have, want) and "bool" not in (have, want):
        _check_range(series, have, dtype)
    return _round_trip(series, dtype)


def _as_decimals(series: pd.Series, dtype: Any) -> pd.Series:
    """Return integers as decimals."""
    wide = series.astype(plain(series.dtype)).astype(pd.ArrowDtype(pa.decimal128(20, 0)))
    made: pd.Series = _round_trip(wide, dtype)
    return made


def _as_integers(series: pd.Series, dtype: Any) -> pd.Series:
    """Return whole decimals as integers."""
    arrow = pd.ArrowDtype(pa.from_numpy_dtype(plain(dtype)))
    try:
        return series.astype(arrow).astype(dtype)
    except pa.ArrowInvalid as error:
        raise Inexact(_first_unfit(series, arrow)) from error


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


def check_objects(series: pd.Series, role: str, library: str = "pandas") -> None:
    """Raise if a pandas column of Python objects holds anything but strings.

    Dask would convert such objects to text.
    """
    values = series
    if isinstance(series.dtype, pd.CategoricalDtype):
        values = pd.Series(series.dtype.categories)
    if values.dtype == object and not _is_text(values):
        inferred = pdtypes.infer_dtype(values, skipna=True)
        advice = to_text(series, role, library)
        if values is series and series.infer_objects().dtype != object:
            advice = "convert the column with infer_objects()"
        subject = f"{role} column {series.name!r}" if role in FRAMES else role
        raise VertexTypeError(
            f"{subject} holds Python objects ({inferred}); {ALLOWED}, which can be "
            f"hashed and sorted. To use them as ids, {advice}; or give an id of several parts as several "
            "columns"
        )
