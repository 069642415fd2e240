"""Depth-first searches that know from each vertex how far it is to the last one."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.host_atomics import fetch_add
from dask_graphflow.kernels.host_threads import even_turns, run, take
from dask_graphflow.kernels.intersect.host import lower_bound

from . import Searches

# Entries of a row that are read in the time in which one vertex is looked up in a long row.
PROBES = 16


@_inner
def _expand(rows, levels, other, queue, low, high, near, length, above, checked):
    """Add the next level of a search to a queue; return its new end, and how many edges leave the level.

    `near` is the number of the level. If `checked`, only vertices are reached and left from which the other
    search knows that a walk of at most `length` edges goes through them.
    """
    offsets, ends = rows
    tail, edges = high, 0
    for i in range(low, high):
        v = np.uint64(queue[i])
        if checked and (other[v] < 0 or other[v] + near - 1 > length):
            continue
        for k in range(offsets[v], offsets[v + np.uint64(1)]):
            w = np.uint64(ends[k])
            if ends[k] <= above or levels[w] >= 0:
                continue
            if checked and (other[w] < 0 or other[w] + near > length):
                continue
            levels[w] = near
            queue[tail] = w
            tail += 1
            edges += offsets[w + np.uint64(1)] - offsets[w]
    return tail, edges


@_inner
def _measure(rows, into, start, stop, above, length, ahead, back, queues):
    """Find how many edges it takes from vertices to the last one; return how many vertices are known.

    The search whose next level has fewer edges goes on, until both together have gone as far as a path can
    be long. Then the backward search continues in what the forward search has reached.
    """
    forward, backward = queues
    (offsets, _), (starts, _) = rows, into
    ahead[start] = back[stop] = 0
    forward[0], backward[0] = start, stop
    low, high, gone = 0, 1, 0
    first, last, come = 0, 1, 0
    leaving = offsets[start + 1] - offsets[start]
    entering = starts[stop + 1] - starts[stop]
    while gone + come < length and low < high and first < last:
        if leaving <= entering:
            gone += 1
            end, leaving = _expand(
                rows, ahead, back, forward, low, high, gone, length, above, False
            )
            low, high = high, end
        else:
            come += 1
            end, entering = _expand(
                into, back, ahead, backward, first, last, come, length, above, False
            )
            first, last = last, end
    while come < length and first < last:
        come += 1
        end, _ = _expand(into, back, ahead, backward, first, last, come, length, above, True)
        first, last = last, end
    return high, last


@_inner
def _write(path, size, closed, undirected, order, place, listed):
    """Write a path, or a cycle in its one rotation and direction; return where the next one is written."""
    least, turned = 0, False
    if closed:
        for i in range(1, size):
            if order[path[i]] < order[path[least]]:
                least = i
        after = least + 1 if least + 1 < size else 0
        before = least - 1 if least else size - 1
        turned = undirected and order[path[before]] < order[path[after]]
    at, step = least, size - 1 if turned else 1
    for i in range(size):
        listed[place + i] = order[path[at]]
        at += step
        if at >= size:
            at -= size
    return place + size


@_inner
def _add(path, edges, limits, stop, places, order, listed):
    """Count or write a path with so many edges, if it is wanted; return how many were added."""
    least, _, undirected = limits
    closed = path[0] == stop
    if edges < least or (undirected and (edges < 3 or path[edges - 1] < path[1])):
        return 0
    if not listed.size:
        places[edges] += 1
        return 1
    if not closed:
        path[edges] = stop
    size = edges if closed else edges + 1
    places[edges] = _write(path, size, closed, undirected, order, places[edges], listed)
    return 1


@_inner
def _has(ends, low, high, w):
    """Return whether a row, which is in ascending order, has an end."""
    at = lower_bound(ends, low, high, w)
    return at < high and ends[at] == w


@_inner
def _walk(rows, into, stop, limits, back, stack, places, order, listed, most):
    """Count or write all paths from a vertex to another; return their number, if it is at most `most`.

    The path begins with the first vertex. A vertex on the path has no distance to the last one, so no edge
    leads to it again.
    """
    (offsets, ends), (starts, before), (_, length, _) = rows, into, limits
    path, cursor, saved = stack
    first, last = starts[stop], starts[stop + 1]
    count, depth, w, far = 0, -1, path[0], np.int64(back[path[0]])
    while True:
        # The path leads to w, which is not on it yet.
        path[depth + 1] = w
        if far == 1:
            count += _add(path, depth + 2, limits, stop, places, order, listed)
        left = length - depth - 2  # edges that can follow w
        k, end = offsets[w], offsets[w + 1]
        if left > 1:
            depth += 1
            cursor[depth], saved[depth] = k, far
            back[w] = -1
        elif left == 1 and (last - first) * PROBES < end - k:
            # Few vertices are before the last one. They are looked up in the long row of w.
            for i in range(first, last):
                v = np.int64(before[i])
                if back[v] == 1 and _has(ends, k, end, v):
                    path[depth + 2] = v
                    count += _add(path, depth + 3, limits, stop, places, order, listed)
        elif left == 1:
            for i in range(k, end):
                if back[np.uint64(ends[i])] == 1:
                    path[depth + 2] = ends[i]
                    count += _add(path, depth + 3, limits, stop, places, order, listed)
        if depth < 0:
            return count
        # Find the next edge from the path's last vertex that has one.
        far = np.int64(0)
        while far == 0:
            v, k = path[depth], cursor[depth]
            end, left = offsets[v + 1], length - depth - 1
            while k < end:
                far = np.int64(back[np.uint64(ends[k])])
                k += 1
                if 0 < far <= left:
                    w = np.int64(ends[k - 1])
                    break
                far = np.int64(0)
            cursor[depth] = k
            if far == 0:
                back[v] = saved[depth]
                depth -= 1
                if depth < 0 or count > most:
                    while depth >= 0:
                        back[path[depth]] = saved[depth]
                        depth -= 1
                    return count


@_compiled
def _search(rows, into, searches, limits, spaces, places, order, listed, total, ranges, part):
    """Count or write the paths of searches, until more than ``total[1]`` are found."""
    starts, stops, above = searches
    levels, queues, stacks = spaces
    _, length, _ = limits
    ahead, back = levels[part]
    while True:
        j, end = take(ranges, part, 1)
        if j >= end or total[0] > total[1]:
            break
        start, stop = starts[j], stops[j]
        first, last = _measure(rows, into, start, stop, above[j], length, ahead, back, queues[part])
        stacks[part, 0, 0] = start
        found = _walk(
            rows, into, stop, limits, back, stacks[part], places[j], order, listed, total[1]
        )
        fetch_add(total, np.intp(0), np.int64(found))
        for i in range(first):
            ahead[queues[part, 0, i]] = -1
        for i in range(last):
            back[queues[part, 1, i]] = -1


def _run(
    rows: Rows,
    into: Rows,
    searches: Searches,
    places: np.ndarray,
    order: np.ndarray,
    listed: np.ndarray,
    most: int,
    threads: int,
) -> bool:
    """Count or write the paths of all searches; return whether there are at most `most`."""
    count, size, length = len(searches.starts), len(rows.offsets) - 1, searches.length
    parts = max(1, min(threads, count))
    spaces = (
        np.full((parts, 2, size), -1, np.int32),
        np.empty((parts, 2, size), np.int32),
        np.empty((parts, 3, length + 2), np.int64),
    )
    total = np.array([0, most])
    given: Any = rows[:2], into[:2], searches[:3], searches[3:]
    run(_search, even_turns(count, parts), *given, spaces, places, order, listed, total)
    return bool(total[0] <= most)


def count(
    rows: Rows, into: Rows, searches: Searches, most: int, *, threads: int = 1
) -> np.ndarray | None:
    counts = np.zeros((len(searches.starts), searches.length + 1), np.int64)
    nothing = np.empty(0, np.int32)
    fits = _run(rows, into, searches, counts, nothing, nothing, most, threads)
    return counts if fits else None


def write(
    rows: Rows,
    into: Rows,
    searches: Searches,
    places: np.ndarray,
    order: np.ndarray,
    listed: np.ndarray,
    *,
    threads: int = 1,
) -> None:
    if len(listed):
        _run(rows, into, searches, places, order, listed, np.iinfo(np.int64).max - 1, threads)
