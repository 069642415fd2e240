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

from dask_graphflow.kernels.advance.host import BATCH, gather_degrees
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.host_atomics import (
    count_ones,
    fetch_add,
    fetch_min,
    fetch_or,
    prefetch,
    scratch,
    trailing_zeros,
)
from dask_graphflow.kernels.host_teams import OWN, begin, end, enter, together
from dask_graphflow.kernels.host_threads import (
    MINI_CHUNK,
    TURN,
    even_turns,
    frontier_turns,
    put,
    run,
    take,
    turns,
    worth,
)
from dask_graphflow.kernels.read_ahead import in_order, portions, reading

# Maximum edges that leave the first frontier of :func:`bfs_levels`, by its direction: any number.
FUSED = {"push": 1 << 62, "pull": 1 << 62}
SMALL = 1 << 15  # maximum edges of a level that one thread does: 100 us of work
LIGHT = 1 << 18  # maximum edges of a graph for which `_wide` is neither called nor compiled
WIDE = 1 << 20  # minimum edges of a graph whose large levels are worth a team of threads
CACHED = 1 << 20  # vertices whose levels and predecessors fit into the caches
SPAN = 1 << 12  # maximum number of levels before `bfs_levels` returns to the caller
UNSEEN = -1  # the level of a vertex that was not reached
# The numbers of a search. TAIL is the end of the queue, whose last vertices, from BEGIN on, are the
# frontier of COUNT vertices, unless it is the bitmap FRONT. LEFT is the limit of the rule, WAY the
# direction of the next level, and SOLO the maximum number of edges of a level that one thread does. Several
# threads change the first three, which have a cache line each.
TAIL, COUNT, LEAVING, BEGIN, END, DEPTH, DONE, LEFT, WAY, FRONT, SOLO = 0, 8, 16, *range(24, 32)
STOP, PUSH, PULL = 0, 1, 2
NEVER_PULL = 0, 0, -1, -1  # the rule of a push, without its limit


@_compiled
def _pull(rows, frontier, following, reached, depth, degrees, ranges, part):
    """Pull in one thread; return the number of new vertices, and the sum of their degrees."""
    (offsets, ends, first), (seen, predecessor, level) = rows, reached
    one, six, low = np.uint64(1), np.uint64(6), np.uint64(63)
    size = np.uint64(offsets.size - 1)
    at, stops, bits = scratch(64, np.uint64), scratch(64, np.uint64), scratch(64, np.uint64)
    count, leaving = np.int64(0), np.int64(0)
    start, stop = take(ranges, part, np.int64(MINI_CHUNK))
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
                    leaving += degrees[base + bit]
                    break
                k += one
        following[word] = hits
        if hits:
            seen[word] |= hits
            count += np.int64(count_ones(hits))
        start, stop = take(ranges, part, np.int64(MINI_CHUNK))
    return count, leaving


@_compiled
def _push(rows, frontier, following, tail, reached, depth, degrees, size, ranges, part):
    """Push in one thread; return the sum of the degrees of the vertices that it reached first."""
    (offsets, ends, first), (seen, predecessor, level) = rows, reached
    one, six, low = np.uint64(1), np.uint64(6), np.uint64(63)
    never = np.iinfo(predecessor.dtype).max
    alone = ranges.size == TURN
    batch = scratch(BATCH, following.dtype)
    waiting, leaving = 0, np.int64(0)
    start, stop = take(ranges, part, size)
    while start < stop:
        for i in range(start, stop):
            near = frontier[i]
            row = np.uint64(near) - np.uint64(first)
            for k in range(np.uint64(offsets[row]), np.uint64(offsets[row + one])):
                far = np.uint64(ends[k])
                if (seen[far >> six] >> (far & low)) & one or predecessor[far] <= near:
                    continue
                if alone:
                    old = predecessor[far]
                    predecessor[far] = near
                else:
                    old = fetch_min(predecessor, np.intp(far), near)
                if old == never:
                    level[far] = depth
                    if far < np.uint64(degrees.size):  # a mirror has no edges here
                        leaving += degrees[far]
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
    return leaving


@_inner
def _choose(numbers, rule, last):
    """Set the way of the next level, after one of `last` vertices; see :class:`.PullRule`."""
    factor, _, least, narrow = rule
    count, leaving = numbers[COUNT], numbers[LEAVING]
    if leaving <= least:
        dense = False
    elif numbers[WAY] == PULL and narrow >= 0:
        dense = count >= last or count > narrow
    else:
        dense = leaving * factor > numbers[LEFT]
    numbers[WAY] = PULL if dense else PUSH


@_inner
def _record(numbers, rule, trace):
    """Write down the level that is about to be done."""
    done = numbers[DONE]
    trace[0, done], trace[1, done] = numbers[COUNT], numbers[LEAVING]
    trace[2, done] = numbers[WAY] == PULL
    numbers[DONE] = done + 1
    if rule[1]:
        numbers[LEFT] -= numbers[LEAVING]


@_inner
def _pull_near(into, reached, queue, tail, depth):
    """Pull a level of a light graph in one thread; return the end of the queue.

    It reads levels instead of bitmaps, which takes about as long in a small graph, and less to compile.
    """
    (offsets, ends, first), (_, predecessor, level) = into, reached
    before = depth - np.int64(1)
    for row in range(np.uint64(offsets.size - 1)):
        vertex = row + np.uint64(first)
        if level[vertex] >= 0:
            continue
        for k in range(np.uint64(offsets[row]), np.uint64(offsets[row + np.uint64(1)])):
            if level[np.uint64(ends[k])] == before:
                level[vertex], predecessor[vertex] = depth, ends[k]
                queue[tail] = vertex
                tail += 1
                break
    return tail


@_compiled
def _near(rows, into, reached, queue, trace, numbers, rule):
    """Do levels in one thread: pushes along up to SOLO edges, and pulls if `into` has rows."""
    (offsets, ends, first), (seen, predecessor, level) = rows, reached
    one, six, low = np.uint64(1), np.uint64(6), np.uint64(63)
    begin, tail, depth = numbers[BEGIN], numbers[TAIL], numbers[DEPTH]
    unmarked, spread = tail, level.size > CACHED
    while numbers[COUNT] and numbers[DONE] < trace.shape[1]:
        pulls = numbers[WAY] == PULL
        if into[0].size == 0 if pulls else numbers[LEAVING] > numbers[SOLO]:
            break
        _record(numbers, rule, trace)
        stop = tail
        if pulls:
            tail = _pull_near(into, reached, queue, tail, depth)
        for i in range(stop if pulls else begin, stop):
            if i + 8 < stop:
                prefetch(ends, np.intp(offsets[np.uint64(queue[i + 8] - first)]))
            if spread and i + 4 < stop:
                # Where levels are small, most rows have few ends.
                soon = np.uint64(offsets[np.uint64(queue[i + 4] - first)])
                for k in range(soon, min(soon + np.uint64(3), np.uint64(ends.size))):
                    prefetch(level, np.intp(ends[k]))
                    prefetch(predecessor, np.intp(ends[k]))
            vertex = queue[i]
            row = np.uint64(vertex - first)
            for k in range(np.uint64(offsets[row]), np.uint64(offsets[row + one])):
                # Without branches, half of which the processor could not predict.
                far = np.uint64(ends[k])
                old, before = level[far], predecessor[far]
                new = old < 0
                level[far] = depth if new else old
                predecessor[far] = min(before, vertex) if new or old == depth else before
                queue[tail] = ends[k]
                tail += np.int64(new)
        last, begin = stop - begin, stop
        depth += 1
        leaving = np.int64(0)
        for i in range(begin, tail):
            row = np.uint64(queue[i] - first)
            if row + one < np.uint64(offsets.size):  # a mirror has no row
                leaving += offsets[row + one] - offsets[row]
        numbers[COUNT], numbers[LEAVING] = tail - begin, leaving
        _choose(numbers, rule, last)
    for i in range(unmarked, tail):
        vertex = np.uint64(queue[i])
        seen[vertex >> six] |= one << (vertex & low)
    numbers[BEGIN], numbers[TAIL], numbers[DEPTH] = begin, tail, depth


@_inner
def _list_front(front, queue):
    """List the vertices of a bitmap; return how many they are."""
    one, count = np.uint64(1), np.int64(0)
    for word in range(front.size):
        bits = front[word]
        while bits:
            queue[count] = (np.int64(word) << 6) + np.int64(trailing_zeros(bits))
            count += 1
            bits &= bits - one
    return count


@_inner
def _prepare(queue, fronts, trace, numbers, rule, limits, ranges, pulls):
    """Make the frontier a list or a bitmap for the next large level, and divide its work.

    Returns its way, or STOP if it is small, or nothing can or should follow.
    """
    one, six, low = np.uint64(1), np.uint64(6), np.uint64(63)
    can_pull, reached_targets = limits
    way, front = numbers[WAY], numbers[FRONT]
    # Levels in turn may be just small and just large, and starting a team takes longer than such a level.
    small = way == PUSH and numbers[LEAVING] <= numbers[SOLO] // 4
    stops = small or numbers[COUNT] == 0 or numbers[DONE] == trace.shape[1] or reached_targets
    stops = stops or (way == PULL and not can_pull)
    if front >= 0 and (stops or way == PUSH):
        numbers[BEGIN], numbers[TAIL] = 0, _list_front(fronts[front], queue)
        numbers[FRONT] = front = -1
    if stops:
        return STOP
    _record(numbers, rule, trace)
    first, last = numbers[BEGIN], numbers[TAIL]
    if way == PULL:
        if front < 0:
            numbers[FRONT] = 0
            for word in range(fronts.shape[1]):
                fronts[0, word] = 0
            for i in range(first, last):
                vertex = np.uint64(queue[i])
                fronts[0, vertex >> six] |= one << (vertex & low)
        for i in range(ranges.size):
            ranges[i] = pulls[i]
    else:
        parts = ranges.size // TURN
        for part in range(parts):
            ranges[part * TURN] = first + (last - first) * part // parts
            ranges[part * TURN + 1] = first + (last - first) * (part + 1) // parts
    return way


@_compiled
def _mark(seen, vertices, start, stop):
    one = np.uint64(1)
    for i in range(start, stop):
        vertex = np.uint64(vertices[i])
        fetch_or(seen, np.intp(vertex >> np.uint64(6)), one << (vertex & np.uint64(63)))


@_compiled
def _wide(graph, reached, progress, rule, targets, ranges, pulls, team, part):
    """Push and pull large levels with a team of threads; see :func:`_prepare` for when they stop."""
    me, met = enter(team, part)
    if me < 0:
        return
    (rows, into, degrees), (queue, fronts, trace, numbers) = graph, progress
    seen, _, level = reached
    limits, last = (into[0].size > 0, False), np.int64(0)
    while True:
        if me == 0:
            team[OWN] = _prepare(queue, fronts, trace, numbers, rule, limits, ranges, pulls)
            last, numbers[END] = numbers[COUNT], numbers[TAIL]
            if team[OWN] != STOP:
                numbers[COUNT] = numbers[LEAVING] = 0
        begin(team, me, met)
        way, front, depth = team[OWN], numbers[FRONT], numbers[DEPTH]
        stop = numbers[END]
        if way == STOP:
            return
        if way == PULL:
            here, there = fronts[front], fronts[1 - front]
            count, leaving = _pull(into, here, there, reached, depth, degrees, ranges, me)
            fetch_add(numbers, np.intp(COUNT), count)
        else:
            size = min(MINI_CHUNK, 1 + (stop - numbers[BEGIN]) // 64)
            leaving = _push(rows, queue, queue, numbers, reached, depth, degrees, size, ranges, me)
        fetch_add(numbers, np.intp(LEAVING), leaving)
        members, met = end(team, me)
        if way == PUSH:
            new = numbers[TAIL] - stop
            _mark(seen, queue, stop + new * me // members, stop + new * (me + 1) // members)
        if me == 0:
            numbers[DEPTH] = depth + 1
            if way == PULL:
                numbers[FRONT] = 1 - front
            else:
                numbers[BEGIN], numbers[COUNT] = stop, numbers[TAIL] - stop
            _choose(numbers, rule, last)
            reached_targets = targets.size > 0
            for target in targets:
                reached_targets = reached_targets and level[target] >= 0
            limits = limits[0], reached_targets


def _bare(rows: Rows) -> tuple[np.ndarray, np.ndarray, int]:
    # Kernels are compiled once for all types of weights.
    return rows.offsets, rows.ends, rows.first


def _without_rows(bare: tuple[np.ndarray, np.ndarray, int]) -> tuple[np.ndarray, np.ndarray, int]:
    """Return arrays of the same types without a row, along which no level is pulled."""
    return bare[0][:0], *bare[1:]


def bfs_pull(rows, frontier, following, reached, depth, degrees, *, threads=1, shared=None):
    parts = worth(threads, len(rows.ends))
    ranges = even_turns(len(rows.offsets) - 1, parts, rows.offsets)
    done = run(_pull, ranges, _bare(rows), frontier, following, reached, depth, degrees)
    found, leaving = zip(*done, strict=True)
    return sum(found), sum(leaving)


def bfs_push(rows, frontier, reached, depth, *, threads=1):
    frontier = in_order(rows, frontier)
    row = frontier - rows.first if rows.first else frontier
    costs = gather_degrees(rows.offsets, row)
    parts = threads if costs[-1] > 64 * MINI_CHUNK else 1
    ranges = frontier_turns(costs, parts)
    following = np.empty(min(len(reached.level), int(costs[-1])), rows.ends.dtype)
    tail, size = np.zeros(1, np.int64), min(MINI_CHUNK, 1 + len(frontier) // 64)
    given = following, tail, reached, depth, np.empty(0, np.int64), size
    for read, part in portions(rows, row, ranges):
        run(_push, part, _bare(read), frontier, *given)
    return following[: tail[0]]


def bfs_levels(sides, frontier, reached, depth, plan, *, threads=1, shared=None):
    rows, incoming, degrees = sides
    factor, left, *limits = plan.rule
    rule, bare = (factor, *map(int, limits)), _bare(rows)
    room, most = len(reached.level), min(plan.levels, SPAN)
    queue, trace, numbers = _begin(frontier, room, rows.ends.dtype, depth, most)
    numbers[LEAVING], numbers[LEFT] = plan.leaving, left
    numbers[WAY] = PULL if plan.pull else PUSH
    targets = np.empty(0, np.int64) if plan.targets is None else plan.targets
    light = len(rows.ends) <= LIGHT
    into = _without_rows(bare) if incoming is None else _bare(incoming)
    numbers[SOLO] = len(rows.ends) if light else SMALL
    near_in = into if light else _without_rows(bare)
    near = bare, near_in, reached, queue, trace, numbers, rule

    def goes_on() -> bool:
        if not numbers[COUNT] or numbers[DONE] == trace.shape[1]:
            return False
        return bool(numbers[WAY] == PUSH or incoming is not None)

    _near(*near)
    while goes_on():
        team = threads if len(rows.ends) >= WIDE else 1
        none = turns([0] * (team + 1))
        pulls = even_turns(len(into[0]) - 1, team, into[0]) if len(into[0]) else none
        fronts = np.empty((2, len(reached.seen)), np.uint64)
        progress = queue, fronts, trace, numbers
        given = (bare, into, degrees), reached, progress, rule, targets, np.zeros_like(pulls)
        together(_wide, team, *given, pulls, own=1)
        if len(targets) and (reached.level[targets] >= 0).all():
            break
        _near(*near)
    sizes, edges, pulled = trace[:, : numbers[DONE]]
    following = queue[numbers[BEGIN] : numbers[TAIL]]
    return following, (len(following), int(numbers[LEAVING])), sizes, edges, pulled


def _begin(frontier, room, dtype, depth, levels):
    """Return a queue with the frontier, the trace and the numbers of a search."""
    # Each end is written behind the last vertex before it is known whether it is new.
    queue, numbers = np.empty(room + 1, dtype), np.zeros(32, np.int64)
    queue[: len(frontier)] = frontier
    numbers[COUNT] = numbers[TAIL] = len(frontier)
    numbers[DEPTH], numbers[FRONT], numbers[WAY] = depth, -1, PUSH
    return queue, np.empty((3, levels), np.int64), numbers


def _push_small(rows, frontier, reached, depth, edges):
    """Push one level with few edges in one thread; return the new vertices."""
    frontier = in_order(rows, frontier)
    queue, trace, numbers = _begin(frontier, len(frontier) + edges, rows.ends.dtype, depth, 1)
    numbers[LEAVING] = numbers[SOLO] = edges
    with reading(rows, frontier, turns([0, len(frontier)])) as read:
        bare = _bare(read)
        into = _without_rows(bare)
        _near(bare, into, reached, queue, trace, numbers, NEVER_PULL)
    return queue[numbers[BEGIN] : numbers[TAIL]]


def mark_seen(seen, vertices):
    _mark(seen, vertices, 0, len(vertices))


def reach(rows, frontier, reached, depth, degrees, *, edges, low, names=None, threads=1):
    predecessor = reached.predecessor
    if not len(frontier):
        fresh = frontier
    elif edges <= SMALL:
        fresh = _push_small(rows, frontier, reached, depth, edges)
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
