"""Matchings by one thread, which follows the vertices and the edges in their order.

A left vertex is matched by an entry of its row, and a right vertex has its left vertex as its *mate*.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.host_heap import empty_heap, offer, take_first

from . import Sides

BIDS = 8  # rounds of bids, after which the vertices that have no neighbor look for paths
EACH = 4  # passes over the edges in which each path is searched alone, before several are at once
FAR = np.iinfo(np.int64).max


@_compiled
def _divide(offsets, ends, side, queue):
    """Set the sides, 1 and 2; return the entry of an edge between vertices of a side and its row, or -1."""
    for first in range(len(offsets) - 1):
        if side[first]:
            continue
        side[first], queue[0], tail, at = 1, first, 1, 0
        while at < tail:
            v = np.uint64(queue[at])
            at += 1
            for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
                u = np.uint64(ends[k])
                if side[u] == side[v]:
                    return np.int64(k), np.int64(v)
                if side[u] == 0:
                    side[u], queue[tail] = 3 - side[v], u
                    tail += 1
    return np.int64(-1), np.int64(-1)


@_inner
def _match_one(rows, into, v, u, degrees, entry, mate, stack, count):
    """Match two vertices. Their free neighbors have one choice less; stack those with a single one."""
    offsets, ends = rows
    for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
        other = np.uint64(ends[k])
        if other == u:
            entry[v], mate[u] = k, v
        elif mate[other] < 0:
            degrees[other] -= 1
            if degrees[other] == 1:
                stack[count] = other
                count += 1
    offsets, ends = into
    for k in range(np.uint64(offsets[u]), np.uint64(offsets[u + np.uint64(1)])):
        other = np.uint64(ends[k])
        if entry[other] < 0:
            degrees[other] -= 1
            if degrees[other] == 1:
                stack[count] = other
                count += 1
    return count


@_compiled
def _match_first(rows, into, left, on_left, degrees, entry, mate, stack, count):
    """Match vertices with a single free neighbor as long as there are any (Karp and Sipser).

    Otherwise, the next left vertex takes the free neighbor with the fewest free neighbors.
    """
    for vertex in left:
        while count:
            count -= 1
            v = np.uint64(stack[count])
            if on_left[v] and entry[v] < 0:
                for k in range(np.uint64(rows[0][v]), np.uint64(rows[0][v + np.uint64(1)])):
                    u = np.uint64(rows[1][k])
                    if mate[u] < 0:
                        count = _match_one(rows, into, v, u, degrees, entry, mate, stack, count)
                        break
            elif not on_left[v] and mate[v] < 0:
                for k in range(np.uint64(into[0][v]), np.uint64(into[0][v + np.uint64(1)])):
                    u = np.uint64(into[1][k])
                    if entry[u] < 0:
                        count = _match_one(rows, into, u, v, degrees, entry, mate, stack, count)
                        break
        v, best = np.uint64(vertex), np.int64(-1)
        if entry[v] < 0:
            for k in range(np.uint64(rows[0][v]), np.uint64(rows[0][v + np.uint64(1)])):
                u = np.uint64(rows[1][k])
                if mate[u] < 0 and (best < 0 or degrees[u] < degrees[np.uint64(best)]):
                    best = np.int64(u)
            if best >= 0:
                u = np.uint64(best)
                count = _match_one(rows, into, v, u, degrees, entry, mate, stack, count)


@_compiled
def _augment_each(rows, left, entry, mate, seen, before, via, queue, edges):
    """Augment a matching along a shortest path from each left vertex, but stop after so many edges.

    If a search finds no free vertex, no later path leads through what it has seen, which stays marked.
    Returns the number of vertices that were tried.
    """
    offsets, ends = rows
    for tried in range(len(left)):
        v, count, at, u, found = np.uint64(left[tried]), 0, 0, np.uint64(0), False
        if entry[v] >= 0:
            continue
        if edges < 0:
            return tried
        while not found:
            edges -= offsets[v + np.uint64(1)] - offsets[v]
            for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
                u = np.uint64(ends[k])
                if not seen[u]:
                    seen[u], before[u], via[u], queue[count] = True, k, v, u
                    count += 1
                    if mate[u] < 0:
                        found = True
                        break
            if found or at == count:
                break
            v = np.uint64(mate[np.uint64(queue[at])])
            at += 1
        if not found:
            continue
        for i in range(count):
            seen[np.uint64(queue[i])] = False
        while True:
            v = np.uint64(via[u])
            k = entry[v]
            entry[v], mate[u] = before[u], v
            if k < 0:
                break
            u = np.uint64(ends[np.uint64(k)])
    return len(left)


@_compiled
def _augment_all(rows, left, entry, mate, level, arcs, queue, path):
    """Augment a matching along disjoint shortest paths until there are none (Hopcroft and Karp).

    Vertices with the level -1 are on no path.
    """
    offsets, ends = rows
    while True:
        count, at, found = 0, 0, False
        for vertex in left:
            v = np.uint64(vertex)
            level[v] = 0
            if entry[v] < 0:
                level[v], arcs[v], queue[count] = 1, offsets[v], v
                count += 1
        roots, stop = count, count
        while at < stop and not found:
            while at < stop:
                v = np.uint64(queue[at])
                at += 1
                for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
                    w = mate[np.uint64(ends[k])]
                    if w < 0:
                        found = True
                    elif level[np.uint64(w)] == 0:
                        level[np.uint64(w)], arcs[np.uint64(w)] = (
                            level[v] + 1,
                            offsets[np.uint64(w)],
                        )
                        queue[count] = w
                        count += 1
            stop = count
        if not found:
            return
        for i in range(roots):
            depth, path[0] = 0, queue[i]
            while depth >= 0:
                v = np.uint64(path[depth])
                k, last, next_level = arcs[v], offsets[v + np.uint64(1)], level[v] + 1
                free = False
                while k < last:
                    w = mate[np.uint64(ends[np.uint64(k)])]
                    free = w < 0
                    if free or level[np.uint64(w)] == next_level:
                        break
                    k += 1
                arcs[v] = k
                if k == last:  # no path leads on from here
                    level[v] = 0
                    depth -= 1
                    if depth >= 0:
                        arcs[np.uint64(path[depth])] += 1
                elif free:
                    while depth >= 0:
                        v = np.uint64(path[depth])
                        entry[v] = arcs[v]
                        mate[np.uint64(ends[np.uint64(arcs[v])])] = v
                        level[v] = 0
                        depth -= 1
                else:
                    depth += 1
                    path[depth] = mate[np.uint64(ends[np.uint64(k)])]


@_compiled
def _bid(offsets, ends, weights, waiting, profit, price, entry, mate, later):
    """Let left vertices bid for their neighbors; return the number of those in `later` that have none.

    A vertex prefers the neighbor whose weight exceeds its price the most. It raises the price until another
    neighbor, or none, would be as good, and takes the neighbor from the vertex that had it.
    """
    count, left_out = len(waiting), 0
    for _ in range(BIDS):
        bidding, count = count, 0
        for i in range(bidding):
            v = np.uint64(waiting[i])
            best, second, at = np.int64(0), np.int64(0), np.int64(-1)
            for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
                gain = weights[k] - price[np.uint64(ends[k])]
                if gain > best:
                    best, second, at = gain, best, np.int64(k)
                elif gain > second:
                    second = gain
            if at < 0:
                continue
            u = np.uint64(ends[np.uint64(at)])
            other = mate[u]
            if other >= 0 and best == second:  # it would be taken back at the same price
                later[left_out] = v
                left_out += 1
                continue
            if other >= 0:
                entry[np.uint64(other)] = -1
                waiting[count] = other
                count += 1
            price[u] += best - second
            profit[v], entry[v], mate[u] = second, at, v
    for i in range(count):
        later[left_out + i] = waiting[i]
    return left_out + count


@_compiled
def _augment_by_weight(
    offsets, ends, weights, vertices, profit, price, entry, mate, distance, before, via, seen, heap
):
    """Augment a matching from each of some left vertices along the shortest path.

    The length of an edge is profit + price - weight, which is 0 for an edge of the matching and never
    negative. A path ends at a free right vertex, or at a left vertex that is left without an edge, which
    costs its profit.
    """
    for vertex in vertices:
        start = np.uint64(vertex)
        best = np.int64(0)
        for k in range(np.uint64(offsets[start]), np.uint64(offsets[start + np.uint64(1)])):
            best = max(best, weights[k] - price[np.uint64(ends[k])])
        profit[start] = best
        v, near, size, count = start, np.int64(0), 0, 0
        shortest, last, free = best, np.int64(start), False
        while True:
            if near + profit[v] < shortest:
                shortest, last, free = near + profit[v], np.int64(v), False
            for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
                u = np.uint64(ends[k])
                far = near + profit[v] + price[u] - weights[k]
                if far < shortest and far < distance[u]:
                    if distance[u] == FAR:
                        seen[count] = u
                        count += 1
                    distance[u], before[u], via[u] = far, k, v
                    if mate[u] < 0:
                        shortest, last, free = far, np.int64(u), True
                    else:
                        size = offer(heap, size, far, u)
            if size == 0 or heap[0][0] >= shortest:
                break
            near = heap[0][0]
            v = np.uint64(mate[np.uint64(heap[1][0])])
            size = take_first(heap, size)
        empty_heap(heap, size)
        for i in range(count):
            u = np.uint64(seen[i])
            gain = shortest - distance[u]
            distance[u] = FAR
            if gain > 0:
                price[u] += gain
                profit[np.uint64(mate[u])] -= gain
        profit[start] -= shortest
        u = np.uint64(last)
        if not free:
            if u == start:
                continue
            k = entry[u]
            entry[u] = -1
            u = np.uint64(ends[np.uint64(k)])
        while True:
            v = np.uint64(via[u])
            k = entry[v]
            entry[v], mate[u] = before[u], v
            if v == start:
                break
            u = np.uint64(ends[np.uint64(k)])


def sides(rows: Rows) -> Sides:
    size = len(rows.offsets) - 1
    side = np.zeros(size, "uint8")
    entry, vertex = _divide(rows.offsets, rows.ends, side, np.empty(size, rows.ends.dtype))
    odd = (int(vertex), int(rows.ends[entry])) if entry >= 0 else None
    return Sides(side == 1, odd)


def most_edges(rows: Rows, into: Rows, left: np.ndarray) -> np.ndarray:
    size, index, sides = len(rows.offsets) - 1, rows.ends.dtype, (rows[:2], into[:2])
    entry, mate = np.full(size, -1), np.full(size, -1, index)
    on_left = np.zeros(size, "bool")
    on_left[left] = True
    degrees = np.where(on_left, np.diff(rows.offsets), np.diff(into.offsets))
    left = left[np.argsort(degrees[left], kind="stable")].astype(index)
    stack, single = np.empty(size + 1, index), np.flatnonzero(degrees == 1)
    stack[: len(single)] = single
    _match_first(*sides, left, on_left, degrees, entry, mate, stack, len(single))
    seen, work = np.zeros(size, "bool"), EACH * len(rows.ends)
    room = np.empty(size, "int64"), np.empty(size, index), stack
    tried = _augment_each(sides[0], left, entry, mate, seen, *room, work)
    if tried < len(left):
        level, failed = np.zeros(size, "int32"), left[:tried]
        level[failed[entry[failed] < 0]] = level[mate[seen]] = -1
        left = left[level[left] == 0]
        _augment_all(sides[0], left, entry, mate, level, room[0], stack, room[1])
    return entry


def most_weight(rows: Rows, left: np.ndarray) -> np.ndarray:
    offsets, ends, weights, _ = rows
    size, index = len(offsets) - 1, ends.dtype
    entry, mate = np.full(size, -1), np.full(size, -1, index)
    values = np.zeros(size, "int64"), np.zeros(size, "int64"), entry, mate
    later = np.empty(len(left), index)
    count = _bid(offsets, ends, weights, left.astype(index), *values, later)
    heap = np.empty(size, "int64"), np.empty(size, index), np.full(size, -1, index)
    room = np.full(size, FAR), np.empty(size, "int64"), *np.empty((2, size), index), heap
    _augment_by_weight(offsets, ends, weights, later[:count], *values, *room)
    return entry
