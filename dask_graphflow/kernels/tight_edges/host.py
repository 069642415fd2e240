"""Whole sources, on the host: distances, and what vertices and edges contribute to shortest paths.

A thread takes a whole source. An edge is *tight* if the distance of its farther end is exactly the distance
of its nearer end plus the weight, which is 1 if edges have no weights. A path is a shortest path if all of
its edges are tight. Vertices are visited by distance, so each one is visited after all vertices from which
a tight edge leads to it. Devices, and several members, go from one generation of vertices to the next
instead.

Numbers are stored and added up as in :mod:`.searches.host`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.host_threads import even_cuts, even_turns, run, share, take, turns
from dask_graphflow.kernels.searches.host import (
    BITS,
    LOWEST,
    _add,
    _bits,
    _scaled,
    _whole,
    sources_at_once,
)

AT_ONCE = 64  # sources per call
EDGE = 28  # bytes per edge that a source takes


@_inner
def _put(keys, items, size, key, item):
    """Add an item to a heap of `size` items, whose first key is the smallest."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if keys[above] <= key:
            break
        keys[at], items[at] = keys[above], items[above]
        at = above
    keys[at], items[at] = key, item


@_inner
def _take_first(keys, items, size):
    """Remove the first item of a heap, which then has `size` items."""
    at, below = 0, 1
    while below < size:
        below += int(below + 1 < size and keys[below + 1] < keys[below])
        if keys[below] >= keys[size]:
            break
        keys[at], items[at] = keys[below], items[below]
        at, below = below, 2 * below + 1
    keys[at], items[at] = keys[size], items[size]


@_inner
def _by_level(rows, source, distance, order):
    """List the vertices that a source reaches in a breadth-first search; return how many they are."""
    offsets, ends, _ = rows
    distance[:] = np.nan
    distance[source], order[0] = 0.0, source
    at, tail = 0, 1
    while at < tail:
        v = np.uint64(order[at])
        at += 1
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            if distance[u] != distance[u]:
                distance[u] = distance[v] + 1.0
                order[tail] = u
                tail += 1
    return tail


@_inner
def _by_distance(rows, source, distance, order, keys, items):
    """List the vertices that a source reaches by distance (Dijkstra); return how many they are."""
    offsets, ends, weights = rows
    distance[:] = np.inf
    distance[source], keys[0], items[0] = 0.0, 0.0, source
    size, tail = 1, 0
    while size:
        near, v = keys[0], np.uint64(items[0])
        size -= 1
        _take_first(keys, items, size)
        if near > distance[v]:
            continue
        order[tail] = v
        tail += 1
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            far = near + weights[k]
            if far < distance[u]:
                distance[u] = far
                _put(keys, items, size, far, u)
                size += 1
    return tail


@_inner
def _length(weights, k):
    return np.float64(weights[k]) if weights.size else 1.0


@_compiled
def _one_source(rows, into, source, endpoints, room, found, carried):
    """Write the contributions of vertices to `found`, and of edges to `carried` unless it is empty.

    Returns whether every weight changes the distances that it is added to.
    """
    (offsets, ends, weights), (starts, nearer, lengths) = rows, into
    distance, order, keys, items, sigma, number, tight = room
    if weights.size:
        tail = _by_distance(rows, source, distance, order, keys, items)
        for w in range(len(distance)):
            if distance[w] == np.inf:
                distance[w] = np.nan  # so that no edge to it is tight
    else:
        tail = _by_level(rows, source, distance, order)
    found[:] = 0.0
    carried[:] = 0.0
    sigma[source, 0], sigma[source, 1] = np.int64(1) << (BITS - 1), 1 - BITS
    for i in range(1, tail):
        v = order[i]
        count, unit, total = 0, np.int64(LOWEST), np.int64(0)
        for k in range(np.uint64(starts[v]), np.uint64(starts[v + 1])):
            u = np.uint64(nearer[k])
            if distance[u] + _length(lengths, k) == distance[v]:
                if distance[u] == distance[v]:
                    return False
                tight[np.uint64(count)] = u
                count += 1
                unit = max(unit, sigma[u, 1])
        unit += _bits(starts[v + 1] - starts[v])
        for j in range(count):
            u = np.uint64(tight[np.uint64(j)])
            total += sigma[u, 0] >> min(np.int64(63), unit - sigma[u, 1])
        sigma[v, 0], more = _whole(np.float64(total))
        sigma[v, 1] = more + unit
    for i in range(tail - 1, -1, -1):
        v = order[i]
        paths, exponent = sigma[v, 0] * 2.0**-BITS, sigma[v, 1] + BITS
        count, unit, total = 0, np.int64(LOWEST), np.int64(0)
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + 1])):
            u = np.uint64(ends[k])
            if distance[v] + _length(weights, k) == distance[u]:
                tight[np.uint64(count)] = u
                count += 1
                unit = max(unit, number[u, 1])
                if carried.size:
                    part = number[u, 0] * 2.0**-BITS * paths
                    carried[k] = _scaled(part, number[u, 1] + BITS + exponent)
        through = 0.0
        if count:
            unit += _bits(offsets[v + 1] - offsets[v])
            for j in range(count):
                u = np.uint64(tight[np.uint64(j)])
                total += number[u, 0] >> min(np.int64(63), unit - number[u, 1])
            through = _scaled(total * paths, unit + exponent)
        number[v, 0], more = _whole((1.0 + through) / paths)
        number[v, 1] = more - exponent
        found[v] = through + endpoints
    found[source] = endpoints * (tail - 1)
    return True


def _room(size: int, edges: int, most: int, dtype: Any) -> tuple[np.ndarray, ...]:
    return (
        np.empty(size),
        np.empty(size, dtype),
        np.empty(edges + 1),
        np.empty(edges + 1, dtype),
        np.empty((size, 2), np.int64),
        np.empty((size, 2), np.int64),
        np.empty(most, dtype),
    )


def add_contributions(rows, into, sources, scores, carried, *, endpoints=False, threads=1):
    size, edges = len(scores), len(rows.ends)
    parts = min(sources_at_once(rows, threads, EDGE), len(sources))
    most = int(max(np.diff(side.offsets).max(initial=0) for side in (rows, into)))
    outward, inward = (
        (*side[:2], np.empty(0) if side.weights is None else side.weights) for side in (rows, into)
    )
    rooms = [_room(size, edges, most, rows.ends.dtype) for _ in range(parts)]
    found, shares = np.empty((parts, size)), np.empty((parts, len(carried)))
    for start in range(0, len(sources), parts):
        some = sources[start : start + parts]

        def one(part: int) -> bool:
            graph = outward, inward, some[part]  # noqa: B023
            valid: bool = _one_source(*graph, endpoints, rooms[part], found[part], shares[part])
            return valid

        if not all(share(one, len(some), parts)):
            return False
        run(_add, even_turns(size, threads), found, len(some), scores)
        run(_add, even_turns(len(carried), threads), shares, len(some), carried)
    return True


@_compiled
def _distances(rows, sources, room, found, ranges, part):
    orders, keys, items = room
    start, stop = take(ranges, part, 1)
    while start < stop:
        for s in range(start, stop):
            _by_distance(rows, sources[s], found[s], orders[part], keys[part], items[part])
        start, stop = take(ranges, part, 1)


def distances(rows, sources, *, threads=1):
    size, count = len(rows.offsets) - 1, len(sources)
    found, parts = np.empty((count, size)), min(sources_at_once(rows, threads, EDGE), count)
    heap = parts, len(rows.ends) + 1
    dtype = rows.ends.dtype
    room = np.empty((parts, size), dtype), np.empty(heap), np.empty(heap, dtype)
    run(_distances, turns(even_cuts(count, parts)), rows[:3], sources, room, found)
    return found
