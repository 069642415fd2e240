"""Peeling on the host: remove vertices with few edges left, which takes an edge from each neighbor.

After a thread removes a vertex, it immediately removes the neighbors that have too few edges left. A chain
of vertices therefore needs no extra supersteps [1]_. The set of removed vertices does not depend on the
order.

.. [1] Y. Liu, X. Dong, Y. Gu, Y. Sun, "Parallel k-Core Decomposition: Theory and Practice", SIGMOD 2025.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.advance.host import BATCH, EDGES, gather_degrees
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.host_atomics import fetch_add, scratch
from dask_graphflow.kernels.host_threads import MINI_CHUNK, frontier_turns, put, run, take


@_compiled
def _peel(rows, counts, limit, frontier, alone, room, tail, ranges, part):
    (offsets, ends), waiting_for, removed = rows, room[0], room[1]
    one = np.uint64(1)
    batch = scratch(BATCH, removed.dtype)
    waiting = 0
    size = min(MINI_CHUNK, 1 + frontier.size // MINI_CHUNK)
    start, stop = take(ranges, part, size)
    while start < stop:
        for i in range(start, stop):
            # Vertices to remove form a linked list: `waiting_for` stores the one to remove after each.
            vertex, following = np.int64(frontier[i]), np.int64(-1)
            while vertex >= 0:
                row = np.uint64(vertex)
                k, end = np.uint64(offsets[row]), np.uint64(offsets[row + one])
                while k < end:
                    near = np.uint64(ends[k])
                    if alone:
                        before = counts[near]
                        counts[near] = before - 1
                    else:
                        before = fetch_add(counts, np.intp(near), np.int64(-1))
                    if before == limit + 1:
                        waiting_for[near] = following
                        following = np.int64(near)
                        batch[waiting] = near
                        waiting += 1
                        if waiting == BATCH:
                            place = fetch_add(tail, np.intp(0), np.int64(BATCH))
                            put(removed, place, batch, BATCH)
                            waiting = 0
                    k += one
                vertex = following
                if vertex >= 0:
                    following = np.int64(waiting_for[np.uint64(vertex)])
        start, stop = take(ranges, part, size)
    if waiting:
        place = fetch_add(tail, np.intp(0), np.int64(waiting))
        put(removed, place, batch, waiting)


def peel(rows, counts, limit, frontier, room, *, threads=1, memory=None):
    costs = gather_degrees(rows.offsets, frontier)
    threads = min(threads, 1 + int(costs[-1]) // EDGES)
    ranges, tail = frontier_turns(costs, threads), np.zeros(1, np.int64)
    run(_peel, ranges, rows[:2], counts, limit, frontier, threads == 1, room, tail)
    return room[1, : tail[0]]
