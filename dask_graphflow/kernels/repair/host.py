"""Shortest paths of a graph that has changed, repaired on the host by one thread.

1. A vertex is *in doubt* if the pair of its predecessor and itself has changed, or if a vertex before it on
   some shortest path is lost. Vertices in doubt are visited in the order of their distances. A vertex keeps
   its distance if it still has a neighbor that is nearer, is not lost, and is on a shortest path to it.
   Otherwise the vertex is *lost*, and the vertices after it are in doubt.
2. A lost vertex gets the best distance over its neighbors, and the end of a changed edge may get a smaller
   one. From there, Dijkstra's algorithm continues. It only visits vertices whose distances change.
3. The predecessors of all these vertices are found again, and those of the vertices after them.

The repair does not read the earlier predecessors, whose ids would have to be looked up. It only has to know
in which of the changed pairs the source was the predecessor of the target.

An edge that adds nothing to a distance joins two vertices at the same distance. Which of them precedes the
other depends on all such edges around them. If a predecessor near a change may depend on such an edge, the
repair says so, and leaves the predecessors to the caller.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.host_atomics import weight_at
from dask_graphflow.kernels.tight_edges.host import _put, _take_first

from . import Repaired

# The states of vertices; 0 for others. A vertex is KEPT if it was in doubt, and the edge that keeps its
# distance has changed. A vertex is FOUND if it has not been visited, but its predecessor was found again.
DOUBT, LOST, NEARER, KEPT, SOURCE, FOUND = 1, 2, 3, 4, 5, 6
# The numbers of a repair: vertices visited, entries in the heap, entries of rows read; whether the
# predecessors are left to the caller.
VISITED, WAITING, READ, LEVEL, NUMBERS = 0, 1, 2, 3, 4


@_inner
def _nearest(distance, room, numbers):
    """Return the vertex that waits at the smallest distance, and that distance."""
    keys, items = room[:2]
    far, v = keys[0], np.uint64(items[0])
    numbers[WAITING] -= 1
    _take_first(keys, items, numbers[WAITING])
    return far, v


@_inner
def _visit(v, state, here, distance, room, numbers):
    """Let a vertex wait at a distance; note it at its first visit."""
    keys, items, touched, states = room
    if states[v] == 0:
        touched[numbers[VISITED]] = v
        numbers[VISITED] += 1
    if states[v] != LOST:
        states[v] = state
    distance[v] = here
    _put(keys, items, numbers[WAITING], here, v)
    numbers[WAITING] += 1


@_inner
def _has_changed(pairs, u, v):
    """Return whether a pair is among the changed ones, which ascend by source and target."""
    sources, targets = pairs
    low, high = 0, sources.size
    while low < high:
        middle = (low + high) >> 1
        s, t = np.uint64(sources[middle]), np.uint64(targets[middle])
        if s < u or (s == u and t < v):
            low = middle + 1
        else:
            high = middle
    if low == sources.size:
        return False
    return np.uint64(sources[low]) == u and np.uint64(targets[low]) == v


@_inner
def _doubt(rows, pairs, precedes, distance, never, room, numbers, budget):
    """Find the vertices that are lost; return whether the budget was enough."""
    (offsets, ends, weights), (starts, nearer, lengths) = rows
    sources, targets = pairs
    states, one = room[3], np.uint64(1)
    for k in range(sources.size):
        v = np.uint64(targets[k])
        if precedes[k] and states[v] == 0:
            if distance[np.uint64(sources[k])] == distance[v]:
                numbers[LEVEL] = 1
            _visit(v, DOUBT, distance[v], distance, room, numbers)
    while numbers[WAITING]:
        here, v = _nearest(distance, room, numbers)
        i, end = np.uint64(starts[v]), np.uint64(starts[v + one])
        first = i
        while i < end:
            u = np.uint64(nearer[i])
            there = distance[u] + weight_at(lengths, np.intp(i))
            if there == here and distance[u] < here and states[u] != LOST:
                if _has_changed(pairs, u, v):
                    states[v] = KEPT
                break
            i += one
        numbers[READ] += np.int64(i - first)
        if i < end:
            continue
        states[v] = LOST
        i, end = np.uint64(offsets[v]), np.uint64(offsets[v + one])
        numbers[READ] += np.int64(end - i)
        if numbers[READ] > budget:
            return False
        while i < end:
            u, there = np.uint64(ends[i]), here + weight_at(weights, np.intp(i))
            if states[u] == 0 and there == distance[u] and there < never:
                _visit(u, DOUBT, distance[u], distance, room, numbers)
            i += one
    return True


@_inner
def _first(offsets, ends, u, v):
    """Return the index of the first entry of a row that is at least `v`."""
    low, high = np.int64(offsets[u]), np.int64(offsets[u + np.uint64(1)])
    while low < high:
        middle = (low + high) >> 1
        if np.uint64(ends[middle]) < v:
            low = middle + 1
        else:
            high = middle
    return low


@_inner
def _settle(rows, pairs, distance, never, cutoff, room, numbers, budget):
    """Find the new distances; return whether the budget was enough and the new weights are allowed."""
    (offsets, ends, weights), (starts, nearer, lengths) = rows
    sources, targets = pairs
    touched, states = room[2:]
    count, one = numbers[VISITED], np.uint64(1)
    for k in range(count):
        if states[touched[k]] == LOST:
            distance[touched[k]] = never
    for k in range(count):
        v, best = np.uint64(touched[k]), never
        if states[v] != LOST:
            continue
        numbers[READ] += starts[v + one] - starts[v]
        for i in range(np.uint64(starts[v]), np.uint64(starts[v + one])):
            u = np.uint64(nearer[i])
            if distance[u] != never:
                best = min(best, distance[u] + weight_at(lengths, np.intp(i)))
        if best < never and best <= cutoff:
            _visit(v, LOST, best, distance, room, numbers)
    for k in range(sources.size):
        u, v = np.uint64(sources[k]), np.uint64(targets[k])
        i = _first(offsets, ends, u, v)
        while i < offsets[u + one] and np.uint64(ends[i]) == v:
            weight = weight_at(weights, np.intp(i))
            numbers[READ] += 1
            if numbers[READ] > budget or not weight >= 0:
                return False
            there = distance[u] + weight
            if distance[u] != never and there < distance[v] and there <= cutoff:
                _visit(v, NEARER, there, distance, room, numbers)
            i += 1
    while numbers[WAITING]:
        here, v = _nearest(distance, room, numbers)
        if here != distance[v]:  # it came nearer later
            continue
        numbers[READ] += offsets[v + one] - offsets[v]
        if numbers[READ] > budget:
            return False
        for i in range(np.uint64(offsets[v]), np.uint64(offsets[v + one])):
            u, there = np.uint64(ends[i]), here + weight_at(weights, np.intp(i))
            if there < distance[u] and there <= cutoff:
                _visit(u, NEARER, there, distance, room, numbers)
    return True


@_inner
def _find_again(v, into, pairs, distance, predecessor, states, numbers):
    """Find the predecessor of an unvisited vertex, which another shortest path may have reached.

    If no nearer vertex on a shortest path to it is as before, and so is its edge, the earlier predecessor
    may have been at the same distance.
    """
    starts, nearer, lengths = into
    here, first = distance[v], np.int64(-1)
    for i in range(np.uint64(starts[v]), np.uint64(starts[v + np.uint64(1)])):
        u = np.uint64(nearer[i])
        numbers[READ] += 1
        if distance[u] < here and distance[u] + weight_at(lengths, np.intp(i)) == here:
            if first < 0:
                first = np.int64(u)
            if states[u] != LOST and states[u] != NEARER and not _has_changed(pairs, u, v):
                states[v], predecessor[v] = FOUND, first
                return
    numbers[LEVEL] = 1


@_inner
def _precede(rows, pairs, distance, predecessor, never, room, numbers):
    """Find the new predecessors, or notice that this takes more than the vertices near a change."""
    (offsets, ends, weights), into = rows
    (starts, nearer, lengths), (sources, targets) = into, pairs
    touched, states = room[2:]
    count, one = numbers[VISITED], np.uint64(1)
    for k in range(count):
        v = np.uint64(touched[k])
        here = distance[v]
        if here == never:
            continue
        numbers[READ] += starts[v + one] - starts[v]
        for i in range(np.uint64(starts[v]), np.uint64(starts[v + one])):
            u = np.uint64(nearer[i])
            if distance[u] < here and distance[u] + weight_at(lengths, np.intp(i)) == here:
                predecessor[v] = u
                break
        if predecessor[v] < 0:
            numbers[LEVEL] = 1
    for k in range(count):
        u = np.uint64(touched[k])
        if states[u] == DOUBT or distance[u] == never or numbers[LEVEL]:
            continue
        numbers[READ] += offsets[u + one] - offsets[u]
        for i in range(np.uint64(offsets[u]), np.uint64(offsets[u + one])):
            v, there = np.uint64(ends[i]), distance[u] + weight_at(weights, np.intp(i))
            if states[v] == 0 and there == distance[v] and there < never:
                _find_again(v, into, pairs, distance, predecessor, states, numbers)
    for k in range(sources.size):
        u, v = np.uint64(sources[k]), np.uint64(targets[k])
        i = _first(offsets, ends, u, v)
        while distance[u] != never and i < offsets[u + one] and np.uint64(ends[i]) == v:
            there = distance[u] + weight_at(weights, np.intp(i))
            if states[v] == 0 and there == distance[v] and there < never:
                _find_again(v, into, pairs, distance, predecessor, states, numbers)
            i += 1


@_compiled
def _repair(rows, pairs, precedes, distance, predecessor, never, cutoff, room, numbers, budget):
    """Repair distances and predecessors; return whether it did not give up."""
    if not _doubt(rows, pairs, precedes, distance, never, room, numbers, budget):
        return False
    if not _settle(rows, pairs, distance, never, cutoff, room, numbers, budget):
        return False
    if not numbers[LEVEL]:
        _precede(rows, pairs, distance, predecessor, never, room, numbers)
    return True


def repair_paths(out, into, pairs, precedes, distance, predecessor, sources, cutoff, budget):
    # Each entry that is read adds at most one vertex to the heap and to the list, and so do both steps for
    # each pair. Memory that is not used is never allocated.
    most = budget + 2 * len(precedes) + 1
    keys, items, touched = (np.empty(most, a.dtype) for a in (distance, predecessor, predecessor))
    states = np.zeros(len(distance), np.int8)
    states[sources] = SOURCE
    numbers = np.zeros(NUMBERS, np.int64)
    never = np.inf if distance.dtype.kind == "f" else np.iinfo(distance.dtype).max
    complete = _repair(
        (out[:3], into[:3]), pairs, precedes, distance, predecessor, never, cutoff,
        (keys, items, touched, states), numbers, budget,
    )  # fmt: skip
    return Repaired(complete, bool(numbers[LEVEL]), int(numbers[VISITED]), int(numbers[READ]))
