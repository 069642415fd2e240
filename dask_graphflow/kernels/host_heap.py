"""Heaps of vertices on the host, whose keys can be decreased.

A heap consists of the keys, the vertices, and an array with the index of each vertex in them: -1 if it is
not in the heap.
"""

from __future__ import annotations

import numpy as np

from .compiling import inner as _inner


@_inner
def offer(heap, size, key, vertex):  # type: ignore[no-untyped-def]
    """Put a vertex into a heap, or decrease its key; return the size of the heap."""
    keys, items, where = heap
    at = np.int64(where[vertex])
    if at < 0:
        at = size
        size += 1
    while at > 0:
        above = (at - 1) >> 2
        if keys[above] <= key:
            break
        keys[at], items[at] = keys[above], items[above]
        where[np.uint64(items[at])] = at
        at = above
    keys[at], items[at], where[vertex] = key, vertex, at
    return size


@_inner
def take_first(heap, size):  # type: ignore[no-untyped-def]
    """Remove the vertex with the smallest key from a heap; return its size."""
    keys, items, where = heap
    size -= 1
    where[np.uint64(items[0])] = -1
    if size == 0:
        return size
    key, item, at = keys[size], items[size], 0
    while True:
        first = 4 * at + 1
        if first >= size:
            break
        least = first
        for child in range(first + 1, min(first + 4, size)):
            if keys[child] < keys[least]:
                least = child
        if keys[least] >= key:
            break
        keys[at], items[at] = keys[least], items[least]
        where[np.uint64(items[at])] = at
        at = least
    keys[at], items[at] = key, item
    where[np.uint64(item)] = at
    return size


@_inner
def empty_heap(heap, size):  # type: ignore[no-untyped-def]
    """Remove all vertices from a heap."""
    for i in range(size):
        heap[2][np.uint64(heap[1][i])] = -1
