"""Predecessors of the vertices of a level, in 64 searches at once, on the host."""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.host_atomics import trailing_zeros
from dask_graphflow.kernels.host_threads import MINI_CHUNK, even_turns, run, take


@_compiled
def _set(offsets, ends, seen, vertices, bits, at, depth, level, predecessor, ranges, part):  # type: ignore[no-untyped-def]
    one = np.uint64(1)
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for i in range(start, stop):
            row, left, place = np.uint64(vertices[i]), bits[i], at[i]
            k, end = np.uint64(offsets[row]), np.uint64(offsets[row + one])
            while left and k < end:
                near = ends[k]
                hits = seen[np.uint64(near)] & left
                left ^= hits
                while hits:
                    search = trailing_zeros(hits)
                    level[search, place] = depth
                    predecessor[search, place] = near
                    hits &= hits - one
                k += one
        start, stop = take(ranges, part, MINI_CHUNK)


def set_predecessors(
    rows: Rows,
    seen: np.ndarray,
    vertices: np.ndarray,
    bits: np.ndarray,
    at: np.ndarray,
    depth: int,
    level: np.ndarray,
    predecessor: np.ndarray,
    *,
    threads: int = 1,
) -> None:
    """Set the level of vertices in some searches, and the first neighbor that these searches had seen.

    Parameters
    ----------
    rows : Rows
        Rows of incoming edges, from vertex 0 on.
    seen : ndarray of uint64
        The searches that reached each vertex before this level, one bit per search.
    vertices : ndarray of integers, shape (k,)
        The vertices of the level.
    bits : ndarray of uint64, shape (k,)
        The searches that reach each of them in this level. One of its neighbors has seen each search.
    at : ndarray of int64, shape (k,)
        The columns of the vertices in `level` and `predecessor`.
    depth : int
        The level.
    level : ndarray of int32, shape (searches, columns)
        Changed in place.
    predecessor : ndarray of the ends' dtype, shape (searches, columns)
        Changed in place.
    """
    ranges = even_turns(len(vertices), threads)
    run(_set, ranges, *rows[:2], seen, vertices, bits, at, depth, level, predecessor)
