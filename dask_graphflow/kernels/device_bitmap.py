"""Sets of vertices on the device, as lists and as bitmaps in words of 64 bits.

:mod:`.advance.host` has the host versions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .common.device import namespace as cupy
from .launching import launch, read
from .sources import instance

# As in cull.cuh:
TAIL, EDGES, TILES, APPENDS, SMALL, MEDIUM, LARGE, OWNED, LEAVING, COUNTS = range(10)

_DEGREES = np.dtype([("of", "u8"), ("owned", "u8")])


def new_words(size: int) -> Any:
    """Return an empty bitmap of `size` bits, in 64-bit words."""
    return cupy.zeros(-(-size // 64), "uint64")


def to_words(vertices: Any, size: int) -> Any:
    words = new_words(size)
    add_words(words, vertices)
    return words


def listed(marks: Any, dtype: Any) -> Any:
    vertices, tail = cupy.empty(len(marks), dtype), cupy.zeros(1, "uint64")
    launch(instance("list_marked", dtype), len(marks), marks, len(marks), vertices, tail)
    return vertices[: int(read(tail)[0])]


def add_words(words: Any, vertices: Any) -> None:
    """Set the bits of a list of vertices."""
    if len(vertices):
        vertices = cupy.ascontiguousarray(vertices)
        launch(instance("set_words", vertices.dtype), len(vertices), vertices, len(vertices), words)


def from_words(words: Any, dtype: Any, count: int | None = None) -> Any:
    ends = running(ones(words))
    if count is None:
        count = int(read(ends[-1:])[0]) if len(words) else 0
    vertices = cupy.empty(count, dtype)
    if count:
        kernel = instance("write_words", vertices.dtype)
        launch(kernel, 32 * len(words), words, len(words), ends, vertices)
    return vertices


def tally(words: Any, degrees: Any = None) -> tuple[int, int]:
    report = cupy.zeros(COUNTS, "uint64")
    tally_into(words, degrees, report)
    counts = read(report).tolist()
    return counts[TAIL], counts[LEAVING]


def tally_into(words: Any, degrees: Any, report: Any) -> None:
    """Add the number of vertices in a bitmap, and the sum of their degrees, to a report."""
    if len(words):
        size = len(words)
        launch("tally", 32 * len(words), words, size, of_owned(degrees), report)


def sum_degrees(vertices: Any, degrees: Any) -> int:
    if not len(vertices):
        return 0
    report, vertices = cupy.zeros(COUNTS, "uint64"), cupy.ascontiguousarray(vertices)
    kernel, size = instance("sum_degrees", vertices.dtype), len(vertices)
    launch(kernel, size, vertices, size, of_owned(degrees), report)
    return int(read(report)[LEAVING])


def of_owned(degrees: Any) -> np.ndarray:
    """Return the struct of the degrees of owned vertices; None if nobody asks for their sum."""
    owned = (0, 0) if degrees is None else (degrees.data.ptr, len(degrees))
    return np.array(owned, _DEGREES)


def ones(words: Any) -> Any:
    """Return how many bits of each word are set, as int64."""
    counts = cupy.empty(len(words), "int64")
    if len(words):
        launch("count_ones", len(words), words, len(words), counts)
    return counts


def running(counts: Any) -> Any:
    """Return the running sum of counts. An empty array is returned as is: CuPy would launch no threads."""
    return cupy.cumsum(counts) if len(counts) else counts
