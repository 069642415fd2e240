"""Rows with local vertex numbers, and a slot for each neighbor outside of the partition.

A partition owns a contiguous range of vertices, which are numbered from 0. The distinct neighbors that it
does not own, its *mirrors*, follow in the order of their ids.

Remote neighbors are marked in a bitmap of the graph's vertices, and the rank of a bit is its slot. The
order of edges does not change.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels.advance.host import from_words, new_words
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.disk import beside
from dask_graphflow.kernels.host_atomics import count_ones, fetch_or
from dask_graphflow.kernels.host_threads import in_parts

PARTS = 4  # pieces of the edges per thread


@_compiled
def _mark(ends, start, stop, low, high, words):
    """Set the bits of all ends in ``start:stop`` that are below `low`, or at least `high`."""
    one = np.uint64(1)
    for k in range(start, stop):
        end = np.int64(ends[k])
        if low <= end < high:
            continue
        word, bit = np.uint64(end) >> np.uint64(6), one << (np.uint64(end) & np.uint64(63))
        # Read the bit first: most bits are already set, and an atomic operation takes longer.
        if not words[word] & bit:
            fetch_or(words, np.intp(word), bit)


@_compiled
def _rank(words, ranks):
    before = np.int64(0)
    for i in range(words.size):
        ranks[i] = before
        before += np.int64(count_ones(words[i]))


@_compiled
def _localize(ends, start, stop, low, high, words, ranks, new_ends):
    one = np.uint64(1)
    for k in range(start, stop):
        end = np.int64(ends[k])
        if low <= end < high:
            new_ends[k] = end - low
            continue
        word, bit = np.uint64(end) >> np.uint64(6), np.uint64(end) & np.uint64(63)
        before = count_ones(words[word] & ((one << bit) - one))
        new_ends[k] = high - low + ranks[word] + np.int64(before)


def localized(rows_, bounds, part, *, threads=1):
    low, high = bounds[part], bounds[part + 1]
    old = rows_.ends
    words = new_words(bounds[-1])
    pieces = PARTS * max(1, threads)
    in_parts(lambda a, b: _mark(old, a, b, low, high, words), len(old), pieces, threads)
    ranks = np.empty(len(words), np.int64)
    _rank(words, ranks)
    slots = from_words(words, old.dtype)

    ends = beside(old, len(old), index_dtype(high - low + len(slots)))
    index = low, high, words, ranks, ends
    in_parts(lambda a, b: _localize(old, a, b, *index), len(old), pieces, threads)
    made = rows_._replace(ends=ends, first=rows_.first - low)
    return made, slots, np.searchsorted(slots, bounds).tolist()
