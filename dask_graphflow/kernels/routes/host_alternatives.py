"""The shortest simple paths between two vertices on the host.

Lower bounds come from a search against the edges. It adds up the weights of a path in the opposite order,
so its sums can differ in the last bits. Searches therefore continue to :data:`SLACK` beyond the best
length, and a vertex whose distance decreases is visited again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.host_atomics import weight_at
from dask_graphflow.kernels.host_heap import empty_heap, offer, take_first

from .host_landmarks import SLACK, choose_landmarks, lower_bound

# Marks of vertices. The path so far must not be crossed. Vertices that lead to the target along tight edges
# are open, until the path takes them or a walk along edges of weight 0 has tried them.
BLOCKED, OPEN, TAKEN, TRIED = 1, 2, 3, 4
SLOTS, WIDTH = -1, -2  # what paths have too little room for


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
                so_far = lower_bound(landmarks, np.uint64(source), u)
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
        other = radius - lower_bound(landmarks, np.uint64(source), v)
        back[v] = min(back[v], max(other, lower_bound(landmarks, v, np.uint64(target))))
    return count, radius


@_inner
def _left(bounds, vertex):
    """Return a lower bound on the distance from a vertex to the target."""
    back, radius, landmarks, source, target = bounds
    if back[vertex] < np.inf:
        return back[vertex]
    return max(
        radius - lower_bound(landmarks, source, vertex), lower_bound(landmarks, vertex, target)
    )


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
def find_paths(rows, into, source, target, k, landmarks, room, paths):
    """Find the k shortest simple paths (Yen); return their number, or what there is too little room for.

    The paths that have not been accepted are divided into sets: those that begin like an accepted path up
    to a vertex, and then continue otherwise than all accepted paths (Lawler). The candidates are the first
    paths of these sets, as far as they can be among the k shortest.
    """
    forth, back, mark, seen, known, heap = room
    # The slots of the accepted paths, in order, then those of the candidates. Slots have the number of
    # vertices of a path, the vertex after which it left an accepted path, and its vertices, with the
    # lengths so far.
    choose_landmarks(landmarks, source, target)
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


def path_slots(count: int, width: int, dtype: Any) -> tuple[np.ndarray, ...]:
    """Return room for a number of paths of at most `width` vertices."""
    numbers = np.arange(count), np.empty(count, np.int64), np.empty(count, np.int64)
    paths = np.empty((count, width), dtype), np.empty((count, width))
    return *numbers, np.empty(count, np.bool_), np.empty(count, dtype), *paths
