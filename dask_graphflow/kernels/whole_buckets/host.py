"""Shortest paths along edges of whole weights: one word per vertex, and one call for the whole search.

The word of a vertex is its distance, followed by its predecessor in the lowest bits. So an atomic minimum
keeps the smaller distance and, of the same distance, the smaller predecessor. No pass over all edges has to
find predecessors. An entry of a bucket is a word, too, with the vertex in its lowest bits. It is out of
date if the vertex has another distance now, so no array has to tell which vertices were relaxed.

All members of a team share the blocks of a bucket. Each has buckets of its own for what it finds, and goes
on with its part of the present bucket by itself while that is small (bucket fusion). The leader does small
buckets alone.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.host_atomics import fetch_add, fetch_min, prefetch, scratch
from dask_graphflow.kernels.host_teams import OWN, begin, end, enter, together
from dask_graphflow.kernels.host_threads import in_parts, share

AHEAD = 1 << 15  # edges that are relaxed before the caller looks whether all targets are reached
BLOCK = 126  # entries of a block
WINDOW = 1 << 11  # buckets, from the present one on; the last one also has the vertices past it
FOUND = 512  # entries that are put into buckets at a time
SHARED = 12  # blocks of a bucket that is worth sharing
FUSED = 8  # maximum number of blocks of a bucket that a member goes on with by itself
TEAM = 1 << 20  # minimum number of edges of a graph whose search is worth a team of threads
PART = 1 << 20  # weights that are converted at a time
# The numbers of a search. FULL says that more blocks would be needed. The counts of members follow.
NEXT, USED, TODO, BUCKET, FULL, COUNTS = 0, 8, 16, 17, 18, 24


@_inner
def _put(entries, count, shift, present, store, me, numbers):
    """Put entries into a member's buckets; an entry has its distance above the lowest `bits`."""
    items, link, head, fill, free = store
    bits, width = shift
    for i in range(count):
        slot = min(entries[i] >> bits >> width, present + WINDOW - 1) & (WINDOW - 1)
        at = fill[me, slot]
        if at == BLOCK:
            block = free[me, 0]
            if block >= 0:
                free[me, 0] = link[block]
            else:
                block = fetch_add(numbers, np.intp(USED), np.int64(1))
                if block >= link.size - 1:
                    # Entries in the last block are lost, and the search starts again.
                    numbers[FULL], block = 1, link.size - 1
            link[block] = head[me, slot]
            head[me, slot] = block
            at = 0
        items[head[me, slot], at] = entries[i]
        fill[me, slot] = at + 1


@_inner
def _relax(rows, state, block, count, shift, present, alone, buffers, store, me, numbers):
    """Relax the vertices of a block, which becomes free."""
    (offsets, ends, weights), (mine, found), (bits, width) = rows, buffers, shift
    items, link, _, _, free = store
    one, low, ahead = np.uint64(1), (np.int64(1) << bits) - 1, np.uint64(24)
    for i in range(count):
        mine[i] = items[block, i]
    link[block] = free[me, 0]
    free[me, 0] = block
    edges, vertices, new_count = np.int64(0), 0, 0
    for i in range(count):
        if i + 4 < count:
            prefetch(offsets, np.intp(mine[i + 4] & low))
            prefetch(state, np.intp(mine[i + 4] & low))
        if i + 2 < count:
            soon = np.intp(offsets[np.uint64(mine[i + 2] & low)])
            prefetch(ends, soon)
            prefetch(weights, soon)
        here = mine[i] >> bits
        vertex = np.uint64(mine[i] & low)
        if state[vertex] >> bits != here:
            continue
        if here >> width > present:  # it waited past the window
            if new_count == FOUND:
                _put(found, new_count, shift, present, store, me, numbers)
                new_count = 0
            found[new_count] = mine[i]
            new_count += 1
            continue
        k, end = np.uint64(offsets[vertex]), np.uint64(offsets[vertex + one])
        edges += np.int64(end - k)
        vertices += 1
        base = (here << bits) | np.int64(vertex)
        while k < end:
            # Calls with all of these arrays are kept out of the loop over edges.
            stop = min(end, k + np.uint64(FOUND - new_count))
            while k < stop:
                if k + ahead < end:
                    prefetch(state, np.intp(ends[k + ahead]))
                far = np.uint64(ends[k])
                new = base + (np.int64(weights[k]) << bits)
                k += one
                old = state[far]
                if new < old:
                    if alone:
                        state[far] = new
                    else:
                        old = fetch_min(state, np.intp(far), new)
                    if old >> bits > new >> bits:
                        found[new_count] = ((new >> bits) << bits) | np.int64(far)
                        new_count += 1
            if new_count == FOUND:
                _put(found, new_count, shift, present, store, me, numbers)
                new_count = 0
    _put(found, new_count, shift, present, store, me, numbers)
    numbers[COUNTS + 8 * me] += edges
    numbers[COUNTS + 8 * me + 1] += vertices


@_inner
def _go_on(rows, state, shift, present, alone, buffers, store, me, numbers, most):
    """Relax this member's part of the present bucket while it has at most some blocks."""
    _, link, head, fill, _ = store
    slot = present & (WINDOW - 1)
    while head[me, slot] >= 0 and not numbers[FULL]:
        blocks, block = 1, link[head[me, slot]]
        while block >= 0 and blocks <= most:
            blocks += 1
            block = link[block]
        if blocks > most:
            return
        block, count = head[me, slot], fill[me, slot]
        head[me, slot], fill[me, slot] = link[block], BLOCK
        _relax(rows, state, block, count, shift, present, alone, buffers, store, me, numbers)


@_inner
def _take(bucket, todo, store):
    """List the blocks of a bucket, which becomes empty; return how many they are."""
    _, link, head, fill, _ = store
    slot, count = bucket & (WINDOW - 1), 0
    for member in range(head.shape[0]):
        block, size = head[member, slot], fill[member, slot]
        while block >= 0:
            todo[count, 0], todo[count, 1] = block, size
            count += 1
            block, size = link[block], BLOCK
        head[member, slot], fill[member, slot] = -1, BLOCK
    return count


@_compiled
def _lowest(head, present):
    """Return the lowest bucket of any member that is not empty; ``present + WINDOW`` if there is none."""
    lowest = present + WINDOW
    for member in range(head.shape[0]):
        bucket = present
        while bucket < lowest and head[member, bucket & (WINDOW - 1)] < 0:
            bucket += 1
        lowest = bucket
    return lowest


@_inner
def _next(head, numbers, limits):
    """Return the lowest bucket; -1 if none waits, or the caller wants to look at what was found."""
    low, most = limits
    present = numbers[BUCKET]
    lowest = _lowest(head, present)
    if numbers[FULL] or lowest == present + WINDOW:
        return np.int64(-1)
    edges = np.int64(0)
    for member in range(head.shape[0]):
        edges += numbers[COUNTS + 8 * member]
    return np.int64(-1) if lowest > low and edges >= most else lowest


@_compiled
def _search(rows, state, shift, limits, store, todo, numbers, team, part):
    """Relax one bucket after another with a team of threads."""
    me, met = enter(team, part)
    if me < 0:
        return
    alone, head = store[2].shape[0] == 1, store[2]
    buffers = scratch(BLOCK, np.int64), scratch(FOUND, np.int64)
    while True:
        if me == 0:
            team[OWN] = 0
            while True:
                present = _next(head, numbers, limits)
                if present < 0:
                    break
                numbers[BUCKET] = present
                count = _take(present, todo, store)
                if count >= SHARED and not alone:
                    team[OWN], numbers[TODO], numbers[NEXT] = 1, count, 0
                    break
                for i in range(count):  # the other members wait
                    block, size = todo[i, 0], todo[i, 1]
                    _relax(
                        rows, state, block, size, shift, present, True, buffers, store, me, numbers
                    )
                most = 1 << 30 if alone else FUSED
                _go_on(rows, state, shift, present, True, buffers, store, me, numbers, most)
        begin(team, me, met)
        if not team[OWN]:
            return
        present, count = numbers[BUCKET], numbers[TODO]
        while True:
            i = fetch_add(numbers, np.intp(NEXT), np.int64(1))
            if i >= count:
                break
            block, size = todo[i, 0], todo[i, 1]
            _relax(rows, state, block, size, shift, present, False, buffers, store, me, numbers)
        _go_on(rows, state, shift, present, False, buffers, store, me, numbers, FUSED)
        _, met = end(team, me)


@_compiled
def _start(entries, shift, store, numbers):
    _put(entries, entries.size, shift, 0, store, 0, numbers)


@_compiled
def _split(state, bits, most, distance, predecessor, start, stop):
    # Numba vectorizes two loops over slices, and not one loop over a range.
    low, never = (np.int64(1) << bits) - 1, np.iinfo(predecessor.dtype).max
    state, distance, predecessor = state[start:stop], distance[start:stop], predecessor[start:stop]
    for v in range(state.size):
        far = state[v] >> bits
        distance[v] = np.float64(far) if far <= most else np.inf
    for v in range(state.size):
        far, before = state[v] >> bits, state[v] & low
        predecessor[v] = before if (far <= most) & (before != low) else never


@_compiled
def _narrow(weights, out, most, start, stop):
    """Convert weights to integers, unless one is not whole or not from 1 to `most`."""
    for i in range(start, stop):
        weight = weights[i]
        if not 1 <= weight <= most:
            return False
        out[i] = out.dtype.type(weight)
        if out[i] != weight:
            return False
    return True


def narrow(weights, *, threads=1):
    cuts = [*range(0, len(weights), PART), len(weights)]
    for dtype in (np.uint8, np.int32):
        out, most = np.empty(len(weights), dtype), np.iinfo(dtype).max

        def part(i, out=out, most=most):
            return _narrow(weights, out, most, cuts[i], cuts[i + 1])

        if all(share(part, len(cuts) - 1, threads)):
            return out
    return None


def longest(weights, size):
    most = int(weights.max(initial=0)) * size
    # The distance past all others has a place too, and a float64 has to hold all of them.
    return most if most + 1 < 1 << min(62 - _bits(size), 53) else 0


def _bits(size: int) -> int:
    """Return the number of bits of a predecessor, the largest of which stands for none."""
    return size.bit_length()


class WholeBuckets:
    def __init__(self, rows, sources, delta, longest, *, cutoff=np.inf, threads=1):
        size = len(rows.offsets) - 1
        self._rows, self._sources = rows[:3], sources.astype(np.int64)
        self._longest, self._dtype = int(min(longest, cutoff)), index_dtype(size)
        self._shift = _bits(size), max(int(np.log2(delta)), 0)
        self._threads = threads if len(rows.ends) >= TEAM else 1
        self._begin((len(rows.ends) + len(sources)) // BLOCK + self._threads * WINDOW + 2)

    @property
    def counts(self):
        edges, vertices = self._numbers[COUNTS:].reshape(-1, 8)[:, :2].sum(axis=0)
        return {"edges": int(edges), "vertices": int(vertices)}

    def relax(self, low, most):
        limits = int(low) >> self._shift[1], most
        while True:
            given = self._rows, self._state, self._shift, limits, self._store, self._todo
            together(_search, self._threads, *given, self._numbers, own=1)
            if not self._numbers[FULL]:
                return False
            self._begin(2 * len(self._todo))

    def lowest(self):
        present = int(self._numbers[BUCKET])
        lowest = _lowest(self._store[2], present)
        return np.inf if lowest == present + WINDOW else float(lowest << self._shift[1])

    def distances_of(self, vertices):
        far = self._state[vertices] >> self._shift[0]
        return np.where(far <= self._longest, far, np.inf)

    def columns(self, most):
        size, most = len(self._state), int(min(self._longest, most))
        distance, predecessor = np.empty(size), np.empty(size, self._dtype)

        def part(start: int, stop: int) -> None:
            _split(self._state, self._shift[0], most, distance, predecessor, start, stop)

        in_parts(part, size, self._threads, self._threads)
        return distance, predecessor

    def _begin(self, blocks: int) -> None:
        """Start at the sources, with room for a number of blocks. Only those that are used take memory."""
        threads, bits = self._threads, self._shift[0]
        self._state = np.full(len(self._rows[0]) - 1, (self._longest + 1) << bits)
        self._numbers = np.zeros(COUNTS + 8 * threads, np.int64)
        head, fill = (np.full((threads, WINDOW), first) for first in (-1, BLOCK))
        items, link = np.empty((blocks, BLOCK), np.int64), np.empty(blocks, np.int64)
        self._store = items, link, head, fill, np.full((threads, 8), -1)
        self._todo = np.empty((blocks, 2), np.int64)
        self._state[self._sources] = (1 << bits) - 1
        _start(self._sources, self._shift, self._store, self._numbers)


new_buckets = WholeBuckets
