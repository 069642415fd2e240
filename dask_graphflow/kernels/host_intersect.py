"""Intersections of sorted rows on the host: the triangles that the edges of a graph close.

Vertices have an order in which those of high degree come first. The row of a vertex has its neighbors that
come before it, in ascending order. So each triangle is found once: its *last* vertex has an edge to the
*middle* one, and both have an edge to the *first* one.

The row of a middle vertex is marked in an array. Then the rows of all last vertices are read up to the
middle one, and each marked end closes a triangle. Rows are short, since few vertices have a higher degree,
and only the pairs of ends within a row are looked at [1]_.

.. [1] J. Shun, K. Tangwongsan, "Multicore Triangle Computations Without Tuning", ICDE 2015.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled as _compiled
from .host_atomics import fetch_add, prefetch
from .host_rows import Rows
from .host_threads import MINI_CHUNK, even_turns, share, take

__all__ = ["credit", "triangles"]

AHEAD = 4  # rows whose first ends are asked for before they are read


@_compiled
def _read(row, middle, ends, at, marks, last_first):  # type: ignore[no-untyped-def]
    """Count the marked ends of a row that come before `middle`; return their number and its place."""
    one = marks.dtype.type(1)
    found = np.int64(0)
    end = ends[at]
    while end < middle:
        mark = marks[np.uint64(end)]
        hit = mark & one
        found += np.int64(hit)
        marks[np.uint64(end)] = mark + (hit << one)  # the higher bits count triangles
        if hit and last_first.size:
            fetch_add(last_first, np.intp(at), one)
        at += 1
        end = ends[at]
    return found, at


@_compiled
def _triangles(  # type: ignore[no-untyped-def]
    offsets, ends, enter_offsets, entering, own_offsets, own_ends, marks, last_middle, middle_first,
    last_first, ranges, part,
):  # fmt: skip
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
                found, at = _read(row, middle, ends, offsets[row], marks, last_first)
                last_middle[at] = found
            for i in range(low, high):
                middle_first[i] += marks[np.uint64(own_ends[i])] >> one
                marks[np.uint64(own_ends[i])] = 0
        start, stop = take(ranges, part, MINI_CHUNK)


def triangles(
    rows: Rows,
    entering: Rows,
    own: Rows,
    last_middle: np.ndarray,
    middle_first: np.ndarray,
    last_first: np.ndarray | None,
    *,
    threads: int = 1,
) -> None:
    """Count the triangles whose last vertex has a row, and whose middle vertex has an own row.

    Parameters
    ----------
    rows : Rows
        Rows of last vertices, in ascending order. They may be of any vertices.
    entering : Rows
        For each vertex, the rows that it is an end of, as indices into `rows`.
    own : Rows
        Rows of all vertices; empty for vertices that are not own ones.
    last_middle : ndarray of the unsigned type of ends, shape (ends of rows,)
        Written for each entry whose end is an own vertex with ends and entries: triangles in which the
        entry is the edge from the last to the middle vertex.
    middle_first : ndarray of the same dtype, shape (ends of own,)
        The number of triangles in which an entry is the edge from the middle to the first vertex is added.
    last_first : ndarray of the same dtype, shape (ends of rows,), or None
        The number of triangles in which an entry is the edge from the last to the first vertex is added.
    threads : int
        Threads to use.
    """
    count = len(own.offsets) - 1
    ranges = even_turns(count, threads, entering.offsets)
    also = last_middle[:0] if last_first is None else last_first

    def work(part: int) -> None:
        marks = np.zeros(count, last_middle.dtype)
        _triangles(
            rows.offsets, rows.ends, entering.offsets, entering.ends, own.offsets, own.ends, marks,
            last_middle, middle_first, also, ranges, part,
        )  # fmt: skip

    share(work, threads, threads)


@_compiled
def _credit(offsets, ends, last_middle, middle_first, totals, ranges, part):  # type: ignore[no-untyped-def]
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for row in range(start, stop):
            own = np.int64(0)
            for i in range(offsets[row], offsets[row + 1]):
                own += np.int64(last_middle[i])
                more = np.int64(last_middle[i]) + np.int64(middle_first[i])
                if more:
                    fetch_add(totals, np.intp(ends[i]), more)
            if own:
                fetch_add(totals, np.intp(row), own)
        start, stop = take(ranges, part, MINI_CHUNK)


def credit(
    rows: Rows, last_middle: np.ndarray, middle_first: np.ndarray, *, threads: int = 1
) -> np.ndarray:
    """Return the triangles of each vertex: those that it is the last, the middle, or the first vertex of.

    Parameters
    ----------
    rows : Rows
        Of all vertices, from 0 on.
    last_middle, middle_first : ndarray of unsigned integers
        Counts of :func:`triangles`, one per entry of the rows.
    threads : int
        Threads to use.

    Returns
    -------
    ndarray of int64, shape (V,)
    """
    count = len(rows.offsets) - 1
    totals = np.zeros(count, np.int64)
    ranges = even_turns(count, threads, rows.offsets)
    found = last_middle, middle_first, totals, ranges
    share(lambda part: _credit(rows.offsets, rows.ends, *found, part), threads, threads)
    return totals
