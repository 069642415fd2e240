"""Frames of either backend: the few operations in which pandas and cuDF differ or copy needlessly."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import union_categoricals

from dask_graphflow.kernels import disk, kernels_for, values_of
from dask_graphflow.kernels.common import CommonKernels


def is_pandas(kind: type) -> bool:
    """Say whether a type of frames or series belongs to pandas."""
    return kind.__module__.partition(".")[0] == "pandas"


def to_pandas(frame: Any) -> Any:
    """Return a frame or series as one of pandas."""
    return kernels_for(frame).to_pandas(frame)


def kind(kernels: CommonKernels) -> type:
    """Return the frame type for the memory in which these kernels work."""
    library = "pandas" if kernels.namespace.__name__ == "numpy" else "cudf"
    return importlib.import_module(library).DataFrame  # type: ignore[no-any-return]


def values(column: Any) -> Any:
    """Return a column as an array. For pandas, it is not a copy and may not be :func:`.aligned`."""
    return values_of(column) if is_pandas(type(column)) else kernels_for(column).asarray(column)


def stored(column: Any, folder: str) -> Any:
    """Return a series of pandas with its values in a file; only numbers, dates and text of Arrow move."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        if dtype.kind not in "biufmM":
            return column
        return type(column)(disk.stored(column.to_numpy(), folder), copy=False)
    if not hasattr(dtype, "__from_arrow__"):
        return column
    array = pa.array(column.array)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    buffers = [
        None if one is None else pa.py_buffer(disk.stored(np.frombuffer(one, np.uint8), folder))
        for one in array.buffers()
    ]
    moved = pa.Array.from_buffers(array.type, len(array), buffers, offset=array.offset)
    return type(column)(dtype.__from_arrow__(moved), copy=False)


def build(kind: type, columns: dict[str, Any]) -> Any:
    """Return a frame of columns without copying them. No other code may change the columns."""
    if not is_pandas(kind):
        # cuDF looks for NaN in each column of floats by default, which takes a millisecond or two.
        return kind(columns, nan_as_null=False)
    names = tuple(columns)
    if not all(type(name) is str for name in names):
        return kind(columns, copy=False)
    # pandas takes longer to make the names than the rest of a small frame.
    made = kind(dict(enumerate(columns.values())), copy=False)
    made.columns = _names(names).view()
    return made


@lru_cache(maxsize=256)
def _names(names: tuple[str, ...]) -> Any:
    return pd.Index(names)


def empty_like(frame: Any) -> Any:
    """Return an empty frame or series that, unlike a slice, keeps no data of `frame` in memory."""
    return frame.iloc[[]] if is_pandas(type(frame)) else frame.iloc[:0].copy()


def are_integers(types: Sequence[Any]) -> bool:
    """Say whether all dtypes are integers of NumPy."""
    return all(isinstance(dtype, np.dtype) and dtype.kind in "iu" for dtype in types)


def no_integers(kind: Any, names: tuple[str, ...], types: tuple[Any, ...]) -> Any:
    """Return an empty frame of integer columns. It may be the same each time, so no code may change it."""
    # To pickle a frame of cuDF changes its buffers, which two threads must not do at once.
    make = _no_integers if is_pandas(kind) else _no_integers.__wrapped__
    return make(kind, names, types)


@lru_cache(maxsize=64)  # because a frame takes 0.1 ms to make
def _no_integers(kind: Any, names: tuple[str, ...], types: tuple[Any, ...]) -> Any:
    columns = zip(names, types, strict=True)
    return kind({name: np.empty(0, dtype) for name, dtype in columns})


def one_column(values: Any, like: Any) -> Any:
    """Return a frame with one column of values, with the name and the dtype of the column in `like`."""
    if not len(values):  # the dtype may be of any kind, and not all can be cast from integers
        return empty_like(like)
    return type(like)({like.columns[0]: values}).astype(like.dtypes.iloc[0])


def column(values: Any, like: Any) -> Any:
    """Return an array as a column with the dtype of `like`: an array, or a series if no array has it.

    No other code may change the values.
    """
    if are_integers([like.dtype]):
        return values.astype(like.dtype, copy=False)  # a series takes cuDF longer
    made = type(like)(values, **({"copy": False} if is_pandas(type(like)) else {}))
    return made if made.dtype == like.dtype else made.astype(like.dtype)


def take(column: Any, rows: Any) -> Any:
    """Return some rows of a column as a series with a new index from 0."""
    if not is_pandas(type(column)):
        return column.iloc[rows].reset_index(drop=True)
    return type(column)(column.array.take(rows), copy=False)  # iloc would take twice as long


def with_nulls(ids: Any, null: Any) -> Any:
    """Return ids as a series that is null where `null` is true.

    No other code may change the values of an array.
    """
    if isinstance(ids, np.ndarray):
        return pd.Series(pd.arrays.IntegerArray(ids, null.copy()))
    if not isinstance(ids, pd.Series):  # all cuDF columns can have nulls
        return ids.mask(type(ids)(null)) if hasattr(ids, "mask") else _cudf(ids, null)
    if isinstance(ids.dtype, np.dtype) and ids.dtype.kind in "iub":
        kind = pd.arrays.BooleanArray if ids.dtype.kind == "b" else pd.arrays.IntegerArray
        return pd.Series(kind(ids.to_numpy(copy=True), null.copy()))
    return ids.mask(null)


def _cudf(values: Any, null: Any) -> Any:
    """Return an array on a device as a series that is null where `null` is true."""
    # Without pylibcudf, this would be two series, and a function that chooses between values.
    cudf, below = (importlib.import_module(name) for name in ("cudf", "pylibcudf"))
    mask, nulls = below.transform.bools_to_mask(below.Column.from_cuda_array_interface(~null))
    made = below.Column.from_cuda_array_interface(values).with_mask(mask, nulls)
    return cudf.Series.from_pylibcudf(made)


def stack(frames: Sequence[Any]) -> Any:
    """Return the rows of several frames one after another, with a new index from 0."""
    if len(frames) == 1:
        return frames[0].reset_index(drop=True)
    library = importlib.import_module(type(frames[0]).__module__.partition(".")[0])
    stacked = library.concat(list(frames), ignore_index=True)
    for name, dtype in frames[0].dtypes.items():
        if isinstance(dtype, pd.CategoricalDtype):  # pandas forgets categories that differ
            stacked[name] = union_categoricals([frame[name] for frame in frames])
    return stacked
