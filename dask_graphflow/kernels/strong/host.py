"""Strongly connected components by a depth-first search: Pearce's variant of Tarjan's algorithm.

Each vertex that is visited gets the next number. A vertex is a *root* if it reaches no smaller number of a
vertex that still waits for its root. Its component then consists of the root and of the vertices that have
waited since the root was visited. One array has the number of a vertex, and later the smallest number that
it reaches.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.csr import Rows


@inner
def _take(root, number, left, waiting, component, reach, done):
    """Give a root's component to the root and to those that wait for it; return how many still wait."""
    least, start = component.dtype.type(root), left
    while start > 0 and reach[waiting[start - 1]] >= number:
        start -= 1
        least = min(least, waiting[start])
    for i in range(start, left):
        component[waiting[i]] = least
        reach[waiting[i]] = done
    component[root], reach[root] = least, done
    return start


@_compiled
def _find_strong(offsets, ends, remaining, component, reach, done, room):
    one, (path, edges, numbers, waiting) = np.uint64(1), room
    last, left = reach.dtype.type(0), 0
    for first in remaining:
        if reach[first]:
            continue
        depth, vertex = 0, np.uint64(first)
        last += reach.dtype.type(1)
        number = least = reach[vertex] = last
        k, end = np.uint64(offsets[vertex]), np.uint64(offsets[vertex + one])
        while True:
            if k < end:
                near = np.uint64(ends[k])
                k += one
                there = reach[near]
                if there:
                    least = min(least, there)
                    continue
                path[depth], edges[depth], numbers[depth] = vertex, k, number
                reach[vertex] = least
                depth, vertex = depth + 1, near
                last += reach.dtype.type(1)
                number = least = reach[vertex] = last
                k, end = np.uint64(offsets[vertex]), np.uint64(offsets[vertex + one])
                continue
            if least == number:
                left = _take(vertex, number, left, waiting, component, reach, done)
                least = done
            else:
                reach[vertex], waiting[left] = least, vertex
                left += 1
            if depth == 0:
                break
            depth -= 1
            vertex, k, number = np.uint64(path[depth]), np.uint64(edges[depth]), numbers[depth]
            end = np.uint64(offsets[vertex + one])
            least = min(least, reach[vertex])


def find_strong(rows: Rows, remaining: np.ndarray, component: np.ndarray) -> None:
    done = np.iinfo(component.dtype).max
    # 0 for vertices that were not visited, and `done` for those that have a component.
    reach = np.where(component < 0, 0, component.dtype.type(done))
    # The path from the first vertex to the current one (vertices, their next edges, and their numbers), and
    # the vertices that wait for the root of their component.
    kinds = component.dtype, np.int64, reach.dtype, component.dtype
    room = tuple(np.empty(remaining.size, kind) for kind in kinds)
    _find_strong(rows.offsets, rows.ends, remaining, component, reach, reach.dtype.type(done), room)
