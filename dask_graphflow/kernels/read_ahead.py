"""Rows on disk that a kernel reads out of order, such as those of a frontier.

A page that a kernel waits for takes 5 times as long as one of many that Linux reads at once. So these rows
are read in the order of the file, and a thread asks Linux for them before the kernel gets there. Rows that
are near each other are asked for as one piece, with what is between them [1]_. The rows of a large frontier
are therefore read as fast as all rows in order.

.. [1] D. Zheng, D. Mhembere, R. Burns, J. Vogelstein, C. E. Priebe, A. S. Szalay, "FlashGraph: Processing
   Billion-Node Graphs on an Array of Commodity SSDs", FAST 2015.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from . import disk
from .compiling import compiled as _compiled
from .csr import Rows
from .host_threads import TURN

PIECE = 1 << 20  # bytes that Linux is asked for at a time
WINDOW = 1 << 26  # maximum number of bytes that are asked for and not used yet
PAUSE = 0.001  # seconds until the thread looks again where the kernel is


def in_order(rows: Rows, vertices: np.ndarray) -> np.ndarray:
    """Return vertices in ascending order if their rows are on disk; otherwise as they are."""
    return vertices if disk.file_of(rows.ends) is None else np.sort(vertices)


@contextmanager
def reading(rows: Rows, vertices: np.ndarray, ranges: np.ndarray) -> Iterator[Rows]:
    """Yield rows for a kernel that will read only those of some vertices.

    Parameters
    ----------
    rows : Rows
    vertices : ndarray of integers, shape (f,)
        The indices of the rows, from :func:`in_order`.
    ranges : ndarray
        Ranges of these vertices, from which the threads of the kernel take them; see :mod:`.host_threads`.
    """
    ends, weights = rows.ends, rows.weights
    if disk.file_of(ends) is None:
        yield rows
        return
    weights = None if weights is None else disk.read_by_page(weights)
    rows = rows._replace(ends=disk.read_by_page(ends), weights=weights)
    reader = _Reader(rows, vertices, ranges)
    if not reader.ask():
        yield rows
        return
    done = threading.Event()
    thread = threading.Thread(target=reader.run, args=(done,), name="graphflow-read-ahead")
    thread.start()
    try:
        yield rows
    finally:
        done.set()
        thread.join()


class _Reader:
    """Asks Linux for the rows of some vertices, as far ahead of a kernel as the window allows."""

    def __init__(self, rows: Rows, vertices: np.ndarray, ranges: np.ndarray) -> None:
        self._files = [
            (file, disk.place_of(array, file), array.itemsize)
            for array in (rows.ends, rows.weights)
            if array is not None and (file := disk.file_of(array)) is not None
        ]
        entry = sum(itemsize for _, _, itemsize in self._files)
        self._ranges = ranges
        starts, stops = ranges[0::TURN].tolist(), ranges[1::TURN].tolist()
        self._window = min(WINDOW, disk.budget() // 4) // entry // len(starts)
        self._parts = [
            _Pieces(rows.offsets, vertices[start:stop], start, entry)
            for start, stop in zip(starts, stops, strict=True)
        ]

    def run(self, done: threading.Event) -> None:
        """Ask until there is nothing left, or until the kernel is done."""
        while self.ask() and not done.wait(PAUSE):
            pass

    def ask(self) -> bool:
        """Ask for what is in the window. Return whether there is more."""
        more = False
        for part, pieces in enumerate(self._parts):
            for begin, stop in pieces.take(int(self._ranges[part * TURN]), self._window):
                for file, place, size in self._files:
                    first = (place + begin * size) // mmap.PAGESIZE * mmap.PAGESIZE
                    file.madvise(mmap.MADV_WILLNEED, first, place + stop * size - first)
            more |= pieces.left
        return more


class _Pieces:
    """The pieces of the rows of some vertices, in order.

    Parameters
    ----------
    offsets : ndarray of int64
    vertices : ndarray of integers
        Ascending.
    start : int
        Index of the first vertex in the kernel's ranges.
    entry : int
        Bytes of an entry of a row.
    """

    def __init__(self, offsets: np.ndarray, vertices: np.ndarray, start: int, entry: int) -> None:
        gap, most, entries = disk.SEEK // entry, PIECE // entry, int(offsets[-1])
        room = min(len(vertices), 1 + entries // gap) + 2 * entries // most + 1
        found = np.empty((room, 3), np.int64)
        found = found[: _pieces(offsets, vertices, gap, most, found)]
        self._pieces = found[:, :2].tolist()
        self._items = found[:, 2] + start
        self._before = np.append(0, np.cumsum(found[:, 1] - found[:, 0]))
        self._next = 0

    @property
    def left(self) -> bool:
        """Whether there are pieces that were not taken."""
        return self._next < len(self._pieces)

    def take(self, item: int, window: int) -> Iterator[tuple[int, int]]:
        """Yield the next pieces, up to a number of entries ahead of an item of the kernel's ranges."""
        here = int(np.searchsorted(self._items, item, side="right")) - 1
        self._next = max(self._next, here)
        last = int(np.searchsorted(self._before, self._before[max(here, 0)] + window))
        while self._next < min(max(last, 1), len(self._pieces)):
            yield self._pieces[self._next]
            self._next += 1


@_compiled
def _pieces(offsets, vertices, gap, most, found):  # type: ignore[no-untyped-def]
    """Find pieces: their first and last entry, and the index of their first vertex. Return how many."""
    count = 0
    for i in range(vertices.size):
        row = np.uint64(vertices[i])
        begin, stop = offsets[row], offsets[row + np.uint64(1)]
        if count and begin < found[count - 1, 1]:  # a vertex that is listed twice
            continue
        while begin < stop:
            if count and begin - found[count - 1, 1] <= gap and stop - found[count - 1, 0] <= most:
                found[count - 1, 1] = stop
                break
            found[count, 0], found[count, 1], found[count, 2] = begin, min(stop, begin + most), i
            begin = found[count, 1]
            count += 1
    return count
