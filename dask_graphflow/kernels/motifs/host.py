"""Numbers of patterns of four vertices on the host.

Vertices are in the order of descending degree. So the neighbors before a vertex are few, and the bits of
their matrix fit in the caches. A 4-cycle is found at its first vertex, from which paths of two edges lead
over vertices of lower degree.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.host_atomics import count_ones, trailing_zeros
from dask_graphflow.kernels.host_threads import even_turns, share, take, worth
from dask_graphflow.kernels.intersect.host import lower_bound

from . import CHORDS, CLIQUES, COUNTS, CYCLES, OPPOSITE, TAILS


@inner
def _count_triangles(rows, found, place, bits, v):
    """Add what the triangles that contain vertex `v` and two vertices before it contribute."""
    offsets, ends, supports = rows
    low, high = offsets[v], offsets[v + 1]
    for i in range(low, high):
        u, support = np.int64(ends[i]), np.int64(supports[i])
        found[TAILS, v] += support * (offsets[u + 1] - offsets[u] - 2)
        found[CHORDS, v] += support * (support - 1) // 2
    size = lower_bound(ends, low, high, v) - low
    if size < 2:
        return
    words = (size + 63) >> 6
    for i in range(size * words):
        bits[i] = 0
    for i in range(size):
        place[np.int64(ends[low + i])] = i + 1
    for i in range(size):
        u = np.int64(ends[low + i])
        for k in range(offsets[u], offsets[u + 1]):
            w = np.int64(ends[k])
            if w >= u:
                break
            j = place[w] - 1
            if j >= 0:
                found[OPPOSITE, v] += np.int64(supports[k])
                found[OPPOSITE, u] += np.int64(supports[low + j])
                found[OPPOSITE, w] += np.int64(supports[low + i])
                bits[i * words + (j >> 6)] |= np.uint64(1) << np.uint64(j & 63)
                bits[j * words + (i >> 6)] |= np.uint64(1) << np.uint64(i & 63)
    for i in range(size):
        place[np.int64(ends[low + i])] = 0
    _count_cliques(ends, found, bits, v, low, size, words)


@inner
def _count_cliques(ends, found, bits, v, low, size, words):
    """Add the cliques of vertex `v` and three of the `size` vertices whose edges are in a matrix of bits.

    An edge of the matrix is in as many cliques as its ends have common neighbors. Each clique is counted at
    its three edges, so twice at each of the three vertices.
    """
    every = np.int64(0)
    for i in range(size):
        own = np.int64(0)
        for word in range((i + 63) >> 6):
            left = bits[i * words + word]
            while left:
                j = np.int64(word * 64) + np.int64(trailing_zeros(left))
                if j >= i:
                    break
                left &= left - np.uint64(1)
                common = np.int64(0)
                for k in range(words):
                    common += np.int64(count_ones(bits[i * words + k] & bits[j * words + k]))
                own += common
                found[CLIQUES, np.int64(ends[low + j])] += 3 * common
        found[CLIQUES, np.int64(ends[low + i])] += 3 * own
        every += own
    found[CLIQUES, v] += 2 * every


@inner
def _count_cycles(rows, found, paths, reached, v):
    """Add the 4-cycles whose first vertex is `v`: pairs of paths of two edges to the same vertex."""
    offsets, ends, _ = rows
    low, high = offsets[v], offsets[v + 1]
    after, count = lower_bound(ends, low, high, v), np.int64(0)
    for i in range(after, high):
        u = np.int64(ends[i])
        k = offsets[u + 1] - 1
        while np.int64(ends[k]) > v:
            w = np.int64(ends[k])
            if paths[w] == 0:
                reached[count] = w
                count += 1
            paths[w] += 1
            k -= 1
    every = np.int64(0)
    for i in range(count):
        many = paths[np.int64(reached[i])]
        found[CYCLES, np.int64(reached[i])] += many * (many - 1) // 2
        every += many * (many - 1) // 2
    found[CYCLES, v] += every
    if every:
        for i in range(after, high):
            u = np.int64(ends[i])
            own, k = np.int64(0), offsets[u + 1] - 1
            while np.int64(ends[k]) > v:
                own += paths[np.int64(ends[k])] - 1
                k -= 1
            found[CYCLES, u] += own
    for i in range(count):
        paths[np.int64(reached[i])] = 0


@_compiled
def _count(rows, found, place, bits, reached, first, step, ranges, part):
    start, stop = take(ranges, part, 1)
    while start < stop:
        v = np.int64(first + start * step)
        _count_triangles(rows, found, place, bits, v)
        _count_cycles(rows, found, place, reached, v)
        start, stop = take(ranges, part, 1)


def count(rows, first, step, *, threads=1):
    size = len(rows.offsets) - 1
    own = len(range(first, size, step))
    parts = worth(threads, len(rows.ends))
    owners = np.repeat(np.arange(size, dtype=rows.ends.dtype), np.diff(rows.offsets))
    most = int(np.bincount(owners[rows.ends < owners], minlength=1).max())
    ranges = even_turns(own, parts)

    def work(part: int) -> np.ndarray:
        found, place = np.zeros((COUNTS, size), np.int64), np.zeros(size, np.int64)
        bits, reached = np.empty(most * (most + 63 >> 6), np.uint64), np.empty(size, np.int64)
        _count(rows[:3], found, place, bits, reached, first, step, ranges, part)
        return found

    return sum(share(work, parts, parts))
