"""Whole searches from several sources, on the host: levels, and what vertices contribute to shortest paths.

A thread takes a whole source, so no step waits for another thread.

To add up contributions, a search lists the vertices by level, and the edges from each level to the next.
Both passes over the levels read these lists instead of the rows. In them, a vertex is its place in the list
of vertices, so the numbers of two levels are close together.

A number is stored as a whole number from 2**60 to 2**61 - 1 and the exponent of a power of two. The terms
of a sum are rounded down to multiples of a unit. The exponent of the unit is the largest exponent among the
terms, plus the number of bits by which the sum of as many terms as the vertex has edges can grow.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dask_graphflow.kernels.common import host
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.host_threads import even_cuts, even_turns, run, share, take, turns
from dask_graphflow.kernels.memory import free_bytes

BITS = 61  # bits of a number as a whole number
LOWEST = -(2**30)  # less than any exponent
AT_ONCE = 64  # sources per call
MINI = 1024  # vertices that a thread adds up at a time


@inner
def _whole(value):
    """Return a positive float as a whole number and an exponent."""
    bits = np.float64(value).view(np.int64)
    one = np.int64(1)
    return ((bits & ((one << 52) - one)) | (one << 52)) << 8, (bits >> 52) - 1022 - BITS


@inner
def _scaled(value, exponent):
    """Return ``value * 2**exponent``, for values from 1 to 2**61 and results below 2**62."""
    if exponent < -900:  # the result may be too small for a float of full precision
        return math.ldexp(value, exponent)
    return value * np.int64((exponent + 1023) << 52).view(np.float64)


@inner
def _bits(count):
    """Return the number of bits by which the sum of `count` numbers can grow."""
    bits = np.int64(0)
    while count:
        count >>= 1
        bits += np.int64(1)
    return bits


@_compiled
def _one_source(offsets, ends, entering, source, endpoints, spare, room, found):
    """Write the contributions for one source to `found`.

    While all numbers of paths are small, they are added up as they are, in one pass.
    """
    place, queue, starts, first, child, sums, number = room
    one = np.int64(1)
    place[:] = -1
    found[:] = 0
    place[source], queue[0], starts[0], starts[1] = 0, source, 0, 1
    sums[0], number[0, 0], number[0, 1] = 1, one << (BITS - 1), 1 - BITS
    at, tail, depth, edges, exact = 0, 1, 1, 0, True
    while at < tail:
        begin, stop = at, tail
        while at < stop:
            v = np.uint64(queue[at])
            first[at] = edges
            for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
                u = np.uint64(ends[k])
                there = np.int64(place[u])
                if there < 0:
                    there = np.int64(tail)
                    place[u] = tail
                    queue[tail] = u
                    tail += 1
                # Without a branch, because it is hard to predict which edges lead to the next level.
                child[np.uint64(edges)] = there
                edges += int(there >= stop)
            at += 1
        first[at] = edges
        for c in range(stop, tail):
            number[c, 1], sums[c] = 0 if exact else LOWEST, 0
        if exact:
            for i in range(begin, stop):
                own = sums[i]
                for k in range(np.uint64(first[i]), np.uint64(first[i + 1])):
                    sums[np.uint64(child[k])] += own
        else:
            for i in range(begin, stop):
                for k in range(np.uint64(first[i]), np.uint64(first[i + 1])):
                    to = np.uint64(child[k])
                    number[to, 1] = max(number[to, 1], number[i, 1])
            for c in range(stop, tail):
                number[c, 1] += _bits(entering[queue[c] + 1] - entering[queue[c]])
            for i in range(begin, stop):
                for k in range(np.uint64(first[i]), np.uint64(first[i + 1])):
                    to = np.uint64(child[k])
                    sums[to] += number[i, 0] >> min(np.int64(63), number[to, 1] - number[i, 1])
        largest = np.int64(LOWEST)
        for c in range(stop, tail):
            paths = np.float64(sums[c])
            number[c, 0], more = _whole(paths)
            number[c, 1] += more
            largest = max(largest, number[c, 1])
            sums[c] = np.int64(paths)
        exact = exact and largest + BITS + spare <= BITS
        depth += 1
        starts[depth] = tail
    for d in range(depth - 2, 0, -1):
        for i in range(starts[d], starts[d + 1]):
            v = queue[i]
            sigma, exponent = number[i, 0] * 2.0**-BITS, number[i, 1] + BITS
            through = 0.0
            if first[i] < first[i + 1]:
                unit, total = np.int64(LOWEST), np.int64(0)
                for k in range(np.uint64(first[i]), np.uint64(first[i + 1])):
                    unit = max(unit, number[np.uint64(child[k]), 1])
                unit += _bits(offsets[v + 1] - offsets[v])
                for k in range(np.uint64(first[i]), np.uint64(first[i + 1])):
                    to = np.uint64(child[k])
                    total += number[to, 0] >> min(np.int64(63), unit - number[to, 1])
                through = _scaled(total * sigma, unit + exponent)
            # From here on, the number of the vertex is the one that it sends to the previous level.
            number[i, 0], more = _whole((1.0 + through) / sigma)
            number[i, 1] = more - exponent
            found[v] = through + endpoints
    found[source] = endpoints * (tail - 1)


@inner
def _levels_of(offsets, ends, source, queue, level):
    """Write the levels of a search to `level`."""
    level[:] = -1
    level[source], queue[0] = 0, source
    at, tail = 0, 1
    while at < tail:
        v = np.uint64(queue[at])
        at += 1
        following = level[v] + np.int32(1)
        # Without branches, because it is hard to predict which neighbors are new.
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            there = level[u]
            queue[np.uint64(tail)] = u
            tail += int(there < 0)
            level[u] = there if there >= 0 else following


@_compiled
def _each_level(offsets, ends, sources, queues, found, ranges, part):
    start, stop = take(ranges, part, 1)
    while start < stop:
        for s in range(start, stop):
            _levels_of(offsets, ends, sources[s], queues[part], found[s])
        start, stop = take(ranges, part, 1)


@_compiled
def _add(found, count, scores, ranges, part):
    start, stop = take(ranges, part, MINI)
    while start < stop:
        for v in range(start, stop):
            for s in range(count):
                scores[v] += found[s, v]
        start, stop = take(ranges, part, MINI)


def sources_at_once(rows: Rows, threads: int, edge: int) -> int:
    """Return the number of threads that have room for a source in half of the free memory.

    A source takes `edge` bytes per edge.
    """
    each = 56 * len(rows.offsets) + edge * len(rows.ends)
    free = free_bytes(host)
    return threads if free is None else max(1, min(threads, free // 2 // each))


def _room(vertices: int, edges: int, dtype: Any) -> tuple[np.ndarray, ...]:
    return (
        np.empty(vertices, dtype),
        np.empty(vertices, dtype),
        np.empty(vertices + 2, np.int64),
        np.empty(vertices + 1, np.int64),
        np.empty(edges + 1, dtype),
        np.empty(vertices, np.int64),
        np.empty((vertices, 2), np.int64),
    )


def add_dependencies(rows, into, sources, scores, *, endpoints=False, threads=1):
    size = len(scores)
    parts = min(sources_at_once(rows, threads, rows.ends.itemsize), len(sources))
    rooms = [_room(size, len(rows.ends), rows.ends.dtype) for _ in range(parts)]
    found = np.empty((parts, size))
    spare = int(np.diff(into.offsets).max(initial=0)).bit_length()
    for start in range(0, len(sources), parts):
        some = sources[start : start + parts]

        def one(part: int) -> None:
            graph = rows.offsets, rows.ends, into.offsets
            _one_source(*graph, some[part], endpoints, spare, rooms[part], found[part])  # noqa: B023

        share(one, len(some), parts)
        run(_add, even_turns(size, threads), found, len(some), scores)


def levels(rows, sources, *, threads=1):
    size, count = len(rows.offsets) - 1, len(sources)
    found = np.empty((count, size), "int32")
    parts = min(threads, count)
    queues = np.empty((parts, size + 1), rows.ends.dtype)
    run(_each_level, turns(even_cuts(count, parts)), *rows[:2], sources, queues, found)
    return found
