"""Rows by the numbers that vertices have inside a partition, with a slot for each neighbour outside of it.

A partition owns a contiguous range of vertices. Inside, they are numbered from 0; the distinct neighbours
that it does not own, its *mirrors*, follow, in the order of their ids. Within a row what is owned comes
first, up to the row's branch point (Totem [1]_).

A row ascends, so what is owned lies in one piece of it: no row is sorted. Remote neighbours are marked in a
bitmap of the graph's vertices, and a bit's rank is its slot.

.. [1] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand Chickens
   for Heavy Lifting Graph Processing", PACT 2012.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import index_dtype
from .compiling import compiled as _compiled
from .host_advance import from_words, new_words
from .host_atomics import count_ones, fetch_or
from .host_rows import Rows, _rank
from .host_threads import MINI_CHUNK, even_turns, share, take

__all__ = ["globalized", "localized"]


@_compiled
def _mark(offsets, ends, low, high, words, middle, ranges, part):  # type: ignore[no-untyped-def]
    """Set the bits of the ends outside `low` to ``high - 1``; find where those of each row begin."""
    one = np.uint64(1)
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for row in range(start, stop):
            own = np.int64(0)
            for k in range(np.uint64(offsets[row]), np.uint64(offsets[row + 1])):
                end = np.int64(ends[k])
                if low <= end < high:
                    own += 1
                    continue
                word, bit = np.uint64(end) >> np.uint64(6), one << (np.uint64(end) & np.uint64(63))
                # Looked at first: most have been met before.
                if not words[word] & bit:
                    fetch_or(words, np.intp(word), bit)
            middle[row] = offsets[row] + own
        start, stop = take(ranges, part, MINI_CHUNK)


@_compiled
def _localize(  # type: ignore[no-untyped-def]
    offsets, middle, ends, weights, low, high, words, ranks, new_ends, new_weights, ranges, part
):
    one = np.uint64(1)
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for row in range(start, stop):
            inner, outer = np.uint64(offsets[row]), np.uint64(middle[row])
            for k in range(np.uint64(offsets[row]), np.uint64(offsets[row + 1])):
                end = np.int64(ends[k])
                if low <= end < high:
                    at = inner
                    inner += one
                    new_ends[at] = end - low
                else:
                    at = outer
                    outer += one
                    word, bit = np.uint64(end) >> np.uint64(6), np.uint64(end) & np.uint64(63)
                    before = count_ones(words[word] & ((one << bit) - one))
                    new_ends[at] = high - low + ranks[word] + np.int64(before)
                if weights is not None:
                    new_weights[at] = weights[k]
        start, stop = take(ranges, part, MINI_CHUNK)


@_compiled
def _globalize(  # type: ignore[no-untyped-def]
    offsets, middle, ends, weights, low, count, slots, new_ends, new_weights, ranges, part
):
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for row in range(start, stop):
            own, outer = np.int64(offsets[row]), np.int64(middle[row])
            last = np.int64(offsets[row + 1])
            for at in range(own, last):
                # What is owned comes before the first mirror that is higher.
                if outer < last and (own == middle[row] or slots[ends[outer] - count] < low):
                    k = outer
                    outer += 1
                    new_ends[at] = slots[ends[k] - count]
                else:
                    k = own
                    own += 1
                    new_ends[at] = low + ends[k]
                if weights is not None:
                    new_weights[at] = weights[k]
        start, stop = take(ranges, part, MINI_CHUNK)


def localized(
    rows_: Rows, bounds: Sequence[int], part: int, *, threads: int = 1
) -> tuple[Rows, np.ndarray, np.ndarray, list[int]]:
    """Number the ends of rows as they are numbered inside a partition, those that it owns first.

    Parameters
    ----------
    rows_ : Rows
        Of vertices of the partition, in ascending order within a row.
    bounds : sequence of int
        Where the partitions' ranges of vertices begin, and the last one ends.
    part : int
        The partition.
    threads : int
        Threads to use.

    Returns
    -------
    rows : Rows
        Of the same edges.
    middle : ndarray of int64, shape (r,)
        Where in each row the first end lies that is not owned.
    slots : ndarray of int32 or int64, shape (s,)
        The distinct ends that are not owned, ascending: slot `i` has the number ``V_p + i``.
    slot_bounds : list of int
        Where in `slots` those of each partition begin, and the last ones end.
    """
    low, high = bounds[part], bounds[part + 1]
    count = len(rows_.offsets) - 1
    middle = np.empty(count, np.int64)
    words = new_words(bounds[-1])
    ranges = even_turns(count, threads, rows_.offsets)
    old = rows_.offsets, rows_.ends
    share(lambda i: _mark(*old, low, high, words, middle, ranges, i), threads, threads)
    ranks = np.empty(len(words), np.int64)
    _rank(words, ranks)
    slots = from_words(words, rows_.ends.dtype)

    ends = np.empty(len(rows_.ends), index_dtype(high - low + len(slots)))
    weights = None if rows_.weights is None else np.empty_like(rows_.weights)
    ranges = even_turns(count, threads, rows_.offsets)
    moved = rows_.offsets, middle, *rows_[2:4]
    index = low, high, words, ranks
    share(lambda i: _localize(*moved, *index, ends, weights, ranges, i), threads, threads)
    vertices = None if rows_.vertices is None else (rows_.vertices - low).astype(ends.dtype)
    made = rows_._replace(vertices=vertices, ends=ends, weights=weights, first=rows_.first - low)
    return made, middle, slots, np.searchsorted(slots, bounds).tolist()


def globalized(
    rows_: Rows, middle: np.ndarray, slots: np.ndarray, low: int, high: int, *, threads: int = 1
) -> Rows:
    """Make the rows that :func:`localized` was given of those that it returned.

    Parameters
    ----------
    rows_ : Rows
    middle, slots : ndarray
        As they were returned.
    low, high : int
        The partition's bounds.
    threads : int
        Threads to use.
    """
    ends = np.empty(len(rows_.ends), slots.dtype)
    weights = None if rows_.weights is None else np.empty_like(rows_.weights)
    ranges = even_turns(len(middle), threads, rows_.offsets)
    old = rows_.offsets, middle, *rows_[2:4]
    names = low, high - low, slots
    share(lambda i: _globalize(*old, *names, ends, weights, ranges, i), threads, threads)
    vertices = None
    if rows_.vertices is not None:
        vertices = rows_.vertices.astype(slots.dtype) + slots.dtype.type(low)
    return rows_._replace(vertices=vertices, ends=ends, weights=weights, first=rows_.first + low)
