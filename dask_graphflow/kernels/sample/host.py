"""Random choices of edges on the host: random walks, and samples of the edges that leave vertices.

Random numbers are counter-based: each is the SplitMix64 hash [1]_ of a key and a counter. A choice depends
only on its key, its step, and the row of its vertex. A random float has the high 53 bits of a hash, and is
rounded once when it is multiplied, so the device makes the same choices.

In a walk with a bias (node2vec [2]_), a step depends on the previous vertex. First, the walk decides
whether it goes back there, because these edges have weights of their own. Otherwise, an edge is drawn by
weight, and is accepted with a probability that depends on whether the previous vertex has an edge to the
same vertex (KnightKing [3]_).

.. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
.. [2] A. Grover, J. Leskovec, "node2vec: Scalable Feature Learning for Networks", KDD 2016.
.. [3] K. Yang, M. Zhang, K. Chen et al., "KnightKing: A Fast Distributed Graph Random Walk Engine",
   SOSP 2019.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.disk import beside, read_by_page
from dask_graphflow.kernels.host_threads import MINI_CHUNK, even_turns, frontier_turns, run, take
from dask_graphflow.kernels.intersect.host import lower_bound

# LLVM would call some of these functions, and a walk would take 1.4 times as long.
_inlined = partial(inner, forceinline=True)

BITS = 52  # maximum bits of the sum of a row's weights as an integer
STEP, ATTEMPT = 24, 2  # number of bits in a counter below the step, and below the attempt
OPEN = -2  # a step that is not decided yet; from `_attempt`, a candidate that needs no test
END = -1  # the end of a walk
TEST = -3  # a candidate that depends on an edge of the previous vertex


def hashes(ranks, seed):
    mixed = (ranks.astype("uint64") + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed += np.uint64(seed % 2**64) if isinstance(seed, int) else seed.view("uint64")
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@_inlined
def _random(key, counter):
    """Return a random float in the range [0, 1)."""
    mixed = key + np.uint64(counter) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return np.float64(mixed >> np.uint64(11)) * 2.0**-53


@_inlined
def _before(sums, low, at):
    """Return the total weight of the entries of a row before index `at`."""
    if sums.size == 0:
        return np.int64(at - low)
    return sums[at - 1] if at > low else np.int64(0)


@_inlined
def _choose(ends, sums, low, high, weight):
    """Return the end of the entry at which the running sum of a row's weights exceeds `weight`."""
    if sums.size == 0:
        return ends[low + weight]
    return ends[lower_bound(sums, low, high, weight + 1)]


@_inlined
def _back(ends, low, high, before):
    """Return the start and stop index of a row's entries that lead back to the previous vertex."""
    if before < 0:
        return low, low
    first = lower_bound(ends, low, high, before)
    if first < high and ends[first] == before:
        return first, lower_bound(ends, first, high, before + 1)
    return first, first


@_inlined
def _attempt(edges, low, high, back, before, key, counter, bias):
    """Propose a step; return a vertex or END, and OPEN if it is accepted, or TEST if it needs a test."""
    ends, sums = edges
    total, skipped = _before(sums, low, high), _before(sums, low, back[0])
    own = _before(sums, low, back[1]) - skipped
    rest = total - own
    if own > 0:
        mass, other = bias[0] * np.float64(own), bias[1] * np.float64(rest)
        if mass > 0 and (rest == 0 or _random(key, counter) * (mass + other) < mass):
            return np.int64(before), OPEN
    if rest == 0:
        return np.int64(END), OPEN
    weight = np.int64(_random(key, counter + 1) * np.float64(rest))
    if weight >= skipped:
        weight += own
    end = np.int64(_choose(ends, sums, low, high, weight))
    if before < 0 or bias[2] == bias[3]:
        return end, OPEN
    drawn = _random(key, counter + 2)
    return end, OPEN if drawn < min(bias[2], bias[3]) else TEST


@_compiled
def _walk(rows, starts, previous, keys, first, bias, walks, ranges, part):
    offsets, ends, sums = rows
    biased = False
    for weight in bias:  # an array expression would take longer to compile
        biased |= weight != 1
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for i in range(start, stop):
            walks[i, 0] = starts[i]
        # All walks of a chunk do one step before the next, so that their memory accesses overlap.
        for step in range(1, walks.shape[1]):
            for i in range(start, stop):
                at = walks[i, step - 1]
                if at < 0:
                    walks[i, step] = END
                    continue
                low, high = offsets[at], offsets[at + 1]
                before = np.int64(END)
                if biased and step > 1:
                    before = np.int64(walks[i, step - 2])
                elif biased and previous.size:
                    before = np.int64(previous[i])
                back = _back(ends, low, high, before)
                counter = (first + step) << STEP
                while True:
                    end, state = _attempt(
                        (ends, sums), low, high, back, before, keys[i], counter, bias
                    )
                    if state == OPEN:
                        break
                    low_b, high_b = offsets[before], offsets[before + 1]
                    place = lower_bound(ends, low_b, high_b, end)
                    if (place < high_b and ends[place] == end) == (bias[2] > bias[3]):
                        break
                    counter += 1 << ATTEMPT
                walks[i, step] = end
        start, stop = take(ranges, part, MINI_CHUNK)


def walk(rows, sums, starts, keys, length, bias, *, first=0, before=None, threads=1):
    walks = np.empty((len(starts), length + 1), rows.ends.dtype)
    ranges = even_turns(len(starts), threads)
    before = np.empty(0, rows.ends.dtype) if before is None else before
    run(_walk, ranges, _summed(rows, sums), starts, before, keys, first, bias, walks)
    return walks


def _summed(rows: Rows, sums: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows as the kernels take them, with an empty array if edges have no weights."""
    sums = np.empty(0, np.int64) if sums is None else read_by_page(sums)
    return rows.offsets, read_by_page(rows.ends), sums


@_compiled
def _propose(rows, walks, counter, bias, attempts, tests, decided, ranges, part):
    (offsets, ends, sums), (vertices, before, keys) = rows, walks
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for i in range(start, stop):
            low, high = offsets[vertices[i]], offsets[vertices[i] + 1]
            back = _back(ends, low, high, before[i])
            attempt, decided[i] = attempts[i], OPEN
            for slot in range(tests.shape[1]):
                tests[i, slot] = END
            for slot in range(tests.shape[1]):
                turn = counter + (attempt << ATTEMPT)
                end, state = _attempt((ends, sums), low, high, back, before[i], keys[i], turn, bias)
                attempt += 1
                if state == OPEN:
                    decided[i] = end
                    break
                tests[i, slot] = end
            attempts[i] = attempt
        start, stop = take(ranges, part, MINI_CHUNK)


def propose(rows, sums, vertices, before, keys, step, bias, attempts, slots, *, threads=1):
    tests = np.empty((len(vertices), slots), rows.ends.dtype)
    decided = np.empty(len(vertices), rows.ends.dtype)
    ranges, walks = even_turns(len(vertices), threads), (vertices, before, keys)
    given = _summed(rows, sums), walks, step << STEP, bias, attempts, tests, decided
    run(_propose, ranges, *given)
    return tests, decided


@_compiled
def _connected(offsets, ends, vertices, others, hits, ranges, part):
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for i in range(start, stop):
            high = offsets[vertices[i] + 1]
            at = lower_bound(ends, offsets[vertices[i]], high, others[i])
            hits[i] = at < high and ends[at] == others[i]
        start, stop = take(ranges, part, MINI_CHUNK)


def connected(rows, vertices, others, *, threads=1):
    hits = np.empty(len(vertices), np.bool_)
    ranges = even_turns(len(vertices), threads)
    run(_connected, ranges, rows.offsets, read_by_page(rows.ends), vertices, others, hits)
    return hits


@_compiled
def _pick(offsets, vertices, keys, wanted, replace, first, picks, ranges, part):
    edges, items = picks
    start, stop = take(ranges, part, 1)
    while start < stop:
        low = offsets[vertices[start]]
        degree = offsets[vertices[start] + 1] - low
        begin, count = first[start], first[start + 1] - first[start]
        key = keys[start]
        every = wanted < 0 or (not replace and degree <= wanted)
        for i in range(count):
            items[begin + i] = start
            if every:
                edges[begin + i] = low + i
            elif replace:
                edges[begin + i] = low + np.int64(_random(key, i) * np.float64(degree))
            else:
                # Floyd's algorithm: all sets of edges are equally likely.
                newest = low + degree - count + i
                edge = low + np.int64(_random(key, i) * np.float64(newest - low + 1))
                for j in range(i):
                    if edges[begin + j] == edge:
                        edge = newest
                        break
                edges[begin + i] = edge
        start, stop = take(ranges, part, 1)


def pick_edges(rows, vertices, keys, wanted, replace, first, *, threads=1):
    picks = np.empty(int(first[-1]), np.int64), np.empty(int(first[-1]), np.int64)
    ranges = frontier_turns(first, threads)
    run(_pick, ranges, rows.offsets, vertices, keys, wanted, replace, first, picks)
    return picks


@_compiled
def _cumulate(offsets, weights, sums, ranges, part):
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for row in range(start, stop):
            low, high = offsets[row], offsets[row + 1]
            most = 0.0
            for k in range(low, high):
                most = max(most, np.float64(weights[k]))
            shift = BITS - math.frexp(most)[1] - math.frexp(np.float64(high - low))[1]
            total = np.int64(0)
            for k in range(low, high):
                total += np.int64(np.rint(math.ldexp(np.float64(weights[k]), shift)))
                sums[k] = total
        start, stop = take(ranges, part, MINI_CHUNK)


def cumulate(rows, *, threads=1):
    assert rows.weights is not None
    count = len(rows.offsets) - 1
    sums = beside(rows.ends, len(rows.ends), np.int64)
    ranges = even_turns(count, threads, rows.offsets)
    run(_cumulate, ranges, rows.offsets, rows.weights, sums)
    return sums
