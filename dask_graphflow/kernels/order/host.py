"""Vertices that take values one after another, in an order, on the host."""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.csr import most_values


@_compiled
def _first_free(offsets, ends, order, values, taken):
    one = np.uint64(1)
    for i in range(order.size):
        vertex = order[i]
        row = np.uint64(vertex)
        k, end = np.uint64(offsets[row]), np.uint64(offsets[row + one])
        while k < end:
            # A neighbor without a value has -1, and marks the entry before that of the value 0.
            taken[np.int64(values[np.uint64(ends[k])]) + 1] = vertex
            k += one
        value = 1
        while taken[value] == vertex:
            value += 1
        values[row] = value - 1


def first_free(rows, order):
    values = np.full(len(order), -1, np.int32)
    taken = np.full(most_values(rows) + 1, -1, order.dtype)
    _first_free(rows.offsets, rows.ends, order, values, taken)
    return values
