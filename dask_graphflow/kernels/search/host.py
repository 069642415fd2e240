"""Breadth-first search on the host: one level by push or by pull, with the smallest predecessor.

The loops of :mod:`.advance.host` can find the levels too, but take twice the time and find no predecessors.
The loops in this module differ as follows:

- Seen vertices are stored in a bitmap, so a pull skips 64 of them with one comparison.
- A pull prefetches the rows of 64 vertices before it reads the first one, which hides memory latency.
- A push finds the smallest predecessor of a vertex with an atomic minimum. Its result shows whether the
  vertex is new.

The first vertex of the rows is a multiple of 64, so each word of a bitmap belongs to one thread. The ends
in a row are in ascending order, so the first hit is the smallest. Bitmaps cover all vertices. Vertices
without edges can be marked as seen in advance.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.advance.host import BATCH, gather_degrees, tally
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.host_atomics import (
    fetch_add,
    fetch_min,
    fetch_or,
    prefetch,
    trailing_zeros,
)
from dask_graphflow.kernels.host_threads import (
    MINI_CHUNK,
    even_turns,
    frontier_turns,
    put,
    run,
    take,
    turns,
    worth,
)
from dask_graphflow.kernels.read_ahead import in_order, portions, reading

# Maximum edges that leave a small frontier: 10 us of work, less than it takes to distribute it to threads.
SMALL_FRONTIER = 1 << 12
SPAN = 1 << 12  # maximum number of levels before `bfs_near` returns to the caller
UNSEEN = -1  # the level of a vertex that was not reached


@_compiled
def _pull(rows, frontier, following, reached, depth, ranges, part):
    (offsets, ends, _, first), (seen, predecessor, level) = rows, reached
    one, six, low = np.uint64(1), np.uint64(6), np.uint64(63)
    size = np.uint64(offsets.size - 1)
    at, stops, bits = np.empty(64, np.uint64), np.empty(64, np.uint64), np.empty(64, np.uint64)
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        base = np.uint64(first + start)
        word = base >> six
        todo = ~seen[word]
        if np.uint64(start) + np.uint64(64) > size:
            todo &= (one << (size - np.uint64(start))) - one
        waiting = np.uint64(0)
        while todo:
            bit = trailing_zeros(todo)
            todo &= todo - one
            row = np.uint64(start) + bit
            at[waiting], stops[waiting], bits[waiting] = offsets[row], offsets[row + one], bit
            prefetch(ends, np.intp(at[waiting]))
            waiting += one
        hits = np.uint64(0)
        for i in range(waiting):
            k, end, bit = at[i], stops[i], bits[i]
            while k < end:
                near = np.uint64(ends[k])
                if (frontier[near >> six] >> (near & low)) & one:
                    predecessor[base + bit] = np.int64(near)
                    level[base + bit] = depth
                    hits |= one << bit
                    break
                k += one
        following[word] |= hits
        seen[word] |= hits
        start, stop = take(ranges, part, MINI_CHUNK)


@_compiled
def _push(rows, frontier, following, tail, reached, depth, ranges, part):
    (offsets, ends, _, first), (seen, predecessor, level) = rows, reached
    one, six, low = np.uint64(1), np.uint64(6), np.uint64(63)
    never = np.iinfo(predecessor.dtype).max
    batch = np.empty(BATCH, following.dtype)
    waiting = 0
    size = min(MINI_CHUNK, 1 + frontier.size // 64)
    start, stop = take(ranges, part, size)
    while start < stop:
        for i in range(start, stop):
            near = frontier[i]
            row = np.uint64(near) - np.uint64(first)
            for k in range(np.uint64(offsets[row]), np.uint64(offsets[row + one])):
                far = np.uint64(ends[k])
                if (seen[far >> six] >> (far & low)) & one or predecessor[far] <= near:
                    continue
                if fetch_min(predecessor, np.intp(far), near) == never:
                    level[far] = depth
                    batch[waiting] = far
                    waiting += 1
                    if waiting == BATCH:
                        place = fetch_add(tail, np.intp(0), np.int64(BATCH))
                        put(following, place, batch, BATCH)
                        waiting = 0
        start, stop = take(ranges, part, size)
    if waiting:
        place = fetch_add(tail, np.intp(0), np.int64(waiting))
        put(following, place, batch, waiting)


@_compiled
def _near(rows, buffers, count, reached, depth, limits, sizes, edges):
    """Search in one thread; return the number of levels done, and the size of the next frontier."""
    (offsets, ends, _, first), (seen, predecessor, level) = rows, reached
    (here, there), (dense, left, shrinking) = buffers, limits
    one, six, low = np.uint64(1), np.uint64(6), np.uint64(63)
    turn = 0
    while count and turn < sizes.size:
        leaving = np.int64(0)
        for i in range(count):
            row = np.uint64(here[i] - first)
            leaving += offsets[row + one] - offsets[row]
        # The caller has already decided to push the first level.
        if turn and (leaving > SMALL_FRONTIER or leaving * dense > left):
            break
        if shrinking:
            left -= leaving
        sizes[turn], edges[turn] = count, leaving
        new_count = 0
        for i in range(count):
            vertex = here[i]
            row = np.uint64(vertex - first)
            for k in range(np.uint64(offsets[row]), np.uint64(offsets[row + one])):
                far = np.uint64(ends[k])
                if level[far] == depth:
                    if vertex < predecessor[far]:
                        predecessor[far] = vertex
                elif level[far] < 0:
                    level[far], predecessor[far] = depth, vertex
                    seen[far >> six] |= one << (far & low)
                    there[new_count] = ends[k]
                    new_count += 1
        here, there = there, here
        count = new_count
        depth += 1
        turn += 1
    return turn, count


@_compiled
def _mark(seen, vertices, start, stop):
    one = np.uint64(1)
    for i in range(start, stop):
        vertex = np.uint64(vertices[i])
        fetch_or(seen, np.intp(vertex >> np.uint64(6)), one << (vertex & np.uint64(63)))


def bfs_pull(rows, frontier, following, reached, depth, degrees, *, threads=1):
    parts = worth(threads, len(rows.ends))
    ranges = even_turns(len(rows.offsets) - 1, parts, rows.offsets)
    run(_pull, ranges, rows, frontier, following, reached, depth)
    return tally(following, degrees)


def bfs_push(rows, frontier, reached, depth, *, threads=1):
    frontier = in_order(rows, frontier)
    row = frontier - rows.first if rows.first else frontier
    costs = gather_degrees(rows.offsets, row)
    parts = threads if costs[-1] > 64 * MINI_CHUNK else 1
    ranges = frontier_turns(costs, parts)
    following = np.empty(min(len(reached.level), int(costs[-1])), rows.ends.dtype)
    tail = np.zeros(1, np.int64)
    for read, part in portions(rows, row, ranges):
        run(_push, part, read, frontier, following, tail, reached, depth)
    return following[: tail[0]]


def bfs_near(rows, frontier, reached, depth, *, levels, dense):
    room = max(SMALL_FRONTIER, len(frontier))
    buffers = np.empty(room, rows.ends.dtype), np.empty(room, rows.ends.dtype)
    buffers[0][: len(frontier)] = frontier = in_order(rows, frontier)
    sizes, edges = np.empty((2, min(levels, SPAN)), np.int64)
    with reading(rows, frontier, turns([0, len(frontier)])) as read:
        done, count = _near(read, buffers, len(frontier), reached, depth, dense, sizes, edges)
    return buffers[done % 2][:count], None, sizes[:done], edges[:done]


def mark_seen(seen, vertices):
    _mark(seen, vertices, 0, len(vertices))


def reach(rows, frontier, reached, depth, degrees, *, edges, low, names=None, threads=1):
    predecessor = reached.predecessor
    if not len(frontier):
        fresh = frontier
    elif edges <= SMALL_FRONTIER:
        fresh, *_ = bfs_near(rows, frontier, reached, depth, levels=1, dense=(0, 0, False))
    else:
        fresh = bfs_push(rows, frontier, reached, depth, threads=threads)
        mark_seen(reached.seen, fresh)
    if names is None:
        if low:
            predecessor[fresh] += low
    else:
        predecessor[fresh] = names[predecessor[fresh]]
    own, mirrors = fresh, fresh[:0]
    if len(reached.level) > len(degrees):
        mine = fresh < len(degrees)
        own, mirrors = fresh[mine], np.sort(fresh[~mine])
    return own, int(degrees[own].sum()), mirrors


def take_offers(rows, vertices, offers, reached, depth, degrees):
    seen, predecessor, level = reached
    fresh = vertices[level[vertices] < 0]
    level[fresh] = depth
    mark_seen(seen, fresh)
    now = level[vertices] == depth
    vertices = vertices[now]
    predecessor[vertices] = np.minimum(predecessor[vertices], offers[now])
    return fresh, int(degrees[fresh].sum())
