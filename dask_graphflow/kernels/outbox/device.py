"""Functions that fill boxes on a device."""

from __future__ import annotations

from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.device_bitmap import from_words, new_words, to_words


def room(size):
    return cupy.empty(size, "uint8")


def take(column, at, out):
    column.take(at, out=out)


def to_marks(at, size):
    return to_words(at, size).view("uint8")[: -(-size // 8)]


def from_marks(marks, size):
    words = new_words(size)
    words.view("uint8")[: len(marks)] = marks
    return from_words(words, index_dtype(size))
