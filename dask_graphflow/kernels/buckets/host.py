"""Shortest paths on the host: delta-stepping [1]_ with bucket fusion [2]_.

Vertices wait in buckets by their distance divided by `delta`. A round relaxes the edges of the lowest
bucket. Each thread has its own buckets for the vertices whose distance it lowers. If its part of the
current bucket has only a few vertices, it continues with them on its own. Short rounds, of which a road
network has thousands, therefore need no synchronization. A round with few vertices uses a single thread.

The loops of :mod:`.advance.host` have neither buckets nor the prefetch hints that matter here. Rows are
prefetched two vertices ahead and distances 32 edges ahead. Without prefetching, a pass over all edges in
bucket order takes a third longer. One array with pairs of end and weight takes as long as two arrays.

The distance of a vertex is the minimum over all paths of the sum of weights, added up from the source, so
it does not depend on the order of relaxations. Predecessors are found afterwards by :func:`predecessors`.

Buckets are lists of blocks. The window of :data:`WINDOW` buckets wraps around. Vertices past the window
wait in an extra list until the window reaches them.

.. [1] U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", Journal of
   Algorithms 49 (1), 2003.
.. [2] Y. Zhang, A. Brahmakshatriya, X. Chen, L. Dhulipala, S. Kamil, S. Amarasinghe, J. Shun, "Optimizing
   Ordered Graph Algorithms with GraphIt", CGO 2020.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.kernels import index_dtype, sorted_unique
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.csr import Light
from dask_graphflow.kernels.host_atomics import fetch_min, prefetch, swap
from dask_graphflow.kernels.host_threads import MINI_CHUNK, even_turns, put, run, share, take
from dask_graphflow.kernels.read_ahead import in_order, portions

WINDOW = 1 << 10  # buckets in the window, which starts at the present bucket
BLOCK = 128  # vertices per block
AWAY = WINDOW + 1  # list of mirrors; list WINDOW contains the vertices past the window
FUSED = 1 << 10  # maximum number of vertices in a bucket that a thread continues with on its own
AHEAD = 1 << 15  # edges that a member relaxes ahead of the others; takes about as long as a round
SMALL_BUCKET = 1 << 13  # maximum number of vertices in a bucket that it relaxes ahead of the others
NONE = 1 << 62
PART = 1 << 20  # weights per partial sum
CROWDED, SPARSE = 8, 16  # below CROWDED edges per vertex, buckets are SPARSE times as wide
FREE, USED, FAR, EDGES, RELAXED = range(5)  # indices into the numbers of a thread

_inlined = partial(_compiled, inline="always")
_allocating = partial(_compiled, allocates=True)


@_compiled
def _size(link, head, fill, slot):
    block = head[slot]
    if block < 0:
        return 0
    size = fill[slot]
    block = link[block]
    while block >= 0:
        size += BLOCK
        block = link[block]
    return size


@_compiled
def _take_all(items, link, head, fill, numbers, slot, out, at):
    """Move the vertices of a bucket to ``out[at:]``; return the end index."""
    block, filled = head[slot], fill[slot]
    while block >= 0:
        for i in range(filled):
            out[at + i] = items[block, i]
        at += filled
        filled = BLOCK
        after = link[block]
        link[block] = numbers[FREE]
        numbers[FREE] = block
        block = after
    head[slot] = -1
    fill[slot] = BLOCK
    return at


@_inner
def _put(vertices, count, search, away, items, link, head, fill, numbers):
    """Put vertices into the buckets of their distances, or into the list of mirrors if `away` is true."""
    distance, _, (scale, present, _) = search
    for i in range(count):
        vertex = vertices[i]
        bucket = max(_bucket(distance[vertex], scale), present)
        slot = bucket & (WINDOW - 1)
        if away:
            slot = AWAY
        elif bucket - present >= WINDOW:
            slot = WINDOW
            numbers[FAR] = min(numbers[FAR], bucket)
        at = fill[slot]
        if at == BLOCK:
            block = numbers[FREE]
            if block >= 0:
                numbers[FREE] = link[block]
            else:
                block = numbers[USED]
                numbers[USED] += 1
            link[block] = head[slot]
            head[slot] = block
            at = 0
        items[head[slot], at] = vertex
        fill[slot] = at + 1


@_inlined
def _bucket(distance, scale):
    # Integers up to 2**53 are exact as floats.
    return np.int64(min(distance * scale, 2.0**53))


@partial(_inner, allocates=True)
def _room(count, items, link, numbers):
    """Return the blocks, or more of them if `count` further vertices might not have room."""
    buckets = count if count < WINDOW + 2 else WINDOW + 2
    wanted = numbers[USED] + buckets + count // BLOCK + 1
    if wanted <= link.size:
        return items, link
    more = max(wanted, 2 * link.size)
    new_items = np.empty((more, BLOCK), items.dtype)
    for block in range(link.size):
        put(new_items[block], 0, items[block], BLOCK)
    new_link = np.empty(more, link.dtype)
    put(new_link, 0, link, link.size)
    return new_items, new_link


@_allocating
def _relax(rows, search, frontier, fused, ranges, part, items, link, head, fill, numbers):
    (offsets, ends, weights), (distance, done, (_, present, cutoff)) = rows, search
    slot, masters = present & (WINDOW - 1), offsets.size - 1
    one, ahead = np.uint64(1), np.uint64(32)
    mine = np.empty(FUSED, frontier.dtype)
    # Vertices are put into buckets many at once. Each call, and each argument of an inlined function,
    # counts references to all arrays, which takes longer than to relax an edge.
    nearer, found = np.empty(FUSED, frontier.dtype), 0
    while True:
        first, last = take(ranges, part, MINI_CHUNK)
        count = last - first
        if count > 0:
            for i in range(count):
                mine[i] = frontier[first + i]
        elif head[slot] >= 0 and _size(link, head, fill, slot) <= fused:
            count = _take_all(items, link, head, fill, numbers, slot, mine, 0)
        else:
            break
        mirrors = 0
        for i in range(count):
            if i + 4 < count:
                prefetch(offsets, np.intp(mine[i + 4]))
                prefetch(distance, np.intp(mine[i + 4]))
            if i + 2 < count and mine[i + 2] < masters:
                soon = np.intp(offsets[mine[i + 2]])
                prefetch(ends, soon)
                prefetch(weights, soon)
            vertex = np.uint64(mine[i])
            here = distance[vertex]
            if done[vertex] <= here:  # stale entry: already relaxed at this distance
                continue
            done[vertex] = here
            if mine[i] >= masters:
                mine[mirrors] = mine[i]
                mirrors += 1
                continue
            k, end = np.uint64(offsets[vertex]), np.uint64(offsets[vertex + one])
            numbers[EDGES] += end - k
            numbers[RELAXED] += 1
            while k < end:
                # `items` and `link` may change below, so that a loop around that would count references to
                # them at every edge.
                stop = min(end, k + np.uint64(FUSED - found))
                while k < stop:
                    if k + ahead < end:
                        prefetch(distance, np.intp(ends[k + ahead]))
                    far = np.uint64(ends[k])
                    new = here + weights[k]
                    k += one
                    old = distance[far]
                    while new < old and new <= cutoff:
                        if swap(distance, np.intp(far), old, new):
                            nearer[found] = far
                            found += 1
                            break
                        old = distance[far]
                if found > FUSED // 2:
                    items, link = _room(found, items, link, numbers)
                    _put(nearer, found, search, False, items, link, head, fill, numbers)
                    found = 0
        items, link = _room(found + mirrors, items, link, numbers)
        _put(nearer, found, search, False, items, link, head, fill, numbers)
        _put(mine, mirrors, search, True, items, link, head, fill, numbers)
        found = 0
    return items, link


@_compiled
def _lowest(head, present):
    for bucket in range(present, present + WINDOW):
        if head[bucket & (WINDOW - 1)] >= 0:
            return bucket
    return NONE


@_allocating
def _spread(search, items, link, head, fill, numbers):
    """Move vertices that waited past the window into the buckets that the window now covers."""
    distance, _, (scale, present, _) = search
    waiting = np.empty(_size(link, head, fill, WINDOW), items.dtype)
    _take_all(items, link, head, fill, numbers, WINDOW, waiting, 0)
    numbers[FAR] = NONE
    count = 0
    for vertex in waiting:
        if _bucket(distance[vertex], scale) >= present:
            waiting[count] = vertex
            count += 1
    items, link = _room(count, items, link, numbers)
    _put(waiting, count, search, False, items, link, head, fill, numbers)
    return items, link


@_allocating
def _offer(vertices, values, search, items, link, head, fill, numbers):
    distance, _, (scale, _, _) = search
    nearest, count = NONE, 0
    nearer = np.empty(vertices.size, items.dtype)
    for i in range(vertices.size):
        if values[i] < distance[vertices[i]]:
            distance[vertices[i]] = values[i]
            nearest = min(nearest, _bucket(values[i], scale))
            nearer[count] = vertices[i]
            count += 1
    items, link = _room(count, items, link, numbers)
    _put(nearer, count, search, False, items, link, head, fill, numbers)
    return items, link, nearest


@_compiled
def _weigh(weights, start, stop):
    wrong, count, total = 0, 0, 0.0
    for i in range(start, stop):
        weight = np.float64(weights[i])
        if not weight >= 0:
            wrong += 1
        elif weight < np.inf:
            count += 1
            total += weight
    return wrong, count, total


def weigh(weights, *, threads=1):
    # The parts have a fixed size, so that the mean does not depend on the number of threads.
    cuts = [*range(0, len(weights), PART), len(weights)]
    done = share(lambda i: _weigh(weights, cuts[i], cuts[i + 1]), len(cuts) - 1, threads)
    wrong, count, total = (sum(part) for part in zip(*done, strict=True)) if done else (0, 0, 0.0)
    return wrong, total / count if count else 0.0


def bucket_width(mean, degree):
    # Wider if vertices have few edges, because threads would otherwise have too little work.
    return mean / degree * (1 if degree >= CROWDED else SPARSE)


def light_first(rows, delta):
    # A vertex relaxes all of its edges at once.
    return Light(rows, None)


class HostBuckets:
    def __init__(self, light, distance, sources, delta, *, cutoff=np.inf, threads=1, shared=None):
        dtype = index_dtype(len(distance))
        self.distance = distance
        self._light, self._cutoff = light, cutoff
        self._scale = 1 / delta
        self._present = 0  # the bucket that is being emptied
        self._late = False
        self._done = np.full_like(distance, np.inf)
        self._threads: list[list[Any]] = [
            [
                np.empty((WINDOW, BLOCK), dtype),
                np.empty(WINDOW, np.int64),
                np.full(WINDOW + 2, -1, np.int64),
                np.full(WINDOW + 2, BLOCK, np.int64),
                np.array([-1, 0, NONE, 0, 0]),
            ]
            for _ in range(threads)
        ]
        self._frontier = np.array(sources, dtype)

    @property
    def counts(self):
        numbers = [thread[4] for thread in self._threads]
        return {
            "edges": sum(int(n[EDGES]) for n in numbers),
            "vertices": sum(int(n[RELAXED]) for n in numbers),
        }

    @property
    def late(self):
        self._late &= self._lowest() <= self._present
        return self._late

    def relax(self, low, most):
        lowest = self._lowest()
        if lowest == NONE or not (
            self._position(lowest) <= low
            or (self.counts["edges"] < most and self._waiting(lowest) <= SMALL_BUCKET)
        ):
            return False
        rows = self._light.rows
        frontier = in_order(rows, self._take(lowest))
        threads = self._threads if len(frontier) > MINI_CHUNK else self._threads[:1]
        ranges = even_turns(len(frontier), len(threads))
        owned = np.minimum(frontier, len(rows.offsets) - 2)  # mirrors have no rows, and come last
        for read, now in portions(rows, owned, ranges):
            # A thread would read the rows of its own vertices one by one from disk.
            fused = FUSED if read is rows else 0
            given = read[:3], self._search(), frontier, fused, now

            def work(part: int, given: Any = given) -> None:
                threads[part][:2] = _relax(*given, part, *threads[part])

            share(work, len(threads), len(threads))
        return True

    def lowest(self):
        return self._position(self._lowest())

    def offer(self, vertices, values):
        thread = self._threads[0]
        *thread[:2], nearest = _offer(vertices, values, self._search(), *thread)
        self._late |= nearest < self._present

    def lowest_of(self, distances):
        if not len(distances):
            return np.inf
        return self._position(_bucket(distances.min(), self._scale))

    def take_mirrors(self):
        reached = sorted_unique(self._emptied(AWAY))
        return reached - (self._light.rows.offsets.size - 1), self.distance[reached]

    def _search(self) -> tuple[np.ndarray, np.ndarray, tuple[float, int, float]]:
        return self.distance, self._done, (self._scale, self._present, self._cutoff)

    def _position(self, bucket: int) -> float:
        # Slightly lower, because rounding can put a distance into the next bucket.
        return np.inf if bucket == NONE else bucket / self._scale * (1 - 2.0**-50)

    def _lowest(self) -> int:
        if len(self._frontier):
            return 0
        low = min(_lowest(thread[2], self._present) for thread in self._threads)
        return int(min(low, *(thread[4][FAR] for thread in self._threads)))

    def _waiting(self, bucket: int) -> int:
        """Return how many vertices wait in a bucket of the window, including duplicates."""
        return sum(_size(*thread[1:4], bucket & (WINDOW - 1)) for thread in self._threads)

    def _take(self, bucket: int) -> np.ndarray:
        """Return the vertices of the lowest bucket, including duplicates. It can be empty."""
        frontier, self._frontier = self._frontier, self._frontier[:0]
        if len(frontier):
            return frontier
        self._present = bucket
        for thread in self._threads:
            if thread[4][FAR] <= bucket:
                # Some of these vertices may have come nearer and been relaxed in the meantime.
                thread[:2] = _spread(self._search(), *thread)
        return self._emptied(bucket & (WINDOW - 1))

    def _emptied(self, slot: int) -> np.ndarray:
        count = sum(_size(*thread[1:4], slot) for thread in self._threads)
        vertices = np.empty(count, self._frontier.dtype)
        at = 0
        for thread in self._threads:
            at = _take_all(*thread, slot, vertices, at)
        return vertices


@_compiled
def _nearer(rows, names, distance, predecessor, ranges, part):
    """Offer each vertex as predecessor to the farther vertices that come next on shortest paths.

    Return whether such a path has an edge between two vertices at the same distance.
    """
    offsets, ends, weights = rows
    level = False
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for vertex in range(np.uint64(start), np.uint64(stop)):
            here = distance[vertex]
            if here == np.inf:
                continue
            name = names[vertex] if names.size else predecessor.dtype.type(vertex)
            for k in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + np.uint64(1)])):
                far = np.uint64(ends[k])
                there = distance[far]
                if here + weights[k] == there:
                    if here == there:
                        level = level or far != vertex
                    elif name < predecessor[far]:
                        fetch_min(predecessor, np.intp(far), name)
        start, stop = take(ranges, part, MINI_CHUNK)
    return level


@_compiled
def _level(rows, names, distance, predecessor, settled, frontier, following):
    """Offer a frontier to unsettled vertices at the same distance; return how many were first offers."""
    offsets, ends, weights = rows
    never = np.iinfo(predecessor.dtype).max
    count = 0
    for i in range(frontier.size):
        vertex = np.uint64(frontier[i])
        here = distance[vertex]
        name = names[vertex] if names.size else predecessor.dtype.type(vertex)
        for k in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + np.uint64(1)])):
            far = np.uint64(ends[k])
            if not settled[far] and here == distance[far] and here + weights[k] == here:
                if predecessor[far] == never:
                    following[count] = far
                    count += 1
                predecessor[far] = min(predecessor[far], name)
    return count


def predecessors(rows, distance, sources, *, names=None, threads=1):
    dtype = np.dtype(index_dtype(len(distance)))
    predecessor = np.full(len(distance), np.iinfo(dtype).max, dtype)
    named = np.empty(0, dtype) if names is None else names.astype(dtype, copy=False)
    if offer_nearer(rows, named, distance, predecessor, threads=threads):
        settled = predecessor != np.iinfo(dtype).max
        settled[sources] = True
        frontier = np.flatnonzero(settled)
        while len(frontier):
            frontier = offer_level(rows, named, distance, predecessor, settled, frontier)
            settled[frontier] = True
    return predecessor


def offer_nearer(rows, names, distance, predecessor, *, threads=1):
    ranges = even_turns(len(rows.offsets) - 1, threads, rows.offsets)
    return any(run(_nearer, ranges, rows[:3], names, distance, predecessor))


def offer_level(rows, names, distance, predecessor, settled, frontier):
    following = np.empty(int((~settled).sum()), frontier.dtype)
    count = _level(rows[:3], names, distance, predecessor, settled, frontier, following)
    return following[:count]


new_buckets = HostBuckets
