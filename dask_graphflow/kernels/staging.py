"""Staging: copies arrays of numbers to pinned memory, in narrower dtypes if every value fits.

Arrays pass through a ring of pinned buffers piece by piece. While one piece is queued to be copied from
its buffer, threads already fill the next one. Each thread takes one share of a piece, across all arrays.
So it needs Python's lock only a few times per piece, regardless of the number of edges.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphflow.kernels.narrowing import narrow

ALIGNMENT = 256  # bytes; alignment of arrays in a buffer, the same as that of cudaMalloc
BUFFERS = 3  # two are being filled, the first of them almost ready, while a third is copied from
SHARE = 1 << 16  # smallest number of items that are worth handing to another thread


def narrower(own: Any, wanted: Any) -> Any:
    """Return the dtype to convert to: `wanted` if this makes integers smaller, and `own` otherwise.

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
    arrays, start = [], 0
    for dtype in dtypes:
        stop = start + count * dtype.itemsize
        arrays.append(buffer[start:stop].view(dtype))
        start = -(-stop // ALIGNMENT) * ALIGNMENT
    return arrays


@dataclass
class Counters:
    """Counts and times of a link so far."""

    # Number of chunks, copies and bytes that went to the device.
    chunks: int = 0
    copies: int = 0
    bytes: int = 0
    widened: int = 0  # number of calls in which a value did not fit the requested narrower dtype
    most_in_flight: int = 0  # the largest number of chunks that were in flight at once
    # Seconds that the copier spent on making pinned memory, on waiting for the threads that fill it, and on
    # waiting for a buffer because the copies or the reader were slower.
    pinning: float = 0.0
    staging: float = 0.0
    waiting: float = 0.0
    # Times, by ``time.perf_counter``, at which the latest call handed over its first chunk, and at which
    # its last copy had ended.
    first_use: float = math.nan
    last_copy: float = math.nan


@dataclass
class _Buffer:
    """Pinned memory, and the event after which it may be overwritten."""

    memory: Any = None
    copied: Any = None


@dataclass
class ArrayPart:
    """A part of some arrays."""

    start: int  # the index in the arrays where the piece begins
    arrays: list[np.ndarray]  # the values of the piece, in pinned memory
    # The buffer that contains `arrays`. Set its `copied` to an event after the copies from it.
    buffer: _Buffer
    fits: bool = True  # whether every value fits its dtype. If not, do not use `arrays`.


class Stage:
    """A ring of pinned buffers, and the threads that fill it.

    A buffer of `size` bytes is made when it is first needed. The times are added to `counters`.
    """

    def __init__(self, copies: Any, size: int, threads: int, counters: Counters) -> None:
        self._counters = counters
        self._copies = copies
        self._size = size
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None  # made when there is work for several threads
        self._buffers = [_Buffer() for _ in range(BUFFERS)]
        self._next = 0

    def room(self, dtypes: Sequence[Any]) -> int:
        """Return the largest number of items of each of these dtypes in a piece."""
        return room(self._size, dtypes)

    def pieces(
        self, arrays: Sequence[np.ndarray], dtypes: Sequence[Any], cuts: Iterable[tuple[int, int]]
    ) -> Generator[ArrayPart, None, None]:
        """Yield the piece of each cut, from its start to its stop, while the next piece is staged.

        After the generator is closed, no thread reads the arrays any more.
        """
        ahead: deque[tuple[ArrayPart, list[Future[bool]]]] = deque()
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
        """Free the buffers. Nothing may copy from them any more."""
        self._buffers = []
        if self._pool is not None:
            self._pool.shutdown()

    def _begin(
        self, start: int, part: list[np.ndarray], dtypes: Sequence[Any]
    ) -> tuple[ArrayPart, list[Future[bool]]]:
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
        tasks = self._convert(part, staged)
        self._counters.pinning += made - began
        self._counters.waiting += waited - made
        self._counters.staging += time.perf_counter() - waited
        return ArrayPart(start, staged, buffer), tasks

    def _convert(
        self, source: Sequence[np.ndarray], to: Sequence[np.ndarray]
    ) -> list[Future[bool]]:
        """Begin to copy arrays to others. Each task returns whether all values of its share fit."""
        length = len(source[0])
        if length < SHARE:  # handing out so little work would take longer than the work
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

    def _end(self, piece: ArrayPart, tasks: list[Future[bool]]) -> ArrayPart:
        began = time.perf_counter()
        wait(tasks)  # wait for all tasks even if one fails, so that none writes to the buffer later
        piece.fits = all(task.result() for task in tasks)
        self._counters.staging += time.perf_counter() - began
        return piece


def _convert(source: Sequence[np.ndarray], to: Sequence[np.ndarray]) -> bool:
    """Copy numbers from arrays to others. Stop and return False if a number does not fit."""
    return all(map(_convert_one, source, to))


def _convert_one(source: np.ndarray, to: np.ndarray) -> bool:
    if np.can_cast(source.dtype, to.dtype):
        np.copyto(to, source)
        return True
    return narrow(source, to)
