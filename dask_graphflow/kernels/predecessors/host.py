"""Predecessors of the vertices of a level, in 64 searches at once, on the host."""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.host_atomics import trailing_zeros
from dask_graphflow.kernels.host_threads import MINI_CHUNK, even_turns, run, take


@_compiled
def _set(offsets, ends, seen, vertices, bits, at, depth, level, predecessor, ranges, part):
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


def set_predecessors(rows, seen, vertices, bits, at, depth, level, predecessor, *, threads=1):
    ranges = even_turns(len(vertices), threads)
    run(_set, ranges, *rows[:2], seen, vertices, bits, at, depth, level, predecessor)
