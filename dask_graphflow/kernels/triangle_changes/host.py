"""Triangles of changed edges: the shorter row of two ends is looked up in the longer one.

Nothing of the old graph is stored. Its edges are those of the new graph without the inserted pairs, and
with the deleted ones.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.intersect.host import lower_bound

from . import Touched


@inner
def _reach(ends, at, stop, end):
    """Return the first entry from `at` on that is not less than `end`, by steps that double."""
    step = np.int64(1)
    while at + step < stop and ends[at + step] < end:
        at += step
        step <<= 1
    return lower_bound(ends, at, min(stop, at + step), end)


@_compiled
def _changed(touched, first, second, low, sums):
    vertices, starts, stops, ends, offsets, others, inserted, ranks = touched
    for p in range(first.size):
        a, b = first[p], second[p]
        length = stops[a] - starts[a] + offsets[a + 1] - offsets[a]
        if length > stops[b] - starts[b] + offsets[b + 1] - offsets[b]:
            a, b = b, a
        u, v = vertices[a], vertices[b]
        own = _reach(others, offsets[a], offsets[a + 1], v)
        new, rank = inserted[own], ranks[own]
        sign = 1 if new else -1
        found = np.int64(0)
        i, stop = starts[a], stops[a]  # in the row of u, and in its changed edges
        j, last = offsets[a], offsets[a + 1]
        row, edge = starts[b], offsets[b]  # in the row of v, and in its changed edges
        while i < stop or j < last:
            # w is the next neighbor of u in one of the two graphs. A changed edge is in the graph of this
            # triangle if it was changed in the same way. If its rank is smaller, the triangle counts there.
            w = np.int64(ends[i]) if i < stop else others[j]
            if j < last and others[j] < w:
                w = others[j]
            near = True
            if j < last and others[j] == w:
                near = inserted[j] == new and ranks[j] > rank
                j += 1
            while i < stop and ends[i] == w:
                i += 1
            if not near or w in (u, v):
                continue
            edge = _reach(others, edge, offsets[b + 1], w)
            if edge < offsets[b + 1] and others[edge] == w:
                closes = inserted[edge] == new and ranks[edge] > rank
            else:
                row = _reach(ends, row, stops[b], w)
                closes = row < stops[b] and ends[row] == w
            if closes:
                found += sign
                if 0 <= w - low < sums.size:
                    sums[w - low] += sign
        if 0 <= u - low < sums.size:
            sums[u - low] += found
        if 0 <= v - low < sums.size:
            sums[v - low] += found


def changed(
    touched: Touched, first: np.ndarray, second: np.ndarray, low: int, sums: np.ndarray
) -> None:
    _changed(tuple(touched), first, second, low, sums)


@_compiled
def _neighbors(offsets, ends, first, at, counts):
    for k in range(at.size):
        last = own = at[k] + first
        for i in range(offsets[at[k]], offsets[at[k] + 1]):
            counts[k] += ends[i] != last and ends[i] != own
            last = ends[i]


def neighbors(rows: Rows, at: np.ndarray) -> np.ndarray:
    counts = np.zeros(len(at), np.int64)
    _neighbors(rows.offsets, rows.ends, rows.first, at, counts)
    return counts
