"""Rows on disk that a kernel reads out of order, such as those of a frontier.

A page that a kernel waits for takes 5 times as long as one of many that Linux reads at once. So a thread
asks Linux for these rows before the kernel gets there. Rows that are near each other are asked for as one
piece, with what is between them [1]_. If the kernel reads rows in the order of the file, those of a large
frontier are read as fast as all rows.

.. [1] D. Zheng, D. Mhembere, R. Burns, J. Vogelstein, C. E. Priebe, A. S. Szalay, "FlashGraph: Processing
   Billion-Node Graphs on an Array of Commodity SSDs", FAST 2015.
"""

from __future__ import annotations

import mmap
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from . import disk
from .compiling import compiled as _compiled
from .csr import Rows
from .host_threads import TURN

PIECE = 1 << 20  # bytes that Linux is asked for at a time
WINDOW = 1 << 26  # maximum number of bytes that are asked for and not used yet
PART = 4  # the pages of a portion may take 1/4 of the room that there is
CHUNK = 1 << 16  # vertices whose pieces are found at a time
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
        The indices of the rows, in the order in which they will be read; see :func:`in_order`.
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


def portions(
    rows: Rows, vertices: np.ndarray, ranges: np.ndarray
) -> Iterator[tuple[Rows, np.ndarray]]:
    """Yield rows and ranges of vertices, for a kernel that is called once for each.

    Rows on disk are divided if their pages would take too much memory. The pages of one portion are let go
    of before the next one.

    Parameters
    ----------
    rows, vertices, ranges
        See :func:`reading`.
    """
    if disk.file_of(rows.ends) is None:
        yield rows, ranges
        return
    weighted = () if rows.weights is None else (rows.weights,)
    entry = sum(column.itemsize for column in (rows.ends, *weighted))
    starts, stops = ranges[0::TURN].tolist(), ranges[1::TURN].tolist()
    while True:
        room = disk.room() // PART
        if len(rows.ends) * entry <= room:
            cuts = stops
        else:
            most = max(1, room // len(starts) >> disk.AROUND)
            cuts = [
                int(_reach(rows.offsets, vertices, start, stop, entry, disk.AROUND, most))
                for start, stop in zip(starts, stops, strict=True)
            ]
        if cuts != stops:
            disk.let_go()
        part = np.zeros_like(ranges)
        part[0::TURN], part[1::TURN] = starts, cuts
        with reading(rows, vertices, part) as read:
            yield read, part
        if cuts == stops:
            return
        starts = cuts


@_compiled
def _reach(offsets, vertices, start, stop, entry, around, most):  # type: ignore[no-untyped-def]
    """Return the vertex before which the rows from `start` on take more than `most` mapped blocks."""
    blocks, last = np.int64(0), np.int64(-1)
    for i in range(start, stop):
        row = np.uint64(vertices[i])
        begin, end = offsets[row] * entry, offsets[row + np.uint64(1)] * entry
        if begin < end:
            first, following = begin >> around, (end - 1) >> around
            blocks += following - first + (first != last)
            last = following
        if blocks > most and i > start:
            return i
    return stop


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
            _Part(_pieces(rows.offsets, vertices, start, stop, entry))
            for start, stop in zip(starts, stops, strict=True)
        ]

    def run(self, done: threading.Event) -> None:
        """Ask until there is nothing left, or until the kernel is done."""
        while self.ask() and not done.wait(PAUSE):
            pass

    def ask(self) -> bool:
        """Ask for what is in the window. Return whether there may be more."""
        for number, part in enumerate(self._parts):
            for begin, stop in part.take(int(self._ranges[number * TURN]), self._window):
                for file, place, size in self._files:
                    first = (place + begin * size) // mmap.PAGESIZE * mmap.PAGESIZE
                    file.madvise(mmap.MADV_WILLNEED, first, place + stop * size - first)
        return any(part.left for part in self._parts)


class _Part:
    """The pieces for one thread of a kernel."""

    def __init__(self, pieces: Iterator[tuple[int, int, int]]) -> None:
        self._pieces, self.left = pieces, True
        self._asked: deque[tuple[int, int]] = deque()  # first item and size of pieces not used yet
        self._ahead = 0  # entries of these pieces

    def take(self, item: int, window: int) -> Iterator[tuple[int, int]]:
        """Yield pieces until a window of entries is asked for, given the next item of the kernel."""
        while self._asked and self._asked[0][0] < item:
            self._ahead -= self._asked.popleft()[1]
        while self._ahead < window:
            begin, stop, first = next(self._pieces, (0, 0, -1))
            if first < 0:
                self.left = False
                return
            yield begin, stop
            self._asked.append((first, stop - begin))
            self._ahead += stop - begin


def _pieces(
    offsets: np.ndarray, vertices: np.ndarray, start: int, stop: int, entry: int
) -> Iterator[tuple[int, int, int]]:
    """Yield the first entry of each piece, the entry behind it, and the item of its first vertex."""
    gap, most = disk.SEEK // entry, PIECE // entry
    for low in range(start, stop, CHUNK):
        chunk = vertices[low : min(low + CHUNK, stop)]
        room = len(chunk) + int((offsets[chunk + 1] - offsets[chunk]).sum()) // most
        found = np.empty((room, 3), np.int64)
        found = found[: _find(offsets, chunk, gap, most, found)]
        found[:, 2] += low
        yield from map(tuple, found.tolist())


@_compiled
def _find(offsets, vertices, gap, most, found):  # type: ignore[no-untyped-def]
    """Find pieces: their first entry, the one behind them, and their first vertex; return how many."""
    count = 0
    for i in range(vertices.size):
        row = np.uint64(vertices[i])
        begin, stop = offsets[row], offsets[row + np.uint64(1)]
        while begin < stop:
            if count:
                first, last = found[count - 1, 0], found[count - 1, 1]
                if first <= begin and begin - last <= gap and stop - first <= most:
                    found[count - 1, 1] = max(stop, last)
                    break
            found[count, 0], found[count, 1], found[count, 2] = begin, min(stop, begin + most), i
            begin = found[count, 1]
            count += 1
    return count
