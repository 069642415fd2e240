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
ERROR = 2.0**-31  # rounding error of a difference of two distances, relative to the largest


@_inner
def _offer(heap, size, key, vertex):
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
def _take_first(heap, size):
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
def _empty(heap, size):
    """Remove all vertices from a heap."""
    for i in range(size):
        heap[2][np.uint64(heap[1][i])] = -1


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
    size = _offer(heap, 0, 0.0, np.uint64(target))
    while size:
        v = np.uint64(heap[1][0])
        if v == np.uint64(source):
            break
        size = _take_first(heap, size)
        near = back[v]
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            far = near + weight_at(weights, k)
            if far < back[u]:
                if back[u] == np.inf:
                    seen[count] = u
                    count += 1
                back[u] = far
                size = _offer(heap, size, far + _bound(landmarks, np.uint64(source), u), u)
    _empty(heap, size)
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
    size = _offer(heap, 0, length + _left(bounds, np.uint64(start)), np.uint64(start))
    while size and heap[0][0] <= limit:
        v = np.uint64(heap[1][0])
        size = _take_first(heap, size)
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
            size = _offer(heap, size, key, u)
            if u == np.uint64(target):
                limit = min(limit, far * SLACK)
    _empty(heap, size)
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
def _follow_smallest(rows, start, target, avoided, forth, mark, queue, path, reach, count):
    """Append the smallest sequence of vertices along tight edges to a path; return its new size."""
    (offsets, ends, weights), (banned, most) = rows, avoided
    v = np.uint64(start)
    while v != np.uint64(target):
        mark[v] = TAKEN
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            if mark[u] != OPEN or forth[v] + weight_at(weights, k) != forth[u]:
                continue
            if v == np.uint64(start) and _is_banned(banned, most, ends[k]):
                continue
            if forth[u] > forth[v] or _leads_on(rows, u, target, forth, mark, queue):
                v = u
                path[count], reach[count] = u, forth[u]
                count += 1
                break
    return count


@_inner
def _comes_before(length, path, count, other_length, other, other_count):
    """Return whether a path comes before another one: by length, then by the sequence of vertices."""
    if length != other_length:
        return length < other_length
    for i in range(min(count, other_count)):
        if path[i] != other[i]:
            return path[i] < other[i]
    return count < other_count


@_inner
def _extreme(paths, low, high, last):
    """Return the first or the last of some stored paths in the order of the result; -1 for none."""
    (begin, counts, _), lengths, store, _ = paths
    best = -1
    for i in range(low, high):
        if best >= 0:
            one = store[begin[i] : begin[i] + counts[i]]
            other = store[begin[best] : begin[best] + counts[best]]
            if last == _comes_before(
                lengths[i], one, counts[i], lengths[best], other, counts[best]
            ):
                continue
        best = i
    return best


@partial(_inner, allocates=True)
def _make_room(paths, used, filled, size):
    """Return the stored paths with room for one more of some size, and the number of vertices stored."""
    numbers, lengths, store, reach = paths
    if used == len(lengths):
        more, longer = np.zeros((3, 2 * used), np.int64), np.zeros(2 * used)
        more[:, :used], longer[:used] = numbers, lengths
        numbers, lengths = more, longer
    if filled + size > len(store):
        total = 2 * (numbers[1, :used].sum() + size)
        vertices, sums, filled = np.empty(total, store.dtype), np.empty(total), 0
        for i in range(used):
            begin, count = numbers[0, i], numbers[1, i]
            vertices[filled : filled + count] = store[begin : begin + count]
            sums[filled : filled + count] = reach[begin : begin + count]
            numbers[0, i] = filled
            filled += count
        store, reach = vertices, sums
    return (numbers, lengths, store, reach), filled


@_inner
def _share_beginning(paths, accepted, path, count, agrees):
    """Find out which of the accepted paths begin with the same `count` vertices as a path."""
    (begin, counts, _), _, store, _ = paths
    for j in range(accepted):
        same = counts[j] > count
        for i in range(count):
            if not same:
                break
            same = store[begin[j] + i] == path[i]
        agrees[j] = same


@partial(_compiled, allocates=True)
def _find_alternatives(rows, into, source, target, k, landmarks, room):
    """Return the lengths, the numbers of vertices, and the vertices of the k shortest simple paths (Yen).

    The paths that have not been accepted are divided into sets: those that begin like an accepted path up
    to a vertex, and then continue otherwise than all accepted paths (Lawler). The candidates are the first
    paths of these sets, as far as they can be among the k shortest.
    """
    forth, back, mark, seen, known, heap, path, reach, found, found_reach = room
    # Where each path begins, its number of vertices, and the vertex after which it left an accepted path;
    # then its length, and the vertices of all paths with the lengths so far. Accepted paths come first.
    paths = np.zeros((3, 4), np.int64), np.zeros(4), np.empty(64, path.dtype), np.empty(64)
    banned, agrees = np.empty(4, path.dtype), np.empty(4, np.bool_)
    used, accepted, filled, first, final = 0, 0, 0, 0, 1
    path[0], reach[0] = source, 0.0
    reached, radius = _search_back(into, source, target, landmarks, back, known, heap)
    bounds = back, radius, landmarks, np.uint64(source), np.uint64(target)
    while accepted < k and radius < np.inf:
        _share_beginning(paths, accepted, path, first + 1, agrees)
        for i in range(first):
            mark[np.uint64(path[i])] = BLOCKED
        for i in range(first, final):
            most, worst, bound = 0, -1, np.inf
            for j in range(accepted):
                if agrees[j]:
                    banned[most] = paths[2][paths[0][0, j] + i + 1]
                    most += 1
            if used == k:
                worst = _extreme(paths, accepted, used, True)
                bound = paths[1][worst]
            start, avoided = path[i], (banned, most)
            count = _search_on(
                rows, start, reach[i], target, bound, avoided, bounds, forth, mark, seen, heap
            )
            if forth[target] < np.inf:
                for at in range(i + 1):
                    found[at], found_reach[at] = path[at], reach[at]
                _open_tight(into, target, forth, mark, heap[1])
                size = _follow_smallest(
                    rows, start, target, avoided, forth, mark, heap[1], found, found_reach, i + 1
                )
                length, slot = forth[target], used
                if worst >= 0:
                    begin, others = paths[0][0, worst], paths[0][1, worst]
                    other = paths[2][begin : begin + others]
                    slot = -1
                    if _comes_before(length, found, size, bound, other, others):
                        slot = worst
                if slot >= 0:
                    paths, filled = _make_room(paths, used, filled, size)
                    used = max(used, slot + 1)
                    paths[0][0, slot], paths[0][1, slot], paths[0][2, slot] = filled, size, i
                    paths[1][slot] = length
                    for at in range(size):
                        paths[2][filled + at], paths[3][filled + at] = found[at], found_reach[at]
                    filled += size
            for at in range(count):
                v = np.uint64(seen[at])
                forth[v], mark[v] = np.inf, 0
            mark[np.uint64(start)] = BLOCKED
            for j in range(accepted):
                if agrees[j]:
                    agrees[j] = paths[2][paths[0][0, j] + i + 1] == path[i + 1]
        for i in range(final):
            mark[np.uint64(path[i])] = 0
        best = _extreme(paths, accepted, used, False)
        if best < 0:
            break
        for row in range(3):
            numbers = paths[0][row]
            numbers[accepted], numbers[best] = numbers[best], numbers[accepted]
        lengths = paths[1]
        lengths[accepted], lengths[best] = lengths[best], lengths[accepted]
        begin, size, first = paths[0][0, accepted], paths[0][1, accepted], paths[0][2, accepted]
        for at in range(size):
            path[at], reach[at] = paths[2][begin + at], paths[3][begin + at]
        final = size - 1
        accepted += 1
        if accepted > len(agrees) - 1:
            banned, agrees = np.empty(2 * accepted, path.dtype), np.empty(2 * accepted, np.bool_)
    for at in range(reached):
        back[np.uint64(known[at])] = np.inf
    counts = paths[0][1, :accepted].copy()
    vertices, filled = np.empty(counts.sum(), path.dtype), 0
    for j in range(accepted):
        for at in range(counts[j]):
            vertices[filled + at] = paths[2][paths[0][0, j] + at]
        filled += counts[j]
    return paths[1][:accepted].copy(), counts, vertices


@_inner
def _search_all(rows, source, targets, wanted, landmarks, forth, ahead, mark, seen, heap):
    """Search until the distances of all wanted vertices are final, toward a single target with landmarks.

    `ahead` gets the smallest vertex from which a shortest path can come among those that are nearer, and -1
    if there is none. Returns the number of vertices that were seen, and whether an edge leads to a vertex
    at the same distance. The vertices that are final are marked.
    """
    offsets, ends, weights = rows
    forth[source], ahead[source], seen[0], count = 0.0, -1, source, 1
    size, farthest, level = _offer(heap, 0, 0.0, np.uint64(source)), np.inf, False
    while size and heap[0][0] <= farthest:
        v = np.uint64(heap[1][0])
        near = forth[v]
        size = _take_first(heap, size)
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
                size = _offer(heap, size, far + _bound(landmarks, u, np.uint64(targets[0])), u)
                if far == near:
                    ahead[u], level = -1, True
            elif far == forth[u] and far < np.inf:
                if far == near:
                    level = True
                elif (ahead[u] < 0 or v < np.uint64(ahead[u])) and u != np.uint64(source):
                    ahead[u] = v
    _empty(heap, size)
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
def _measure(rows, source, landmarks, column, room):
    """Write the distances from a source to a column of a table."""
    forth, ahead, mark, seen, heap = room
    count, _ = _search_all(rows, source, seen[:1], 0, landmarks, forth, ahead, mark, seen, heap)
    column[:] = np.inf
    for i in range(count):
        v = np.uint64(seen[i])
        column[v] = forth[v]
        forth[v], mark[v] = np.inf, 0


@partial(_compiled, allocates=True)
def _find_from(rows, source, targets, landmarks, room):
    """Return the lengths, the numbers of vertices, and the vertices of the paths to distinct targets."""
    forth, ahead, mark, seen, heap = room
    for target in targets:
        mark[target] = WANTED
    count, level = _search_all(
        rows, source, targets, len(targets), landmarks, forth, ahead, mark, seen, heap
    )
    if level:
        _place_level(rows, source, forth, ahead, mark, seen, count, heap[1])
    lengths, counts = np.empty(len(targets)), np.zeros(len(targets), np.int64)
    for i in range(len(targets)):
        v = targets[i]
        lengths[i] = forth[v]
        if forth[v] < np.inf:
            counts[i] = 1
            while v != source:
                v = ahead[v]
                counts[i] += 1
    vertices, end = np.empty(counts.sum(), ahead.dtype), 0
    for i in range(len(targets)):
        v = targets[i]
        end += counts[i]
        for at in range(counts[i]):
            vertices[end - 1 - at] = v
            v = ahead[v]
        mark[targets[i]] = 0
    for i in range(count):
        v = np.uint64(seen[i])
        forth[v], mark[v] = np.inf, 0
    return lengths, counts, vertices


def _room(size: int, dtype: Any) -> tuple[Any, ...]:
    """Return the arrays of a thread that searches ahead."""
    heap = np.empty(size), np.empty(size, dtype), np.full(size, -1, dtype)
    arrays = np.full(size, np.inf), np.empty(size, dtype), np.zeros(size, np.uint8)
    return *arrays, np.empty(size, dtype), heap


def _no_landmarks(size: int) -> tuple[Any, Any, float]:
    return np.empty((size, 0)), np.empty((size, 0)), 0.0


def _landmarks(rows: Any, into: Any, start: int) -> tuple[Any, Any, float]:
    """Return the distances from and to some vertices that are far apart, and a bound on rounding errors.

    The tables have a row per vertex.
    """
    size = len(rows.offsets) - 1
    sides = [rows] if into is rows else [rows, into]
    none, room = _no_landmarks(size), _room(size, rows.ends.dtype)
    tables = [np.empty((size, LANDMARKS)) for _ in sides]
    column, nearest, most = np.empty(size), np.full(size, np.inf), 0.0
    for at in range(LANDMARKS + 1):  # the first search only finds a vertex that is far away
        for side, table in zip(sides, tables, strict=True):
            _measure(side[:3], start, none, column, room)
            reached = column < np.inf
            if at:
                table[:, at - 1] = column
                most = max(most, column[reached].max())
            if side is rows:
                nearest = np.minimum(nearest, np.where(reached, column, -1.0))
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
        return _find_from(rows[:3], sources[low], targets[low:high], toward, room)

    found = _each(find, len(bounds), partial(_room, size, dtype), threads)
    lengths, counts, vertices = _joined(sources, found, dtype)[1:]
    reached = counts > 0
    return FoundPaths(reached.astype(np.int64), lengths[reached], counts[reached], vertices)


def find_alternatives(rows, into, sources, targets, k, *, threads):
    size, dtype = len(rows.offsets) - 1, rows.ends.dtype
    many = len(sources) >= WORTH
    landmarks = _landmarks(rows, into, sources[0]) if many else _no_landmarks(size)

    def room() -> Any:
        forth, seen, mark, known, heap = _room(size, dtype)
        paths = np.empty(size, dtype), np.empty(size), np.empty(size, dtype), np.empty(size)
        return forth, np.full(size, np.inf), mark, seen, known, heap, *paths

    def find(i: int, room: Any) -> Any:
        return _find_alternatives(rows[:3], into[:3], sources[i], targets[i], k, landmarks, room)

    found = _each(find, len(sources), room, threads)
    paths = np.array([len(lengths) for lengths, *_ in found], np.int64)
    return _joined(paths, found, dtype)
