"""Vertices that take values one after another, in an order, on the host."""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.csr import Rows, most_values


@_compiled
def _first_free(offsets, ends, order, values, taken):  # type: ignore[no-untyped-def]
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


def first_free(rows: Rows, order: np.ndarray) -> np.ndarray:
    """Give each vertex the smallest number that no neighbor before it has.

    One thread does it. A vertex has to wait for its neighbors, and a pass over the edges in the order takes
    less time than finding the vertices that wait for no other vertex.

    Parameters
    ----------
    rows : Rows
        Rows of all vertices, with each edge in the rows of both of its ends.
    order : ndarray of integers, shape (V,)
        All vertices; each comes after those with more edges.

    Returns
    -------
    ndarray of int32, shape (V,)
    """
    values = np.full(len(order), -1, np.int32)
    taken = np.full(most_values(rows) + 1, -1, order.dtype)
    _first_free(rows.offsets, rows.ends, order, values, taken)
    return values
