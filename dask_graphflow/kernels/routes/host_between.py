"""The shortest path between two vertices on the host, searched from both ends.

A search leaves out a vertex if the path through it would be too long by the bounds of landmarks, or by what
the search from the other end has found [1]_. The search from the target adds up the weights of a path in
the opposite order, so its sums can differ in the last bits. Searches therefore continue to :data:`SLACK`
beyond the best length, and a vertex whose distance decreases is visited again.

.. [1] W. Pijls, H. Post, "A New Bidirectional Search Algorithm with Shortened Postprocessing", European
   Journal of Operational Research 198, 2009.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.host_atomics import weight_at
from dask_graphflow.kernels.host_heap import empty_heap, offer, take_first

from .host_distances import PLACED, count_back, place_level, relax
from .host_landmarks import SLACK, choose_landmarks, two_bounds

UNKNOWN = np.finfo("float64").max  # a limit that excludes only what is unreachable


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
    onward, so_far = two_bounds(landmarks, start, v, end)
    if _at_least(near, onward, so_far, done[v], back[v], first, landmarks[2]) > limit:
        return size, count, limit, level
    mark[v] = PLACED
    for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
        u = np.uint64(ends[k])
        far = near + weight_at(weights, k)
        if far > forth[u] or far == np.inf:
            continue
        if far < forth[u]:
            onward, so_far = two_bounds(landmarks, start, u, end)
            if _at_least(far, onward, so_far, done[u], back[u], first, landmarks[2]) > limit:
                continue
            if forth[u] == np.inf:
                seen[count] = u
                count += 1
            mark[u] = 0
            size = offer(heap, size, far + onward, u)
            limit = min(limit, (far + back[u]) * SLACK)
        level |= relax(near, v, u, far, start, forth, ahead)
    return size, count, limit, level


@_inner
def _visit_back(into, v, ends_, landmarks, limit, first, room, size, count):
    """Go on from a vertex in the search from the target; see :func:`_visit`."""
    forth, _, mark, _, _, back, done, seen, heap = room
    (offsets, ends, weights), (start, end) = into, ends_
    near = back[v]
    so_far, onward = two_bounds(landmarks, start, v, end)
    if _at_least(near, onward, so_far, mark[v] == PLACED, forth[v], first, landmarks[2]) > limit:
        return size, count, limit
    done[v] = True
    for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
        u = np.uint64(ends[k])
        far = near + weight_at(weights, k)
        if far >= back[u]:
            continue
        so_far, onward = two_bounds(landmarks, start, u, end)
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

    The searches take turns, and each leaves out vertices that are too far from the other end [1]_. In the
    end, the search from the start goes on wherever a shortest path can lead, because only its sums count.
    """
    forth, ahead, mark, seen, heap, back, done, known, other = room
    ends_, count, reached, level = (start, end), 1, 1, False
    choose_landmarks(landmarks, start, end)
    forth[start], ahead[start], seen[0] = 0.0, -1, start
    back[end], known[0] = 0.0, end
    bound, _ = two_bounds(landmarks, start, start, end)
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


@_compiled
def search_pair(rows, into, source, target, landmarks, lengths, counts, room):
    """Find the length and the number of vertices of a path; see :func:`search_from`."""
    forth, ahead, mark, seen, heap = room[:5]
    count, level = _search_between(
        rows, into, np.uint64(source), np.uint64(target[0]), landmarks, room
    )
    if level:
        place_level(rows, source, forth, ahead, mark, seen, count, heap[1])
    count_back(source, target, forth, ahead, lengths, counts)
    return count
