"""What boxes are filled by; :mod:`~dask_graphflow.comm.outbox` says what is in one."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["from_marks", "room", "take", "to_marks"]


def room(size: int) -> Any:
    """Return so many bytes, with what happens to be in them."""
    return np.empty(size, np.uint8)


def take(column: Any, at: Any, out: Any) -> None:
    """Put the entries of a column at some indices into `out`."""
    np.take(column, at, out=out, mode="clip")  # the default mode has it copied twice


def to_marks(at: Any, size: int) -> Any:
    """Return indices below `size` as a bitmap: bytes, the lowest bit of each first."""
    marks = np.zeros(size, bool)
    marks[at] = True
    return np.packbits(marks, bitorder="little")


def from_marks(marks: Any, size: int) -> Any:
    """Return the indices of a bitmap, ascending."""
    return np.flatnonzero(np.unpackbits(marks, count=size, bitorder="little").view(bool))
