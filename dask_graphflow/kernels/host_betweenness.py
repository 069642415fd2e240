"""What each vertex contributes to the shortest paths from a source, on the host; see :func:`dependencies`.

A thread takes a whole source, so no step waits for another thread. A search lists the vertices by level, and
the edges from each level to the next. Both passes over the levels read these lists instead of the rows.
Within them, a vertex is its place in the list of vertices, so the numbers of two levels are close together.

A number is a whole number from 2**60 to 2**61 - 1, times a power of two. A sum is made of whole multiples
of a unit: the largest exponent among its terms, increased by the number of bits by which the sum of as many
terms as the vertex has edges can grow.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .compiling import compiled as _compiled
from .csr import Rows
from .host_threads import even_turns, run, share, take

BITS = 61  # bits of a number as a whole number
LOWEST = -(2**30)  # less than any exponent
AT_ONCE = 64  # sources per call
MINI = 1024  # vertices that a thread adds up at a time


@_compiled
def _whole(value):  # type: ignore[no-untyped-def]
    """Return a float as a whole number and an exponent."""
    part, exponent = math.frexp(value)
    return np.int64(part * 2.0**BITS), np.int32(exponent - BITS)


@_compiled
def _spare(count):  # type: ignore[no-untyped-def]
    """Return the number of bits by which the sum of `count` numbers can grow."""
    bits = np.int32(0)
    while count:
        count >>= 1
        bits += np.int32(1)
    return bits


@_compiled
def _one_source(offsets, ends, entering, source, endpoints, room, found):  # type: ignore[no-untyped-def]
    """Write the contributions for one source to `found`; return the number of vertices it reaches."""
    place, queue, starts, first, child, whole, exponent, sums = room
    place[:] = -1
    found[:] = 0
    place[source], queue[0], starts[0], starts[1] = 0, source, 0, 1
    whole[0], exponent[0] = np.int64(1) << (BITS - 1), np.int32(1 - BITS)
    at, tail, depth, edges = 0, 1, 1, 0
    while at < tail:
        begin, stop = at, tail
        while at < stop:
            v = queue[at]
            first[at] = edges
            for k in range(offsets[v], offsets[v + 1]):
                u = ends[k]
                there = place[u]
                if there < 0:
                    there = place[u] = tail
                    queue[tail] = u
                    exponent[tail], sums[tail] = LOWEST, 0
                    tail += 1
                if there >= stop:
                    child[edges] = there
                    edges += 1
                    exponent[there] = max(exponent[there], exponent[at])
            at += 1
        for c in range(stop, tail):
            u = queue[c]
            exponent[c] += _spare(entering[u + 1] - entering[u])
        first[at] = edges
        for i in range(begin, stop):
            for k in range(first[i], first[i + 1]):
                c = child[k]
                sums[c] += whole[i] >> min(np.int32(63), exponent[c] - exponent[i])
        for c in range(stop, tail):
            whole[c], more = _whole(np.float64(sums[c]))
            exponent[c] += more
        depth += 1
        starts[depth] = tail
    for d in range(depth - 2, 0, -1):
        for i in range(starts[d], starts[d + 1]):
            v = queue[i]
            sigma, total, largest = whole[i] * 2.0**-BITS, np.int64(0), np.int32(LOWEST)
            for k in range(first[i], first[i + 1]):
                largest = max(largest, exponent[child[k]])
            found_here = 0.0
            if first[i] < first[i + 1]:
                unit = largest + _spare(offsets[v + 1] - offsets[v])
                for k in range(first[i], first[i + 1]):
                    c = child[k]
                    total += whole[c] >> min(np.int32(63), unit - exponent[c])
                part, more = math.frexp(np.float64(total))
                found_here = math.ldexp(part * sigma, more + unit + exponent[i] + BITS)
            # From here on, the number of the vertex is what it tells the level before.
            whole[i], more = _whole((1.0 + found_here) / sigma)
            exponent[i] = more - exponent[i] - BITS
            found[v] = found_here + endpoints
    found[source] = endpoints * (tail - 1)
    return tail


@_compiled
def _add(found, count, scores, ranges, part):  # type: ignore[no-untyped-def]
    start, stop = take(ranges, part, MINI)
    while start < stop:
        for v in range(start, stop):
            for s in range(count):
                scores[v] += found[s, v]
        start, stop = take(ranges, part, MINI)


def _room(vertices: int, edges: int, dtype: Any) -> tuple[np.ndarray, ...]:
    return (
        np.empty(vertices, dtype),
        np.empty(vertices, dtype),
        np.empty(vertices + 2, np.int64),
        np.empty(vertices + 1, np.int64),
        np.empty(edges, dtype),
        np.empty(vertices, np.int64),
        np.empty(vertices, np.int32),
        np.empty(vertices, np.int64),
    )


def add_dependencies(
    rows: Rows,
    into: Rows,
    sources: np.ndarray,
    scores: np.ndarray,
    *,
    endpoints: bool = False,
    threads: int = 1,
) -> None:
    """Add what each vertex contributes to the shortest paths from some sources.

    Parameters
    ----------
    rows, into : Rows
        Rows of the edges that leave and that enter all vertices, without parallel edges and self-loops.
    sources : ndarray of integers
        The contributions are added in this order.
    scores : ndarray of float64, shape (V,)
        Changed in place.
    endpoints : bool
        Whether a path also counts for its first and its last vertex.
    """
    size = len(scores)
    parts = min(threads, len(sources))
    rooms = [_room(size, len(rows.ends), rows.ends.dtype) for _ in range(parts)]
    found = np.empty((parts, size))
    for start in range(0, len(sources), parts):
        some = sources[start : start + parts]

        def one(part: int) -> int:
            return int(
                _one_source(
                    rows.offsets,
                    rows.ends,
                    into.offsets,
                    some[part],
                    endpoints,
                    rooms[part],
                    found[part],
                )
            )

        share(one, len(some), parts)
        run(_add, even_turns(size, threads), found, len(some), scores)
