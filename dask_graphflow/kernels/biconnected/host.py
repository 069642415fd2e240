"""Blocks of a spanning tree on the host: edges outside of the tree join the tree edges of their cycles.

The tree edges of a block are joined in a forest as in :mod:`.common.host`. Several threads join at the
same time.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.common.host import find, unite
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.host_threads import MINI_CHUNK, even_turns, run, take


@inner
def _join_cycle(above, block, u, v):
    none = above.dtype.type(-1)
    of_u, of_v = none, none
    while u != v:
        # The vertex with the larger label is not above the other one, so the edge above it is on the cycle.
        if u > v:
            edge = find(block, u)
            if of_u != none and of_u != edge:
                unite(block, of_u, edge)
            of_u, u = edge, above[edge]
        else:
            edge = find(block, v)
            if of_v != none and of_v != edge:
                unite(block, of_v, edge)
            of_v, v = edge, above[edge]
    if of_u != none and of_v != none and of_u != of_v:
        unite(block, of_u, of_v)


@_compiled
def _join_cycles(offsets, ends, first, label, above, block, ranges, part):
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for i in range(start, stop):
            own = label[first + i]
            for k in range(np.uint64(offsets[i]), np.uint64(offsets[i + 1])):
                other = label[np.uint64(ends[k])]
                # Each edge is also in the row of its other end. Most have both ends in the same block.
                if own < other and block[own] != block[other]:
                    _join_cycle(above, block, other, own)
        start, stop = take(ranges, part, MINI_CHUNK)


def join_cycles(rows, label, above, block, *, threads=1):
    count = len(rows.offsets) - 1
    ranges = even_turns(count, threads, rows.offsets)
    run(_join_cycles, ranges, *rows[:2], rows.first, label, above, block)
