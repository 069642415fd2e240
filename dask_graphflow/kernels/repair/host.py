"""Shortest paths of a graph that has changed, repaired on the host by one thread.

1. A vertex is *in doubt* if the pair of its predecessor and itself has changed, or if its predecessor is
   lost. Vertices in doubt are visited in the order of their distances. A vertex keeps its distance if it
   still has a neighbor that is nearer, is not lost, and is on a shortest path to it. Otherwise the vertex
   is *lost*, and the vertices that it precedes are in doubt.
2. A lost vertex gets the best distance over its neighbors, and the end of a changed edge may get a smaller
   one. From there, Dijkstra's algorithm continues. It only visits vertices whose distances change.
3. The predecessors of all these vertices are found again. They are offered themselves to the vertices after
   them.

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

# The states of vertices. Others have not been visited.
DOUBT, LOST, NEARER = 1, 2, 3
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
    """Let a vertex wait at a distance; at its first visit, note it with the distance that it had."""
    keys, items, touched, earlier, states = room
    if states[v] == 0:
        touched[numbers[VISITED]], earlier[numbers[VISITED]] = v, distance[v]
        numbers[VISITED] += 1
    if states[v] != LOST:
        states[v] = state
    distance[v] = here
    _put(keys, items, numbers[WAITING], here, v)
    numbers[WAITING] += 1


@_inner
def _doubt(rows, pairs, distance, predecessor, room, numbers, budget):
    """Find the vertices that are lost; return whether the budget was enough."""
    (offsets, ends, _), (starts, nearer, lengths) = rows
    sources, targets = pairs
    states, one = room[4], np.uint64(1)
    for k in range(sources.size):
        v = np.uint64(targets[k])
        if predecessor[v] == sources[k] and states[v] == 0:
            _visit(v, DOUBT, distance[v], distance, room, numbers)
    while numbers[WAITING]:
        here, v = _nearest(distance, room, numbers)
        if distance[np.uint64(predecessor[v])] == here:
            numbers[LEVEL] = 1
        i, end = np.uint64(starts[v]), np.uint64(starts[v + one])
        first = i
        while i < end:
            u = np.uint64(nearer[i])
            there = distance[u] + weight_at(lengths, np.intp(i))
            if there == here and distance[u] < here and states[u] != LOST:
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
            u = np.uint64(ends[i])
            if states[u] == 0 and predecessor[u] == np.int64(v):
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
    touched, _, states = room[2:]
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
def _offer(u, v, weight, earlier, distance, predecessor, never, states, numbers):
    """Offer a vertex, which was at an earlier distance, to the unvisited end of one of its edges."""
    there = distance[u] + weight
    if states[v] != 0 or there != distance[v] or predecessor[v] < 0:
        return
    before = np.uint64(predecessor[v])
    level = before == u and earlier == there and earlier + weight == there
    if level or distance[before] == there:
        numbers[LEVEL] = 1
    elif distance[u] < there and u < before:
        predecessor[v] = u


@_inner
def _precede(rows, pairs, distance, predecessor, never, room, numbers):
    """Find the new predecessors."""
    (offsets, ends, weights), (starts, nearer, lengths) = rows
    sources, targets = pairs
    touched, earlier, states = room[2:]
    count, one = numbers[VISITED], np.uint64(1)
    for k in range(count):
        v = np.uint64(touched[k])
        here = distance[v]
        predecessor[v] = -1
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
        if states[u] == DOUBT or distance[u] == never:
            continue
        numbers[READ] += offsets[u + one] - offsets[u]
        for i in range(np.uint64(offsets[u]), np.uint64(offsets[u + one])):
            v, weight = np.uint64(ends[i]), weight_at(weights, np.intp(i))
            _offer(u, v, weight, earlier[k], distance, predecessor, never, states, numbers)
    for k in range(sources.size):
        u, v = np.uint64(sources[k]), np.uint64(targets[k])
        here, i = distance[u], _first(offsets, ends, u, v)
        while here != never and i < offsets[u + one] and np.uint64(ends[i]) == v:
            weight = weight_at(weights, np.intp(i))
            _offer(u, v, weight, here, distance, predecessor, never, states, numbers)
            i += 1


@_compiled
def _repair(rows, pairs, distance, predecessor, never, cutoff, room, numbers, budget):
    """Repair distances and predecessors; return whether it did not give up."""
    if not _doubt(rows, pairs, distance, predecessor, room, numbers, budget):
        return False
    if not _settle(rows, pairs, distance, never, cutoff, room, numbers, budget):
        return False
    if not numbers[LEVEL]:
        _precede(rows, pairs, distance, predecessor, never, room, numbers)
    return True


def repair_paths(out, into, sources, targets, distance, predecessor, cutoff, budget):
    # Each entry that is read adds at most one vertex to the heap and to the list, and so do both steps for
    # each pair. Memory that is not used is never allocated.
    most = budget + 2 * len(sources) + 1
    keys, items, touched = (np.empty(most, a.dtype) for a in (distance, predecessor, predecessor))
    earlier, states = np.empty(most, distance.dtype), np.zeros(len(distance), np.int8)
    numbers = np.zeros(NUMBERS, np.int64)
    never = np.inf if distance.dtype.kind == "f" else np.iinfo(distance.dtype).max
    complete = _repair(
        (out[:3], into[:3]), (sources, targets), distance, predecessor, never, cutoff,
        (keys, items, touched, earlier, states), numbers, budget,
    )  # fmt: skip
    return Repaired(complete, bool(numbers[LEVEL]), int(numbers[VISITED]), int(numbers[READ]))
