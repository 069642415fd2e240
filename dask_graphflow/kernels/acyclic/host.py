"""Generations by a queue: the vertices of a generation follow those of the one before."""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.csr import Rows


@_compiled
def _remove(offsets, ends, entering, generation, queue, filled, sizes, edges):
    one, done, step, filled = np.uint64(1), np.uint64(0), np.uint64(0), np.uint64(filled)
    while done < filled:
        stop, leaving = filled, np.uint64(0)
        for i in range(done, stop):
            vertex = np.uint64(queue[i])
            generation[vertex] = step
            first, last = np.uint64(offsets[vertex]), np.uint64(offsets[vertex + one])
            leaving += last - first
            for k in range(first, last):
                end = np.uint64(ends[k])
                left = entering[end] - 1
                entering[end] = left
                if left == 0:
                    queue[filled] = end
                    filled += one
        sizes[step], edges[step] = stop - done, leaving
        done, step = stop, step + one
    return step


def remove_generations(
    rows: Rows, ready: np.ndarray, entering: np.ndarray, generation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    # A vertex may be written after the last one.
    queue = np.empty(len(generation) + 1, rows.ends.dtype)
    queue[: len(ready)] = ready
    sizes, edges = np.empty((2, len(generation)), np.int64)
    state = entering, generation, queue, len(ready)
    count = _remove(rows.offsets, rows.ends, *state, sizes, edges)
    return sizes[:count], edges[:count]
