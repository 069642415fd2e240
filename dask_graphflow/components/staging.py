"""Staging: arrays of numbers on their way through pinned memory, narrowed where every value fits.

Arrays pass through a ring of pinned buffers piece by piece. While one piece is queued to be copied from
its buffer, threads already fill the next one: each takes one share of it, of all arrays, so that it asks
for Python's lock a few times a piece however many edges that is.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphflow.kernels.host_copies import narrow

__all__ = ["ALIGNMENT", "Piece", "Stage", "Team", "Times", "narrower", "room", "views"]

ALIGNMENT = 256  # bytes between where arrays may begin in a buffer: what cudaMalloc gives too
BUFFERS = 3  # two are filled, the first of them soon ready, while one is copied from
SHARE = 1 << 16  # items of an array that are worth handing to another thread


def narrower(own: Any, wanted: Any) -> Any:
    """Return the dtype to convert to: what is wanted, where that makes integers smaller.

    Examples
    --------
    >>> import numpy as np
    >>> narrower(np.dtype("int64"), np.dtype("int32"))
    dtype('int32')
    >>> narrower(np.dtype("int8"), np.dtype("int32"))
    dtype('int8')
    """
    return wanted if own.kind in "iu" and wanted.itemsize < own.itemsize else own


def room(size: int, dtypes: Sequence[Any]) -> int:
    """Return how many items of each of these dtypes a buffer of `size` bytes holds."""
    sizes = [dtype.itemsize for dtype in dtypes]
    count = size // sum(sizes)
    if all(count * one % ALIGNMENT == 0 for one in sizes[:-1]):
        return int(count)
    return int((size - (len(sizes) - 1) * ALIGNMENT) // sum(sizes))


def views(buffer: Any, dtypes: Sequence[Any], count: int) -> list[Any]:
    """Return arrays of `count` items each that share a buffer of bytes."""
    found, start = [], 0
    for dtype in dtypes:
        stop = start + count * dtype.itemsize
        found.append(buffer[start:stop].view(dtype))
        start = -(-stop // ALIGNMENT) * ALIGNMENT
    return found


@dataclass
class Times:
    """Where the time of who has arrays staged went, in seconds.

    Attributes
    ----------
    pinning : float
        Making pinned memory.
    staging : float
        Waiting for threads that fill it.
    waiting : float
        Waiting for something else: whoever copies from it was slower.
    """

    pinning: float = 0.0
    staging: float = 0.0
    waiting: float = 0.0


class Team:
    """Threads that convert arrays together; they are started when there is work for more than one.

    Parameters
    ----------
    threads : int
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None

    def begin(self, source: Sequence[np.ndarray], to: Sequence[np.ndarray]) -> list[Future[bool]]:
        """Begin to copy arrays into others, all of one length.

        Returns
        -------
        list of Future
            Whether every value of a share fits where it is to go.
        """
        length = len(source[0])
        if length < SHARE:  # less work than handing it out
            done: Future[bool] = Future()
            done.set_result(_convert(source, to))
            return [done]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, "graphflow-staging")
        share = max(-(-length // self._threads), SHARE)
        return [
            self._pool.submit(
                _convert, *([a[i : i + share] for a in side] for side in (source, to))
            )
            for i in range(0, length, share)
        ]

    def close(self) -> None:
        """Let the threads end."""
        if self._pool is not None:
            self._pool.shutdown()


@dataclass
class _Buffer:
    """Pinned memory, and the event after which it may be written."""

    memory: Any = None
    copied: Any = None


@dataclass
class Piece:
    """A part of some arrays.

    Attributes
    ----------
    start : int
        Where it begins in them.
    arrays : list of array
        In pinned memory.
    buffer : object
        Where they lie; its `copied` is to be set to an event after the copies from it.
    fits : bool
        Whether every value fits its dtype; else the arrays are not to be used.
    """

    start: int
    arrays: list[np.ndarray]
    buffer: _Buffer
    fits: bool = True


class Stage:
    """A ring of pinned buffers, and the threads that fill it.

    Parameters
    ----------
    copies : Copies
        What makes pinned memory, when a buffer is first needed.
    size : int
        Bytes of a buffer.
    threads : int
        That fill it.
    times : Times
        Where it is noted where time went.
    """

    def __init__(self, copies: Any, size: int, threads: int, times: Times) -> None:
        self._times = times
        self._copies = copies
        self._size = size
        self._team = Team(threads)
        self._buffers = [_Buffer() for _ in range(BUFFERS)]
        self._next = 0

    def room(self, dtypes: Sequence[Any]) -> int:
        """Return how many items of each of these dtypes make a piece, at most."""
        return room(self._size, dtypes)

    def pieces(
        self, arrays: Sequence[np.ndarray], dtypes: Sequence[Any], cuts: Iterable[tuple[int, int]]
    ) -> Generator[Piece, None, None]:
        """Yield pieces of arrays, from each cut's start to its stop, while the next one is staged.

        Closed, it leaves no thread that reads the arrays.
        """
        ahead: deque[tuple[Piece, list[Future[bool]]]] = deque()
        try:
            for start, stop in cuts:
                part = [array[start:stop] for array in arrays]
                ahead.append(self._begin(start, part, dtypes))
                if len(ahead) > 1:
                    yield self._end(*ahead.popleft())
            while ahead:
                yield self._end(*ahead.popleft())
        finally:
            for _, tasks in ahead:
                wait(tasks)

    def close(self) -> None:
        """Give the buffers back; nothing copies from them any more."""
        self._buffers = []
        self._team.close()

    def _begin(
        self, start: int, part: list[np.ndarray], dtypes: Sequence[Any]
    ) -> tuple[Piece, list[Future[bool]]]:
        buffer = self._buffers[self._next]
        self._next = (self._next + 1) % BUFFERS
        began = time.perf_counter()
        if buffer.memory is None:
            buffer.memory = self._copies.pinned(self._size)
        made = time.perf_counter()
        if buffer.copied is not None:
            buffer.copied.synchronize()
        waited = time.perf_counter()
        staged = views(buffer.memory, dtypes, len(part[0]))
        tasks = self._team.begin(part, staged)
        self._times.pinning += made - began
        self._times.waiting += waited - made
        self._times.staging += time.perf_counter() - waited
        return Piece(start, staged, buffer), tasks

    def _end(self, piece: Piece, tasks: list[Future[bool]]) -> Piece:
        began = time.perf_counter()
        wait(tasks)  # for all, also where one fails: none may write to the buffer later
        piece.fits = all(task.result() for task in tasks)
        self._times.staging += time.perf_counter() - began
        return piece


def _convert(source: Sequence[np.ndarray], to: Sequence[np.ndarray]) -> bool:
    """Copy numbers from arrays to others, unless one does not fit; say whether all do."""
    return all(map(_convert_one, source, to))


def _convert_one(source: np.ndarray, to: np.ndarray) -> bool:
    if np.can_cast(source.dtype, to.dtype):
        np.copyto(to, source)
        return True
    return narrow(source, to)
