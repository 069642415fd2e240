"""Bitmaps of vertices on the device, in words of 64 bits; :mod:`.host_advance` has the host versions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import namespace as cupy
from .launching import launch
from .sources import instance


def new_words(size: int) -> Any:
    """Return an empty bitmap of `size` bits."""
    return cupy.zeros(-(-size // 64), "uint64")


def to_words(vertices: Any, size: int) -> Any:
    """Return a list of vertices, int32 or int64, as a bitmap of `size` bits."""
    words = new_words(size)
    add_words(words, vertices)
    return words


def add_words(words: Any, vertices: Any) -> None:
    """Set the bits of a list of vertices."""
    if len(vertices):
        vertices = cupy.ascontiguousarray(vertices)
        launch(
            instance("set_words", vertices.dtype),
            len(vertices),
            vertices,
            np.uint64(len(vertices)),
            words,
        )


def from_words(words: Any, dtype: Any) -> Any:
    """Return the vertices of a bitmap in ascending order."""
    ends = running(ones(words))
    vertices = cupy.empty(int(ends[-1]) if len(words) else 0, dtype)
    if len(vertices):
        launch(
            instance("write_words", vertices.dtype),
            32 * len(words),
            words,
            np.uint64(len(words)),
            ends,
            vertices,
        )
    return vertices


def count_words(words: Any) -> int:
    """Return how many bits of a bitmap are set."""
    return int(ones(words).sum())


def sum_words(words: Any, values: Any) -> int:
    """Return the sum of the values of a bitmap's vertices."""
    return int(values[from_words(words, "int64")].sum(dtype="int64"))


def ones(words: Any) -> Any:
    """Return how many bits of each word are set, as int64."""
    counts = cupy.empty(len(words), "int64")
    if len(words):
        launch("count_ones", len(words), words, np.uint64(len(words)), counts)
    return counts


def running(counts: Any) -> Any:
    """Return the running sum of counts. An empty array is returned as is: CuPy would launch no threads."""
    return cupy.cumsum(counts) if len(counts) else counts
