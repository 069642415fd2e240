"""Functions that fill boxes on the host; see :mod:`~dask_graphflow.comm.outbox` for their contents."""

from __future__ import annotations

import numpy as np


def room(size):
    return np.empty(size, np.uint8)


def take(column, at, out):
    np.take(column, at, out=out, mode="clip")  # the default mode copies the entries twice


def to_marks(at, size):
    marks = np.zeros(size, bool)
    marks[at] = True
    return np.packbits(marks, bitorder="little")


def from_marks(marks, size):
    return np.flatnonzero(np.unpackbits(marks, count=size, bitorder="little").view(bool))
