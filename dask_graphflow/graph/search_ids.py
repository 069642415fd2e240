"""Binary search for a few ids among sorted ids, in the arrays that store them.

A search reads a few of the sorted ids, while a join hashes all of them. Texts are compared by the bytes of
their UTF-8, which have the order of the texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import types

from dask_graphflow.kernels import lookup, values_of

from . import dtypes
from .frames import is_pandas

FEW = 1 << 10  # ids that are searched for among any number of others
SHARE = 16  # more ids are searched for if there are at least this many times as many others


def search_ids(among: Any, ids: Any) -> np.ndarray | None:
    """Return the row of each id in a frame of sorted ids, as int64; -1 for ids that are not there.

    None if a join is needed; see :func:`places_of`.
    """
    if (found := places_of(among, ids)) is None:
        return None
    first, stop = found
    return np.where(first < stop, first, -1)


def places_of(among: Any, ids: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return where the rows with each id begin and end in a frame of sorted ids, as int64.

    They begin where they end for an id that is not there: that is its place in the order. None if a join
    is needed: for many ids, on a device, for ids of another type, or for types without arrays of integers
    or bytes in their order, such as decimals.
    """
    if len(ids) > max(FEW, len(among) // SHARE) or not is_pandas(type(among)):
        return None
    columns, values = _comparable(among, ids)
    if not columns:
        return None
    first, stop = np.zeros(len(ids), np.int64), np.full(len(ids), len(among), np.int64)
    for own, given in zip(columns, values, strict=True):
        lookup.of(first).narrow(own, given, first, stop)
    return first, stop


def merge_ids(among: Any, ids: Any) -> tuple[slice, Any] | None:
    """Find ascending ids in a range of sorted ids; return which of them are in the range, and their rows.

    The rows are an array of int64, or a slice if the ids are those of the range. If the ids do not ascend,
    some of them may be missing from the result. None if one of the ids is between two ids of the range, or
    for types that :func:`search_ids` cannot search.
    """
    if not (is_pandas(type(among)) and len(among)):
        return None
    columns, values = _comparable(among, ids)
    if not columns:
        return None
    if len(ids) == len(among) and all(map(_are_same, columns, values)):
        return slice(0, len(ids)), slice(0, len(ids))
    # Where the range begins and ends among the ids.
    first, stop = np.zeros(2, np.int64), np.full(2, len(ids), np.int64)
    for name, given in zip(among, values, strict=True):
        lookup.of(first).narrow(given, arrays_of(among[name].iloc[[0, -1]]), first, stop)
    inside = slice(int(first[0]), max(int(first[0]), int(stop[1])))
    count = inside.stop - inside.start
    first, stop = np.zeros(count, np.int64), np.full(count, len(among), np.int64)
    for at, (own, name) in enumerate(zip(columns, ids, strict=True), 1):
        given, last = arrays_of(ids[name].iloc[inside]), at == len(columns)
        if not lookup.of(first).merge(own, given, first, stop, unique=last):
            return None
    return inside, first


def _comparable(among: Any, ids: Any) -> tuple[list[Any], list[Any]]:
    """Return the arrays of the columns of two frames; no arrays if their order is not that of the ids."""
    columns = [arrays_of(among[name]) for name in among.columns]
    values = [arrays_of(ids[name]) for name in ids.columns]
    # All types of text have the same bytes, but integers can count milliseconds or microseconds.
    alike = (
        len(own) == len(given) and (len(own) > 1 or kind == other)
        for own, given, kind, other in zip(columns, values, among.dtypes, ids.dtypes, strict=True)
    )
    return (columns, values) if all(columns) and all(alike) else ([], [])


def _are_same(column: tuple[np.ndarray, ...], values: tuple[np.ndarray, ...]) -> bool:
    return all(map(np.array_equal, column, values))


def arrays_of(column: pd.Series) -> tuple[np.ndarray, ...]:
    """Return the integers of a column, or the offsets and the bytes of its strings, in its memory.

    The integers or strings are in the order of the column's values. The result is () if there are none.
    """
    if hasattr(column.array, "asi8"):  # dates and times of pandas
        return (column.array.asi8,)
    if not isinstance(column.dtype, pd.ArrowDtype) and dtypes.is_integer(column.dtype):
        values = values_of(column)
        return (values,) if values.dtype.kind in "iu" else ()
    if isinstance(column.dtype, np.dtype) or not hasattr(column.array, "__arrow_array__"):
        return ()
    stored = pa.array(column.array)
    if isinstance(stored, pa.ChunkedArray) or stored.null_count:
        return ()
    return _of_arrow(stored.storage if dtypes.is_uuid(stored.type) else stored)


def _of_arrow(stored: pa.Array) -> tuple[np.ndarray, ...]:
    kind, count = stored.type, len(stored)
    if types.is_integer(kind):
        return (stored.to_numpy(),)
    if types.is_temporal(kind):
        return (stored.view(pa.int32() if kind.bit_width == 32 else pa.int64()).to_numpy(),)
    if types.is_fixed_size_binary(kind):
        offsets = np.arange(stored.offset, stored.offset + count + 1) * kind.byte_width
    elif types.is_string(kind) or types.is_binary(kind):
        offsets = _read(stored.buffers()[1], np.int32)[stored.offset :][: count + 1]
    elif types.is_large_string(kind) or types.is_large_binary(kind):
        offsets = _read(stored.buffers()[1], np.int64)[stored.offset :][: count + 1]
    else:
        return ()
    return offsets, _read(stored.buffers()[-1], np.uint8)


def _read(buffer: pa.Buffer | None, dtype: type) -> np.ndarray:
    """Return the items of a buffer; Arrow has none for an array without values."""
    return np.frombuffer(buffer, dtype) if buffer else np.empty(0, dtype)
