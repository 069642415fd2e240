"""Functions that fill boxes on a device; :mod:`.outbox.host` has the host versions, with the same bytes."""

from __future__ import annotations

from typing import Any

from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.device_bitmap import from_words, new_words, to_words

# Maximum entries that are packed on the host. Copying these there takes as long as a launch.
HOST_ENTRIES = 1 << 12


def room(size: int) -> Any:
    """Return an uninitialized array of `size` bytes."""
    return cupy.empty(size, "uint8")


def take(column: Any, at: Any, out: Any) -> None:
    """Copy the entries of a column at the indices `at` to `out`."""
    column.take(at, out=out)


def to_marks(at: Any, size: int) -> Any:
    """Return indices below `size` as a bitmap."""
    return to_words(at, size).view("uint8")[: -(-size // 8)]


def from_marks(marks: Any, size: int) -> Any:
    """Return the indices of a bitmap in ascending order."""
    words = new_words(size)
    words.view("uint8")[: len(marks)] = marks
    return from_words(words, index_dtype(size))
