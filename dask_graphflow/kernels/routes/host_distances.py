"""Distances from one vertex on the host, and the paths back from targets.

A thread has arrays with one entry per vertex, and resets only the entries that a search has changed. A
length is the sum of the weights in the order of the path, so it has the same bits as in any other search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.host_atomics import weight_at
from dask_graphflow.kernels.host_heap import empty_heap, offer, take_first

WANTED, PLACED, NEXT = 1, 2, 3  # marks of vertices


@_inner
def relax(near, v, u, far, source, forth, ahead):
    """Note what an edge says about the distance of its end; return whether it is at the same distance.

    `ahead` gets the smallest vertex from which a shortest path can come among those that are nearer, and -1
    if there is none.
    """
    if far < forth[u]:
        forth[u], ahead[u] = far, v
        if far == near:
            ahead[u] = -1
    elif (
        far == forth[u] and far > near and u != source and (ahead[u] < 0 or v < np.uint64(ahead[u]))
    ):
        ahead[u] = v
    return far == near and far == forth[u]


@_inner
def _search_all(rows, source, wanted, forth, ahead, mark, seen, heap):
    """Search until the distances of all wanted vertices are final.

    Returns the number of vertices that were seen, and whether an edge leads to a vertex at the same
    distance. The vertices that are final are marked.
    """
    offsets, ends, weights = rows
    forth[source], ahead[source], seen[0], count = 0.0, -1, source, 1
    size, farthest, level = offer(heap, 0, 0.0, np.uint64(source)), np.inf, False
    while size and heap[0][0] <= farthest:
        v = np.uint64(heap[1][0])
        near = forth[v]
        size = take_first(heap, size)
        if mark[v] == WANTED:
            wanted -= 1
            if wanted == 0:
                farthest = near
        mark[v] = PLACED
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            far = near + weight_at(weights, k)
            if far < forth[u]:
                if forth[u] == np.inf:
                    seen[count] = u
                    count += 1
                size = offer(heap, size, far, u)
            if far <= forth[u] and far < np.inf:
                level |= relax(near, v, u, far, np.uint64(source), forth, ahead)
    empty_heap(heap, size)
    return count, level


@_inner
def place_level(rows, source, forth, ahead, mark, seen, count, queue):
    """Find what is ahead of vertices that only vertices at the same distance lead to.

    It is the smallest vertex among those with the fewest such edges behind them.
    """
    offsets, ends, weights = rows
    at, tail = 0, 0
    for i in range(count):
        v = np.uint64(seen[i])
        if mark[v] == PLACED and (ahead[v] >= 0 or v == np.uint64(source)):
            queue[tail] = v
            tail += 1
        elif mark[v] == PLACED:
            mark[v] = 0
    while at < tail:
        stop = tail
        while at < stop:
            v = np.uint64(queue[at])
            at += 1
            for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
                u = np.uint64(ends[k])
                if forth[u] != forth[v] or forth[v] + weight_at(weights, k) != forth[u]:
                    continue
                if mark[u] == 0:
                    mark[u], ahead[u], queue[tail] = NEXT, v, u
                    tail += 1
                elif mark[u] == NEXT and v < np.uint64(ahead[u]):
                    ahead[u] = v
        for i in range(stop, tail):
            mark[np.uint64(queue[i])] = PLACED


@_compiled
def search_from(rows, source, targets, wanted, lengths, counts, room):
    """Find the lengths and the numbers of vertices of the paths to distinct targets.

    If less than 1 is `wanted`, all vertices are visited. Returns the number of vertices that were seen.
    """
    forth, ahead, mark, seen, heap = room
    for target in targets:
        mark[target] = WANTED
    count, level = _search_all(rows, source, wanted, forth, ahead, mark, seen, heap)
    if level:
        place_level(rows, source, forth, ahead, mark, seen, count, heap[1])
    count_back(source, targets[:wanted], forth, ahead, lengths, counts)
    return count


@_inner
def count_back(source, targets, forth, ahead, lengths, counts):
    """Find the lengths and the numbers of vertices of the paths to targets."""
    for i in range(len(targets)):
        v = targets[i]
        lengths[i] = forth[v]
        counts[i] = forth[v] < np.inf
        while counts[i] and v != source:
            v = ahead[v]
            counts[i] += 1


@_compiled
def list_back(targets, counts, vertices, seen_count, room):
    """Write the vertices of the paths to targets, one path after another, and reset what was searched."""
    forth, ahead, mark, seen, _ = room
    end = 0
    for i in range(len(counts)):
        v = targets[i]
        end += counts[i]
        for at in range(counts[i]):
            vertices[end - 1 - at] = v
            v = ahead[v]
    for target in targets:
        mark[target] = 0
    for i in range(seen_count):
        v = np.uint64(seen[i])
        forth[v], mark[v] = np.inf, 0


def search_room(size: int, dtype: Any) -> tuple[Any, ...]:
    """Return the arrays of a thread that searches ahead."""
    heap = np.empty(size), np.empty(size, dtype), np.full(size, -1, dtype)
    arrays = np.full(size, np.inf), np.empty(size, dtype), np.zeros(size, np.uint8)
    return *arrays, np.empty(size, dtype), heap
