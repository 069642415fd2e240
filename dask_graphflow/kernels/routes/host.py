"""Shortest paths between given vertices, on the host: a thread searches for a whole pair or origin.

Each thread has arrays with one entry per vertex, and resets only the entries that a search has changed. A
length is the sum of the weights in the order of the path, so it has the same bits as in any other search.

Lower bounds come from a search against the edges. It adds up the weights of a path in the opposite order,
so its sums can differ in the last bits. Searches therefore continue to :data:`SLACK` beyond the best
length, and a vertex whose distance decreases is visited again.

If there are many pairs, the distances from and to a few landmarks are found first. By the triangle
inequality, they give lower bounds for any two vertices, which direct all searches (ALT [1]_).

.. [1] A. V. Goldberg, C. Harrelson, "Computing the Shortest Path: A* Search Meets Graph Theory", SODA 2005.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.host_atomics import weight_at
from dask_graphflow.kernels.host_heap import empty_heap, offer, take_first
from dask_graphflow.kernels.host_threads import share

from . import FoundPaths

SLACK = 1 + 2.0**-30  # more than the rounding errors of a path with a million edges
# Marks of vertices. The path so far must not be crossed. Vertices that lead to the target along tight edges
# are open, until the path takes them or a walk along edges of weight 0 has tried them.
BLOCKED, OPEN, TAKEN, TRIED = 1, 2, 3, 4
WANTED, PLACED, NEXT = 1, 2, 3
LANDMARKS = 8  # searches of the whole graph, which shorten all others
WORTH = 64  # searches from which on they save more time than they take
APART = 4  # targets of a source that are searched one by one, because that takes less time than all at once
# Mean degree below which landmarks shorten searches for several paths. In other graphs, all distances are
# nearly equal, and so are the bounds.
SPARSE = 5
SLOTS, WIDTH = -1, -2  # what paths have too little room for
ERROR = 2.0**-31  # rounding error of a difference of two distances, relative to the largest


@_inner
def _bound(landmarks, source, target):
    """Return a lower bound on the distance between two vertices, by the triangle inequality."""
    ahead, behind, error = landmarks
    bound = error
    for i in range(ahead.shape[1]):
        bound = max(
            bound, ahead[target, i] - ahead[source, i], behind[source, i] - behind[target, i]
        )
    return bound - error


@_inner
def _search_back(into, source, target, landmarks, back, seen, heap):
    """Find lower bounds on the distances to the target; return the number of vertices that have one.

    They are the distances of the vertices that the search has visited when it reaches the source.
    """
    offsets, ends, weights = into
    back[target], seen[0], count = 0.0, target, 1
    size = offer(heap, 0, 0.0, np.uint64(target))
    while size:
        v = np.uint64(heap[1][0])
        if v == np.uint64(source):
            break
        size = take_first(heap, size)
        near = back[v]
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            far = near + weight_at(weights, k)
            if far < back[u]:
                if back[u] == np.inf:
                    seen[count] = u
                    count += 1
                back[u] = far
                size = offer(heap, size, far + _bound(landmarks, np.uint64(source), u), u)
    empty_heap(heap, size)
    radius = back[source] - landmarks[2]
    for i in range(count):
        v = np.uint64(seen[i])
        other = radius - _bound(landmarks, np.uint64(source), v)
        back[v] = min(back[v], max(other, _bound(landmarks, v, np.uint64(target))))
    return count, radius


@_inner
def _left(bounds, vertex):
    """Return a lower bound on the distance from a vertex to the target."""
    back, radius, landmarks, source, target = bounds
    if back[vertex] < np.inf:
        return back[vertex]
    return max(radius - _bound(landmarks, source, vertex), _bound(landmarks, vertex, target))


@_inner
def _is_banned(banned, count, vertex):
    found = False
    for i in range(count):
        found |= banned[i] == vertex
    return found


@_inner
def _search_on(rows, start, length, target, bound, avoided, bounds, forth, mark, seen, heap):
    """Find the length of the shortest path that continues one of some length, if it is at most a bound.

    `avoided` are the vertices that may not follow the start, and their number. Blocked vertices are avoided
    too. Returns the number of vertices that were seen, which have a value in `forth`.
    """
    (offsets, ends, weights), (banned, most) = rows, avoided
    forth[start], seen[0], count = length, start, 1
    limit = bound * SLACK
    size = offer(heap, 0, length + _left(bounds, np.uint64(start)), np.uint64(start))
    while size and heap[0][0] <= limit:
        v = np.uint64(heap[1][0])
        size = take_first(heap, size)
        if v == np.uint64(target):
            continue
        near = forth[v]
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            far = near + weight_at(weights, k)
            if far >= forth[u] or mark[u] == BLOCKED:
                continue
            key = far + _left(bounds, u)
            if key > limit or (v == np.uint64(start) and _is_banned(banned, most, ends[k])):
                continue
            if forth[u] == np.inf:
                seen[count] = u
                count += 1
            forth[u] = far
            size = offer(heap, size, key, u)
            if u == np.uint64(target):
                limit = min(limit, far * SLACK)
    empty_heap(heap, size)
    return count


@_inner
def _open_tight(into, target, forth, mark, queue):
    """Mark the vertices from which tight edges lead to the target."""
    offsets, ends, weights = into
    mark[target], queue[0], at, tail = OPEN, target, 0, 1
    while at < tail:
        v = np.uint64(queue[at])
        at += 1
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            if not mark[u] and forth[u] < np.inf and forth[u] + weight_at(weights, k) == forth[v]:
                mark[u], queue[tail] = OPEN, u
                tail += 1


@_inner
def _leads_on(rows, start, target, forth, mark, queue):
    """Return whether tight edges lead from an open vertex to the target without the path so far.

    Only vertices at the same distance can be on the path so far.
    """
    offsets, ends, weights = rows
    queue[0], at, tail, leads = start, 0, 1, False
    mark[start] = TRIED
    while at < tail and not leads:
        v = np.uint64(queue[at])
        at += 1
        leads = v == np.uint64(target)
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            if mark[u] == OPEN and forth[v] + weight_at(weights, k) == forth[u]:
                if forth[u] > forth[v]:
                    leads = True
                    break
                mark[u], queue[tail] = TRIED, u
                tail += 1
    for i in range(tail):
        mark[np.uint64(queue[i])] = OPEN
    return leads


@_inner
def _follow_smallest(rows, start, target, avoided, forth, mark, queue, store, sums, slot, count):
    """Append the smallest sequence of vertices along tight edges to a path.

    Returns its new number of vertices, or 0 if there is no room for them.
    """
    (offsets, ends, weights), (banned, most) = rows, avoided
    v = np.uint64(start)
    while v != np.uint64(target):
        if count == store.shape[1]:
            return 0
        mark[v] = TAKEN
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            if mark[u] != OPEN or forth[v] + weight_at(weights, k) != forth[u]:
                continue
            if v == np.uint64(start) and _is_banned(banned, most, ends[k]):
                continue
            if forth[u] > forth[v] or _leads_on(rows, u, target, forth, mark, queue):
                v = u
                store[slot, count], sums[slot, count] = u, forth[u]
                count += 1
                break
    return count


@_inner
def _comes_before(counts, store, sums, one, other):
    """Return whether a path comes before another one: by length, then by the sequence of vertices."""
    last, other_last = counts[one] - 1, counts[other] - 1
    if sums[one, last] != sums[other, other_last]:
        return sums[one, last] < sums[other, other_last]
    i = 0
    while i < min(last, other_last) and store[one, i] == store[other, i]:
        i += 1
    return store[one, i] < store[other, i]


@_compiled
def _find_alternatives(rows, into, source, target, k, landmarks, room, paths):
    """Find the k shortest simple paths (Yen); return their number, or what there is too little room for.

    The paths that have not been accepted are divided into sets: those that begin like an accepted path up
    to a vertex, and then continue otherwise than all accepted paths (Lawler). The candidates are the first
    paths of these sets, as far as they can be among the k shortest.
    """
    forth, back, mark, seen, known, heap = room
    # The slots of the accepted paths, in order, then those of the candidates. Slots have the number of
    # vertices of a path, the vertex after which it left an accepted path, and its vertices, with the
    # lengths so far.
    order, counts, leaves, agrees, banned, store, sums = paths
    reached, radius = _search_back(into, source, target, landmarks, back, known, heap)
    bounds = back, radius, landmarks, np.uint64(source), np.uint64(target)
    base, used, accepted, first, final, lacks = order[0], 0, 0, 0, 1, 0
    store[base, 0], sums[base, 0] = source, 0.0
    while accepted < k and radius < np.inf and not lacks:
        for j in range(accepted):
            i = 0
            while i <= first and store[order[j], i] == store[base, i]:
                i += 1
            agrees[j] = i > first
        for i in range(first):
            mark[np.uint64(store[base, i])] = BLOCKED
        for i in range(first, final):
            most, start = 0, store[base, i]
            for j in range(accepted):
                if agrees[j]:
                    banned[most] = store[order[j], i + 1]
                    most += 1
            spare, worst, bound = order[used], accepted, np.inf
            if used == k:
                for j in range(accepted + 1, used):
                    if _comes_before(counts, store, sums, order[worst], order[j]):
                        worst = j
                bound = sums[order[worst], counts[order[worst]] - 1]
            avoided, length = (banned, most), sums[base, i]
            count = _search_on(
                rows, start, length, target, bound, avoided, bounds, forth, mark, seen, heap
            )
            if forth[target] < np.inf:
                for at in range(i + 1):
                    store[spare, at], sums[spare, at] = store[base, at], sums[base, at]
                queue = heap[1]
                _open_tight(into, target, forth, mark, queue)
                counts[spare] = _follow_smallest(
                    rows, start, target, avoided, forth, mark, queue, store, sums, spare, i + 1
                )
                leaves[spare] = i
                if counts[spare] == 0:
                    lacks = WIDTH
                elif used < k:
                    used += 1
                    if used == len(order):
                        lacks = SLOTS
                elif _comes_before(counts, store, sums, spare, order[worst]):
                    order[used], order[worst] = order[worst], spare
            for at in range(count):
                v = np.uint64(seen[at])
                forth[v], mark[v] = np.inf, 0
            mark[np.uint64(start)] = BLOCKED
            if lacks:
                break
            for j in range(accepted):
                if agrees[j]:
                    agrees[j] = store[order[j], i + 1] == store[base, i + 1]
        for i in range(final):
            mark[np.uint64(store[base, i])] = 0
        if lacks or used == accepted:
            break
        best = accepted
        for j in range(accepted + 1, used):
            if _comes_before(counts, store, sums, order[j], order[best]):
                best = j
        base = order[best]
        order[best] = order[accepted]
        order[accepted] = base
        first, final = leaves[base], counts[base] - 1
        accepted += 1
    for i in range(reached):
        back[np.uint64(known[i])] = np.inf
    return lacks if lacks else accepted


@_inner
def _search_all(rows, source, targets, wanted, landmarks, forth, ahead, mark, seen, heap):
    """Search until the distances of all wanted vertices are final, toward a single target with landmarks.

    `ahead` gets the smallest vertex from which a shortest path can come among those that are nearer, and -1
    if there is none. Returns the number of vertices that were seen, and whether an edge leads to a vertex
    at the same distance. The vertices that are final are marked.
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
                farthest = near * SLACK + landmarks[2]
        mark[v] = PLACED
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            far = near + weight_at(weights, k)
            if far < forth[u]:
                if forth[u] == np.inf:
                    seen[count] = u
                    count += 1
                forth[u], ahead[u] = far, v
                size = offer(heap, size, far + _bound(landmarks, u, np.uint64(targets[0])), u)
                if far == near:
                    ahead[u], level = -1, True
            elif far == forth[u] and far < np.inf:
                if far == near:
                    level = True
                elif (ahead[u] < 0 or v < np.uint64(ahead[u])) and u != np.uint64(source):
                    ahead[u] = v
    empty_heap(heap, size)
    return count, level


@_inner
def _place_level(rows, source, forth, ahead, mark, seen, count, queue):
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
def _search_from(rows, source, targets, wanted, landmarks, lengths, counts, room):
    """Find the lengths and the numbers of vertices of the paths to distinct targets.

    If less than 1 is `wanted`, all vertices are visited. Returns the number of vertices that were seen.
    """
    forth, ahead, mark, seen, heap = room
    for target in targets:
        mark[target] = WANTED
    count, level = _search_all(
        rows, source, targets, wanted, landmarks, forth, ahead, mark, seen, heap
    )
    if level:
        _place_level(rows, source, forth, ahead, mark, seen, count, heap[1])
    for i in range(wanted):
        v = targets[i]
        lengths[i] = forth[v]
        counts[i] = forth[v] < np.inf
        while counts[i] and v != source:
            v = ahead[v]
            counts[i] += 1
    return count


@_compiled
def _list_back(targets, counts, vertices, seen_count, room):
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


def _room(size: int, dtype: Any) -> tuple[Any, ...]:
    """Return the arrays of a thread that searches ahead."""
    heap = np.empty(size), np.empty(size, dtype), np.full(size, -1, dtype)
    arrays = np.full(size, np.inf), np.empty(size, dtype), np.zeros(size, np.uint8)
    return *arrays, np.empty(size, dtype), heap


def _slots(count: int, width: int, dtype: Any) -> tuple[np.ndarray, ...]:
    """Return room for a number of paths of at most `width` vertices."""
    numbers = np.arange(count), np.empty(count, np.int64), np.empty(count, np.int64)
    paths = np.empty((count, width), dtype), np.empty((count, width))
    return *numbers, np.empty(count, np.bool_), np.empty(count, dtype), *paths


def _no_landmarks(size: int) -> tuple[Any, Any, float]:
    return np.empty((size, 0)), np.empty((size, 0)), 0.0


def _landmarks(rows: Any, into: Any, start: int) -> tuple[Any, Any, float]:
    """Return the distances from and to some vertices that are far apart, and a bound on rounding errors.

    The tables have a row per vertex.
    """
    size = len(rows.offsets) - 1
    sides = [rows] if into is rows else [rows, into]
    none, room = _no_landmarks(size), _room(size, rows.ends.dtype)
    tables, nothing = [np.empty((size, LANDMARKS)) for _ in sides], np.empty(0, np.int64)
    nearest, most = np.full(size, np.inf), 0.0
    for at in range(LANDMARKS + 1):  # the first search only finds a vertex that is far away
        for side, table in zip(sides, tables, strict=True):
            starts = np.array([start])
            count = _search_from(side[:3], start, starts, 0, none, np.empty(0), nothing, room)
            distance = room[0].copy()
            _list_back(starts, nothing, nothing.astype(rows.ends.dtype), count, room)
            reached = distance < np.inf
            if at:
                table[:, at - 1] = distance
                most = max(most, distance[reached].max())
            if side is rows:
                nearest = np.minimum(nearest, np.where(reached, distance, -1.0))
        start = int(nearest.argmax())
    return tables[0], tables[-1], most * ERROR


def _each(
    find: Callable[[int, Any], Any], count: int, room: Callable[[], Any], threads: int
) -> Any:
    """Call ``find(i, room)`` for each of `count` items, with a room per thread; return the results."""
    found: list[Any] = [None] * count
    tickets = itertools.count()  # next(tickets) is atomic

    def work(_: int) -> None:
        own = room()
        while (i := next(tickets)) < count:
            found[i] = find(i, own)

    parts = min(threads, count)
    share(work, parts, parts)
    return found


def _joined(paths: np.ndarray, found: list[Any], dtype: Any) -> FoundPaths:
    none = np.empty(0), np.empty(0, np.int64), np.empty(0, dtype)
    return FoundPaths(paths, *map(np.concatenate, zip(none, *found, strict=True)))


def find_shortest(rows, into, sources, targets, *, threads):
    size, dtype = len(rows.offsets) - 1, rows.ends.dtype
    first = np.flatnonzero(np.diff(sources, prepend=-1))
    counts = np.diff(np.append(first, len(sources)))
    alone = counts <= APART  # targets that are searched one by one
    landmarks = none = _no_landmarks(size)
    if into is not None and counts[alone].sum() >= WORTH:
        landmarks = _landmarks(rows, into, sources[0])
        begins = np.ones(len(sources), bool)
        begins[np.repeat(~alone, counts)] = False
        begins[first] = True
        first = np.flatnonzero(begins)
    bounds = list(itertools.pairwise([*first.tolist(), len(sources)]))

    def find(i: int, room: Any) -> Any:
        low, high = bounds[i]
        toward = landmarks if high - low == 1 else none
        ends, count = targets[low:high], high - low
        lengths, numbers = np.empty(count), np.empty(count, np.int64)
        seen = _search_from(rows[:3], sources[low], ends, count, toward, lengths, numbers, room)
        vertices = np.empty(numbers.sum(), dtype)
        _list_back(ends, numbers, vertices, seen, room)
        return lengths, numbers, vertices

    found = _each(find, len(bounds), partial(_room, size, dtype), threads)
    lengths, counts, vertices = _joined(sources, found, dtype)[1:]
    reached = counts > 0
    return FoundPaths(reached.astype(np.int64), lengths[reached], counts[reached], vertices)


def find_alternatives(rows, into, sources, targets, k, *, threads):
    size, dtype = len(rows.offsets) - 1, rows.ends.dtype
    none = np.empty(0, dtype)
    many = len(sources) >= WORTH and len(rows.ends) < SPARSE * size
    landmarks = _landmarks(rows, into, sources[0]) if many else _no_landmarks(size)

    def room() -> Any:
        forth, seen, mark, known, heap = _room(size, dtype)
        searching = forth, np.full(size, np.inf), mark, seen, known, heap
        return [searching, _slots(16, 256, dtype)]

    def find(i: int, room: Any) -> Any:
        own, paths = room
        ends = sources[i], targets[i], k, landmarks
        while (count := _find_alternatives(rows[:3], into[:3], *ends, own, paths)) < 0:
            more, wider = (2 if count == lack else 1 for lack in (SLOTS, WIDTH))
            slots, width = paths[-1].shape
            room[1] = paths = _slots(more * slots, wider * width, dtype)
        order, counts, *_, store, sums = paths
        each = [(slot, counts[slot]) for slot in order[:count].tolist()]
        lengths = [sums[slot, number - 1] for slot, number in each]
        vertices = [store[slot, :number] for slot, number in each]
        numbers = np.array([number for _, number in each], np.int64)
        return np.array(lengths), numbers, np.concatenate([none, *vertices])

    found = _each(find, len(sources), room, threads)
    paths = np.array([len(lengths) for lengths, *_ in found], np.int64)
    return _joined(paths, found, dtype)
