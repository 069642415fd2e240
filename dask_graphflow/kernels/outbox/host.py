"""Functions that fill boxes on the host; see :mod:`~dask_graphflow.comm.outbox` for their contents."""

from __future__ import annotations

from typing import Any

import numpy as np


def room(size: int) -> Any:
    """Return `size` uninitialized bytes."""
    return np.empty(size, np.uint8)


def take(column: Any, at: Any, out: Any) -> None:
    """Write the entries of a column at the indices `at` to `out`."""
    np.take(column, at, out=out, mode="clip")  # the default mode copies the entries twice


def to_marks(at: Any, size: int) -> Any:
    """Return indices below `size` as a bitmap of bytes, with the lowest bit of each byte first."""
    marks = np.zeros(size, bool)
    marks[at] = True
    return np.packbits(marks, bitorder="little")


def from_marks(marks: Any, size: int) -> Any:
    """Return the indices of a bitmap in ascending order."""
    return np.flatnonzero(np.unpackbits(marks, count=size, bitorder="little").view(bool))
