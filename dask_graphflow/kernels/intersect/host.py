"""Intersections of sorted rows on the host, for example to count triangles.

Vertices are ordered with high degrees first. The row of a vertex contains the neighbors that come before
it, in ascending order. Each triangle is therefore found once: its *last* vertex has an edge to the *middle*
vertex, and both have an edge to the *first* vertex.

The row of a middle vertex is marked in an array. Then the rows of all last vertices are read up to the
middle vertex, and each marked end closes a triangle. Rows are short, because few vertices have a higher
degree, and only the pairs of ends within a row are read [1]_.

.. [1] J. Shun, K. Tangwongsan, "Multicore Triangle Computations Without Tuning", ICDE 2015.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.disk import beside
from dask_graphflow.kernels.host_atomics import fetch_add, prefetch, trailing_zeros, weight_at
from dask_graphflow.kernels.host_threads import (
    MINI_CHUNK,
    even_turns,
    frontier_turns,
    run,
    share,
    take,
)

AHEAD = 4  # rows by which the first ends are prefetched
PARTS = 4  # pieces of the edges per thread
# A row is searched instead of read if it has more than SEARCHED times as many ends as are sought in it.
SEARCHED = 8
# Ends are listed and sorted if a bitmap of all ends has more than SPARSE times as many words as there are
# paths to ends. Otherwise they are marked in the bitmap.
SPARSE = 8


@partial(_compiled, inline="always")
def lower_bound(ends, low, high, end):
    """Return the index of the first entry of a sorted row that is not less than `end`."""
    while low < high:
        middle = (low + high) >> 1
        if ends[middle] < end:
            low = middle + 1
        else:
            high = middle
    return low


@_compiled
def _count_before(offsets, ends, label, start, stop):
    count = np.int64(0)
    for row in range(start, stop):
        own = label[row]
        for i in range(offsets[row], offsets[row + 1]):
            count += label[np.uint64(ends[i])] < own
    return count


@_compiled
def _write_before(offsets, ends, label, start, stop, source, target, at):
    for row in range(start, stop):
        own = label[row]
        for i in range(offsets[row], offsets[row + 1]):
            other = label[np.uint64(ends[i])]
            if other < own:
                source[at], target[at] = own, other
                at += 1


def directed(rows, label, *, threads=1):
    count, parts = len(rows.offsets) - 1, max(1, threads) * PARTS
    cuts = np.searchsorted(rows.offsets, len(rows.ends) * np.arange(1, parts) // parts)
    bounds = [0, *np.minimum(cuts, count).tolist(), count]
    given = rows.offsets, rows.ends, label
    counts = share(lambda i: _count_before(*given, bounds[i], bounds[i + 1]), parts, threads)
    begins = [0, *np.cumsum(counts).tolist()]
    edges = [beside(rows.ends, begins[-1], label.dtype) for _ in range(2)]
    share(
        lambda i: _write_before(*given, bounds[i], bounds[i + 1], *edges, begins[i]), parts, threads
    )
    return edges[0], edges[1]


@inner
def _read(ends, at, middle, marks, last_first):
    """Count the marked ends in a row before `middle`; return the count and the index of `middle`."""
    one = marks.dtype.type(1)
    count = np.int64(0)
    end = ends[at]
    while end < middle:
        mark = marks[np.uint64(end)]
        hit = mark & one
        count += np.int64(hit)
        marks[np.uint64(end)] = mark + (hit << one)  # the higher bits count triangles
        if hit and last_first.size:
            fetch_add(last_first, np.intp(at), one)
        at += 1
        end = ends[at]
    return count, at


@_compiled
def _triangles(rows, into, own, marks, last, middle_first, ranges, part):
    (offsets, ends), (enter_offsets, entering), (own_offsets, own_ends) = rows, into, own
    last_middle, last_first = last
    one = marks.dtype.type(1)
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for middle in range(start, stop):
            low, high = own_offsets[middle], own_offsets[middle + 1]
            begin, end = enter_offsets[middle], enter_offsets[middle + 1]
            if low == high or begin == end:
                continue
            for i in range(low, high):
                marks[np.uint64(own_ends[i])] = one
            for k in range(begin, end):
                soon = np.uint64(entering[min(k + AHEAD, end - 1)])
                prefetch(ends, np.intp(offsets[soon]))
                row = np.uint64(entering[k])
                count, at = _read(ends, offsets[row], middle, marks, last_first)
                last_middle[at] = count
            for i in range(low, high):
                found = marks[np.uint64(own_ends[i])] >> one
                if found:  # pages on disk that are not changed are not written
                    middle_first[i] += found
                marks[np.uint64(own_ends[i])] = 0
        start, stop = take(ranges, part, MINI_CHUNK)


@_compiled
def _opposite(rows, into, own, places, last, of_first, ranges, part):
    """For each vertex of each triangle, add the weight of the opposite edge."""
    (offsets, ends, weights), (enter_offsets, entering, enter_weights) = rows, into
    (own_offsets, own_ends, own_weights), (of_last, of_middle) = own, last
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for middle in range(start, stop):
            low, high = own_offsets[middle], own_offsets[middle + 1]
            begin, stop_at = enter_offsets[middle], enter_offsets[middle + 1]
            if low == high or begin == stop_at:
                continue
            for i in range(low, high):
                places[np.uint64(own_ends[i])] = i + 1
            for k in range(begin, stop_at):
                at = offsets[np.uint64(entering[k])]
                last, between = np.int64(0), np.int64(0)
                end = ends[at]
                while end < middle:
                    place = places[np.uint64(end)]
                    if place:
                        last += own_weights[place - 1]
                        between += weights[at]
                        of_first[place - 1] += enter_weights[k]
                    at += 1
                    end = ends[at]
                of_last[at], of_middle[at] = last, between
            for i in range(low, high):
                places[np.uint64(own_ends[i])] = 0
        start, stop = take(ranges, part, MINI_CHUNK)


def triangles(rows, entering, own, of_row, of_own, *, threads=1):
    count = len(own.offsets) - 1
    ranges = even_turns(count, threads, entering.offsets)

    def work(part: int) -> None:
        if rows.weights is None:
            marks = np.zeros(count, of_own.dtype)
            last = of_row[0], of_row[1] if len(of_row) > 1 else of_own[:0]
            _triangles(rows[:2], entering[:2], own[:2], marks, last, of_own, ranges, part)
        else:
            places, last = np.zeros(count, np.int64), (of_row[0], of_row[1])
            _opposite(rows[:3], entering[:3], own[:3], places, last, of_own, ranges, part)

    share(work, threads, threads)


@_compiled
def _credit(offsets, ends, last, middle, first, totals, ranges, part):
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for row in range(start, stop):
            own = np.int64(0)
            for i in range(offsets[row], offsets[row + 1]):
                own += np.int64(last[i])
                more = np.int64(middle[i]) + np.int64(first[i])
                if more:
                    fetch_add(totals, np.intp(ends[i]), more)
            if own:
                fetch_add(totals, np.intp(row), own)
        start, stop = take(ranges, part, MINI_CHUNK)


def credit(rows, last, middle, first, *, threads=1):
    count = len(rows.offsets) - 1
    totals = np.zeros(count, np.int64)
    ranges = even_turns(count, threads, rows.offsets)
    run(_credit, ranges, rows.offsets, rows.ends, last, middle, first, totals)
    return totals


@_compiled
def _lose(rows, own, about, own_about, leaving, groups, places, ranges, part):
    (offsets, ends, edges), (own_offsets, own_ends, own_edges) = rows, own
    (state, lost), (own_state, own_lost), (row, late, early) = about, own_about, leaving
    one = lost.dtype.type(1)
    start, stop = take(ranges, part, 1)
    while start < stop:
        first, last = groups[start], groups[start + 1]
        before = early[first]
        low, high = own_offsets[before], own_offsets[before + 1]
        wanted = np.int64(0)
        for pair in range(first, last):
            wanted += offsets[row[pair] + 1] - offsets[row[pair]]
        marked = places.size > 0 and wanted * SEARCHED > high - low
        if marked:
            for i in range(low, high):
                places[np.uint64(own_ends[i])] = i + 1
        for pair in range(first, last):
            after = late[pair]
            for at in range(offsets[row[pair]], offsets[row[pair] + 1]):
                end = ends[at]
                if marked:
                    place = places[np.uint64(end)]
                else:
                    place = lower_bound(own_ends, low, high, end) + 1
                    if place > high or own_ends[place - 1] != end:
                        continue
                if not place:
                    continue
                edge, other = edges[at], own_edges[place - 1]
                here, there = state[edge], own_state[other]
                # If several edges of a triangle leave at once, only one of them counts the loss: the one
                # whose opposite vertex comes first.
                if here > 1 or there > 1 or (here and end > before) or (there and end > after):
                    continue
                if not here:
                    fetch_add(lost, np.intp(edge), one)
                if not there:
                    fetch_add(own_lost, np.intp(other), one)
        if marked:
            for i in range(low, high):
                places[np.uint64(own_ends[i])] = 0
        start, stop = take(ranges, part, 1)


def lose(rows, state, lost, own, own_state, own_lost, row, late, early, *, threads=1):
    if not len(row):
        return
    order = np.argsort(early, kind="stable")
    row, late, early = row[order], late[order], early[order]
    groups = np.append(np.flatnonzero(np.append(True, early[1:] != early[:-1])), len(early))
    costs = np.zeros(len(groups), np.int64)
    costs[1:] = np.cumsum(np.diff(rows.offsets)[row])[groups[1:] - 1]
    ranges = frontier_turns(costs, threads)
    size = len(own.offsets) - 1
    if costs[-1] * SEARCHED < size:
        size = 0  # mark no rows: the array of marks would have more entries than there are ends to find

    def work(part: int) -> None:
        about, own_about, leaving = (state, lost), (own_state, own_lost), (row, late, early)
        given = rows[:3], own[:3], about, own_about, leaving, groups
        _lose(*given, np.zeros(size, np.int64), ranges, part)

    share(work, threads, threads)


@_compiled
def _settle(state, lost, support, limit, fallen):
    count = 0
    for edge in range(state.size):
        if state[edge] == 1:
            state[edge] = 2
        fewer = lost[edge]
        if fewer:
            lost[edge] = 0
            if edge < support.size:
                support[edge] -= fewer
                if support[edge] <= limit:
                    fallen[count] = edge
                    count += 1
    return count


def settle(state, lost, support, limit):
    fallen = np.empty(len(support), np.int64)
    return fallen[: _settle(state, lost, support, limit, fallen)].copy()


@inner
def _at_most(weight, weights, index):
    """Return the smaller one of `weight` and ``weights[index]``; `weight` if `weights` is None."""
    if weights is None:
        return weight
    return min(weight, weights[index])


@_compiled
def _common(rows, own, row, own_row, totals, ranges, part):
    (offsets, ends, weights), (own_offsets, own_ends, own_weights) = rows, own
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for pair in range(start, stop):
            at, last = offsets[row[pair]], offsets[row[pair] + 1]
            low, high = own_offsets[own_row[pair]], own_offsets[own_row[pair] + 1]
            search = (last - at) * SEARCHED < high - low
            total = np.int64(0)
            while at < last and low < high:
                end = ends[at]
                if search:
                    low = lower_bound(own_ends, low, high, end)
                else:
                    while low < high and own_ends[low] < end:
                        low += 1
                if low < high and own_ends[low] == end:
                    total += _at_most(weight_at(own_weights, low), weights, at)
                at += 1
            totals[pair] = total
        start, stop = take(ranges, part, MINI_CHUNK)


def common(rows, own, row, own_row, *, threads=1):
    totals = np.zeros(len(row), np.int64)
    run(_common, even_turns(len(row), threads), rows[:3], own[:3], row, own_row, totals)
    return totals


@inner
def _sort(items, count):
    """Sort the first items in place (heapsort). NumPy's way would allocate memory."""
    start, end = count // 2, count
    while end > 1:
        if start > 0:
            start -= 1
            moving = items[start]
        else:
            end -= 1
            moving, items[end] = items[end], items[0]
        at, below = start, 2 * start + 1
        while below < end:
            if below + 1 < end and items[below + 1] > items[below]:
                below += 1
            if items[below] <= moving:
                break
            items[at] = items[below]
            at, below = below, 2 * below + 1
        items[at] = moving


@inner
def _few(rows, row, without, own, total, second, sums):
    """Write the ends two hops from a row into a list, and sort it; return their number."""
    (offsets, ends, weights), (own_offsets, own_ends, own_weights) = rows, own
    last = np.int64(0)
    for i in range(offsets[row], offsets[row + 1]):
        middle, weight = np.uint64(ends[i]), weight_at(weights, i)
        for k in range(own_offsets[middle], own_offsets[middle + np.uint64(1)]):
            end = np.uint64(own_ends[k])
            if total[end] < 0:
                total[end] = 0
                second[last] = end
                last += 1
            total[end] += _at_most(weight, own_weights, k)
    _sort(second, last)
    kept = 0
    for i in range(last):
        end = np.uint64(second[i])
        if second[i] != without:
            second[kept], sums[kept] = second[i], total[end]
            kept += 1
        total[end] = -1
    return kept


@inner
def _many(rows, row, without, own, total, words, second, sums):
    """Mark the ends two hops from a row in a bitmap, and list them from it; return their number."""
    (offsets, ends, weights), (own_offsets, own_ends, own_weights) = rows, own
    one, last = np.uint64(1), 0
    for i in range(offsets[row], offsets[row + 1]):
        middle, weight = np.uint64(ends[i]), weight_at(weights, i)
        for k in range(own_offsets[middle], own_offsets[middle + one]):
            end = np.uint64(own_ends[k])
            words[end >> np.uint64(6)] |= one << (end & np.uint64(63))
            total[end] += _at_most(weight, own_weights, k)
    for at in range(words.size):
        word, words[at] = words[at], np.uint64(0)
        while word:
            end = np.uint64(at) * np.uint64(64) + trailing_zeros(word)
            word &= word - one
            # Totals start at -1, because `_few` takes this as the sign that an end is not in its list yet.
            if np.int64(end) != without:
                second[last], sums[last] = end, total[end] + 1
                last += 1
            total[end] = -1
    return last


@_compiled
def _two_hops(rows, without, own, starts, out, memory, ranges, part):
    (path_offsets, bounds), (lengths, second, sums), (total, words) = starts, out, memory
    start, stop = take(ranges, part, 1)
    while start < stop:
        for row in range(start, stop):
            given = rows, row, without[row], own, total
            low, high = bounds[row], bounds[row + 1]
            if (path_offsets[row + 1] - path_offsets[row]) * SPARSE < words.size:
                lengths[row] = _few(*given, second[low:high], sums[low:high])
            else:
                lengths[row] = _many(*given, words, second[low:high], sums[low:high])
        start, stop = take(ranges, part, 1)


@_compiled
def _without_gaps(bounds, last, second, sums, new_second, new_sums, ranges, part):
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for row in range(start, stop):
            shift = bounds[row] - last[row]
            for i in range(last[row], last[row + 1]):
                new_second[i], new_sums[i] = second[i + shift], sums[i + shift]
        start, stop = take(ranges, part, MINI_CHUNK)


def two_hops(rows, without, own, size, *, threads=1):
    count = len(rows.offsets) - 1
    path_offsets = np.zeros(len(rows.ends) + 1, np.int64)
    np.cumsum(np.diff(own.offsets)[rows.ends], out=path_offsets[1:])
    path_offsets = path_offsets[rows.offsets]
    bounds = np.zeros(count + 1, np.int64)
    np.cumsum(np.minimum(np.diff(path_offsets), size), out=bounds[1:])
    lengths, second = np.zeros(count, np.int64), np.empty(bounds[-1], own.ends.dtype)
    sums = np.empty(bounds[-1], np.int64)
    ranges = frontier_turns(path_offsets, threads)

    def work(part: int) -> None:
        memory = np.full(size, -1, np.int64), np.zeros(-(-size // 64), np.uint64)
        starts, out = (path_offsets, bounds), (lengths, second, sums)
        _two_hops(rows[:3], without, own[:3], starts, out, memory, ranges, part)

    share(work, threads, threads)
    last = np.zeros(count + 1, np.int64)
    np.cumsum(lengths, out=last[1:])
    whole = np.empty(last[-1], second.dtype), np.empty(last[-1], np.int64)
    run(_without_gaps, even_turns(count, threads, last), bounds, last, second, sums, *whole)
    return lengths, *whole


@inner
def _sift(heap, at, end, scores):
    """Move an entry down in a heap. The first entry is the last one with the lowest score."""
    moving, below = heap[at], 2 * at + 1
    while below < end:
        if below + 1 < end and _is_worse(heap[below + 1], heap[below], scores):
            below += 1
        if not _is_worse(heap[below], moving, scores):
            break
        heap[at] = heap[below]
        at, below = below, 2 * below + 1
    heap[at] = moving


@partial(_compiled, inline="always")
def _is_worse(one, other, scores):
    return scores[one] < scores[other] or (scores[one] == scores[other] and one > other)


@_compiled
def _best(offsets, scores, chosen, starts, ranges, part):
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for row in range(start, stop):
            heap, low = chosen[starts[row] : starts[row + 1]], offsets[row]
            for i in range(heap.size):
                heap[i] = low + i
            for i in range(heap.size // 2 - 1, -1, -1):
                _sift(heap, i, heap.size, scores)
            for i in range(low + heap.size, offsets[row + 1]):
                if scores[i] > scores[heap[0]]:
                    heap[0] = i
                    _sift(heap, 0, heap.size, scores)
            for end in range(heap.size - 1, 0, -1):
                heap[0], heap[end] = heap[end], heap[0]
                _sift(heap, 0, end, scores)
        start, stop = take(ranges, part, MINI_CHUNK)


def best(offsets, scores, count, *, threads=1):
    sizes = np.diff(offsets)
    count = max(int(sizes.max(initial=0)), 1) if count is None else count
    lengths = np.minimum(sizes, count)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    chosen = np.empty(starts[-1], np.int64)
    ranges = even_turns(len(sizes), threads, offsets)
    run(_best, ranges, offsets, scores, chosen, starts)
    return chosen, lengths
