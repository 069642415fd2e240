"""Shortest paths between given vertices, on the host: a thread searches for a whole pair or origin.

Each thread has arrays with one entry per vertex, and resets only the entries that a search has changed. A
length is the sum of the weights in the order of the path, so it has the same bits as in any other search.

Lower bounds come from a search against the edges. It adds up the weights of a path in the opposite order,
so its sums can differ in the last bits. Searches therefore continue to :data:`SLACK` beyond the best
length, and a vertex whose distance decreases is visited again.

A path between two vertices is searched from both ends. On roads, if there are many pairs, the distances
from and to a few landmarks are found first. By the triangle inequality, they give lower bounds for any two
vertices, which direct all searches (ALT [1]_). A search leaves out a vertex if the path through it would be
too long by these bounds, or by what the search from the other end has found [2]_.

.. [1] A. V. Goldberg, C. Harrelson, "Computing the Shortest Path: A* Search Meets Graph Theory", SODA 2005.
.. [2] W. Pijls, H. Post, "A New Bidirectional Search Algorithm with Shortened Postprocessing", European
   Journal of Operational Research 198, 2009.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
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
# Number of landmarks: searches of the whole graph, which shorten all others. The more pairs, the more
# landmarks are worth it, and each search uses the best ones.
FEW, MANY, CHOSEN = 8, 32, 4
WORTH = 64  # pairs per landmark; fewer pairs than this are searched without landmarks
APART = 16  # targets of a source that are searched one by one; it takes less time than all at once
# Mean degree below which landmarks shorten searches for several paths. In other graphs, all distances are
# nearly equal, and so are the bounds.
SPARSE = 5
UNKNOWN = np.finfo("float64").max  # a limit that excludes only what is unreachable
SLOTS, WIDTH = -1, -2  # what paths have too little room for
ERROR = 2.0**-22  # rounding error of a difference of two float32, relative to the largest
LEAST, MOST = 2.0**-100, 2.0**100  # errors of distances for which float32 has the range


@_inner
def _bound(landmarks, source, target):
    """Return a lower bound on the distance between two vertices, by the triangle inequality."""
    ahead, behind, error, chosen = landmarks
    bound = error
    for i in chosen:
        bound = max(
            bound, ahead[target, i] - ahead[source, i], behind[source, i] - behind[target, i]
        )
    return bound - error


@_inner
def _choose(landmarks, source, target):
    """Choose the landmarks that give the best lower bounds on a distance: they are near its ends."""
    ahead, behind, _, chosen = landmarks
    for k in range(len(chosen)):
        best, found = -1.0, 0
        for i in range(ahead.shape[1]):
            bound = max(
                0.0, ahead[target, i] - ahead[source, i], behind[source, i] - behind[target, i]
            )
            new = True
            for j in range(k):
                new &= chosen[j] != i
            if new and bound > best:
                best, found = bound, i
        chosen[k] = found


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
                so_far = _bound(landmarks, np.uint64(source), u)
                if so_far == np.inf:
                    continue
                if back[u] == np.inf:
                    seen[count] = u
                    count += 1
                back[u] = far
                size = offer(heap, size, far + so_far, u)
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
    _choose(landmarks, source, target)
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
def _relax(near, v, u, far, source, forth, ahead):
    """Note what an edge says about the distance of its end; return whether it is at the same distance.

    `ahead` gets the smallest vertex from which a shortest path can come among those that are nearer, and -1
    if there is none.
    """
    if far < forth[u]:
        forth[u], ahead[u] = far, v
        if far == near:
            ahead[u] = -1
    elif (
        far == forth[u] and far > near and u != source and (ahead[u] < 0 or v < np.uint64(ahead[u]))
    ):
        ahead[u] = v
    return far == near and far == forth[u]


@_inner
def _search_all(rows, source, wanted, forth, ahead, mark, seen, heap):
    """Search until the distances of all wanted vertices are final.

    Returns the number of vertices that were seen, and whether an edge leads to a vertex at the same
    distance. The vertices that are final are marked.
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
                farthest = near
        mark[v] = PLACED
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            far = near + weight_at(weights, k)
            if far < forth[u]:
                if forth[u] == np.inf:
                    seen[count] = u
                    count += 1
                size = offer(heap, size, far, u)
            if far <= forth[u] and far < np.inf:
                level |= _relax(near, v, u, far, np.uint64(source), forth, ahead)
    empty_heap(heap, size)
    return count, level


@_inner
def _two_bounds(landmarks, source, vertex, target):
    """Return lower bounds on the distances from a vertex to the target, and from the source to it."""
    ahead, behind, error, chosen = landmarks
    onward, so_far = error, error
    for i in chosen:
        up, down = ahead[vertex, i], behind[vertex, i]
        onward = max(onward, ahead[target, i] - up, down - behind[target, i])
        so_far = max(so_far, up - ahead[source, i], behind[source, i] - down)
    return onward - error, so_far - error


@_inner
def _at_least(far, onward, so_far, final, other, first, error):
    """Return a lower bound on the lengths of paths that go on to the other end from a vertex.

    They have the length `far` up to the vertex. `onward` and `so_far` are lower bounds of its distances to
    the other end and to this one. If the search from the other end has visited it, `other` is its distance.
    If not, it is behind `first`, the smallest key in the heap of that search. Bounds that differ by their
    `error` can let a vertex be visited too early, so these two can be too high by twice as much.
    """
    return far + max(onward, (other if final else first - so_far) - 2 * error)


@_inner
def _visit(rows, v, ends_, landmarks, limit, first, room, size, count):
    """Go on from a vertex in the search from the source, unless no shortest path leads there.

    `first` is the smallest key in the heap of the other search. Returns the size of the heap, the number of
    vertices that were seen, the limit, and whether an edge leads to a vertex at the same distance.
    """
    forth, ahead, mark, seen, heap, back, done = room[:7]
    (offsets, ends, weights), (start, end) = rows, ends_
    near, level = forth[v], False
    onward, so_far = _two_bounds(landmarks, start, v, end)
    if _at_least(near, onward, so_far, done[v], back[v], first, landmarks[2]) > limit:
        return size, count, limit, level
    mark[v] = PLACED
    for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
        u = np.uint64(ends[k])
        far = near + weight_at(weights, k)
        if far > forth[u] or far == np.inf:
            continue
        if far < forth[u]:
            onward, so_far = _two_bounds(landmarks, start, u, end)
            if _at_least(far, onward, so_far, done[u], back[u], first, landmarks[2]) > limit:
                continue
            if forth[u] == np.inf:
                seen[count] = u
                count += 1
            mark[u] = 0
            size = offer(heap, size, far + onward, u)
            limit = min(limit, (far + back[u]) * SLACK)
        level |= _relax(near, v, u, far, start, forth, ahead)
    return size, count, limit, level


@_inner
def _visit_back(into, v, ends_, landmarks, limit, first, room, size, count):
    """Go on from a vertex in the search from the target; see :func:`_visit`."""
    forth, _, mark, _, _, back, done, seen, heap = room
    (offsets, ends, weights), (start, end) = into, ends_
    near = back[v]
    so_far, onward = _two_bounds(landmarks, start, v, end)
    if _at_least(near, onward, so_far, mark[v] == PLACED, forth[v], first, landmarks[2]) > limit:
        return size, count, limit
    done[v] = True
    for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
        u = np.uint64(ends[k])
        far = near + weight_at(weights, k)
        if far >= back[u]:
            continue
        so_far, onward = _two_bounds(landmarks, start, u, end)
        if _at_least(far, onward, so_far, mark[u] == PLACED, forth[u], first, landmarks[2]) > limit:
            continue
        if back[u] == np.inf:
            seen[count] = u
            count += 1
        back[u], done[u] = far, False
        size = offer(heap, size, far + onward, u)
        limit = min(limit, (far + forth[u]) * SLACK)
    return size, count, limit


@_inner
def _search_between(rows, into, start, end, landmarks, room):
    """Search from both ends until all shortest paths are known; see :func:`_search_all`.

    The searches take turns, and each leaves out vertices that are too far from the other end [2]_. In the
    end, the search from the start goes on wherever a shortest path can lead, because only its sums count.
    """
    forth, ahead, mark, seen, heap, back, done, known, other = room
    ends_, count, reached, level = (start, end), 1, 1, False
    _choose(landmarks, start, end)
    forth[start], ahead[start], seen[0] = 0.0, -1, start
    back[end], known[0] = 0.0, end
    bound, _ = _two_bounds(landmarks, start, start, end)
    size, rest = offer(heap, 0, bound, start), offer(other, 0, bound, end)
    limit = 0.0 if start == end else UNKNOWN
    last = bound
    while size and rest:
        first, last = heap[0][0], other[0][0]
        # Without landmarks, keys are distances, and two of them are a lower bound.
        if max(first, last, 0.0 if len(landmarks[3]) else first + last) > limit:
            break
        if size <= rest:
            v = np.uint64(heap[1][0])
            size = take_first(heap, size)
            size, count, limit, again = _visit(
                rows, v, ends_, landmarks, limit, last, room, size, count
            )
            level |= again
        else:
            v = np.uint64(other[1][0])
            rest = take_first(other, rest)
            rest, reached, limit = _visit_back(
                into, v, ends_, landmarks, limit, first, room, rest, reached
            )
    last = other[0][0] if rest else np.inf
    empty_heap(heap, size)
    empty_heap(other, rest)
    size = 0
    for i in range(count if limit < UNKNOWN else 0):
        v = np.uint64(seen[i])
        if mark[v] != PLACED:
            size = offer(heap, size, forth[v], v)
    while size:
        v = np.uint64(heap[1][0])
        size = take_first(heap, size)
        size, count, limit, again = _visit(
            rows, v, ends_, landmarks, limit, last, room, size, count
        )
        level |= again
    for i in range(reached):
        v = np.uint64(known[i])
        back[v], done[v] = np.inf, False
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
def _search_from(rows, source, targets, wanted, lengths, counts, room):
    """Find the lengths and the numbers of vertices of the paths to distinct targets.

    If less than 1 is `wanted`, all vertices are visited. Returns the number of vertices that were seen.
    """
    forth, ahead, mark, seen, heap = room
    for target in targets:
        mark[target] = WANTED
    count, level = _search_all(rows, source, wanted, forth, ahead, mark, seen, heap)
    if level:
        _place_level(rows, source, forth, ahead, mark, seen, count, heap[1])
    _count_back(source, targets[:wanted], forth, ahead, lengths, counts)
    return count


@_compiled
def _search_pair(rows, into, source, target, landmarks, lengths, counts, room):
    """Find the length and the number of vertices of a path; see :func:`_search_from`."""
    forth, ahead, mark, seen, heap = room[:5]
    count, level = _search_between(
        rows, into, np.uint64(source), np.uint64(target[0]), landmarks, room
    )
    if level:
        _place_level(rows, source, forth, ahead, mark, seen, count, heap[1])
    _count_back(source, target, forth, ahead, lengths, counts)
    return count


@_inner
def _count_back(source, targets, forth, ahead, lengths, counts):
    for i in range(len(targets)):
        v = targets[i]
        lengths[i] = forth[v]
        counts[i] = forth[v] < np.inf
        while counts[i] and v != source:
            v = ahead[v]
            counts[i] += 1


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


def _landmarks_for(rows: Any, into: Any, sources: Any) -> tuple[Any, Any, float]:
    """Return landmarks for searches from some sources, or none if these would not save time."""
    size, pairs = len(rows.offsets) - 1, len(sources)
    if pairs >= WORTH and len(rows.ends) < SPARSE * size:
        made = _landmarks(rows, into, sources[0], min(max(pairs // WORTH, FEW), MANY))
        if LEAST < made[2] < MOST:
            return made
    return np.empty((size, 0), "float32"), np.empty((size, 0), "float32"), 0.0


def _landmarks(rows: Any, into: Any, start: int, count: int) -> tuple[Any, Any, float]:
    """Return the distances from and to some vertices that are far apart, and a bound on rounding errors.

    The tables have a row per vertex.
    """
    size = len(rows.offsets) - 1
    sides = [rows] if into is rows else [rows, into]
    room, nothing = _room(size, rows.ends.dtype), np.empty(0, np.int64)
    tables = [np.empty((size, count), "float32") for _ in sides]
    nearest, most = np.full(size, np.inf), 0.0
    for at in range(count + 1):  # the first search only finds a vertex that is far away
        for side, table in zip(sides, tables, strict=True):
            starts = np.array([start])
            seen = _search_from(side[:3], start, starts, 0, np.empty(0), nothing, room)
            distance = room[0].copy()
            _list_back(starts, nothing, nothing.astype(rows.ends.dtype), seen, room)
            reached = distance < np.inf
            most = max(most, distance[reached].max())
            if at:
                with np.errstate(over="ignore"):
                    table[:, at - 1] = distance
            if side is rows:
                nearest = np.minimum(nearest, np.where(reached, distance, -1.0))
        start = int(nearest.argmax())
    return tables[0], tables[-1], most * ERROR


def _toward(landmarks: tuple[Any, Any, float]) -> tuple[Any, ...]:
    """Return landmarks, and room for the indices of the ones that a search uses."""
    return *landmarks, np.empty(min(CHOSEN, landmarks[0].shape[1]), np.int64)


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
    begins = np.repeat(alone, counts)
    begins[first] = True
    bounds = list(itertools.pairwise([*np.flatnonzero(begins).tolist(), len(sources)]))
    landmarks = _landmarks_for(rows, into, sources[np.repeat(alone, counts)])

    def room() -> Any:
        forward = _room(size, dtype)
        back = np.full(size, np.inf), np.zeros(size, np.bool_), np.empty(size, dtype)
        heap = np.empty(size), np.empty(size, dtype), np.full(size, -1, dtype)
        return forward, (*forward, *back, heap), _toward(landmarks)

    def find(i: int, room: Any) -> Any:
        low, high = bounds[i]
        (own, both, toward), source, ends = room, sources[low], targets[low:high]
        lengths, numbers = np.empty(len(ends)), np.empty(len(ends), np.int64)
        if len(ends) == 1:
            ways = rows[:3], into[:3]
            seen = _search_pair(*ways, source, ends, toward, lengths, numbers, both)
        else:
            seen = _search_from(rows[:3], source, ends, len(ends), lengths, numbers, own)
        vertices = np.empty(numbers.sum(), dtype)
        _list_back(ends, numbers, vertices, seen, own)
        return lengths, numbers, vertices

    found = _each(find, len(bounds), room, threads)
    lengths, counts, vertices = _joined(sources, found, dtype)[1:]
    reached = counts > 0
    return FoundPaths(reached.astype(np.int64), lengths[reached], counts[reached], vertices)


def find_alternatives(rows, into, sources, targets, k, *, threads):
    size, dtype = len(rows.offsets) - 1, rows.ends.dtype
    none = np.empty(0, dtype)
    landmarks = _landmarks_for(rows, into, sources)

    def room() -> Any:
        forth, seen, mark, known, heap = _room(size, dtype)
        searching = forth, np.full(size, np.inf), mark, seen, known, heap
        return [searching, _slots(16, 256, dtype), _toward(landmarks)]

    def find(i: int, room: Any) -> Any:
        own, paths, toward = room
        ends = sources[i], targets[i], k, toward
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
