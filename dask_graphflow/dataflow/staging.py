"""Staging: arrays of numbers on their way into buffers of bytes, narrowed where every value fits."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

__all__ = ["ALIGNMENT", "Team", "narrower", "room", "views"]

ALIGNMENT = 256  # bytes between where arrays may begin in a buffer: what cudaMalloc gives too
PIECE = 1 << 18  # items a thread looks at and then converts: the second time from its cache


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
    free = size - (len(dtypes) - 1) * ALIGNMENT
    return int(free // sum(dtype.itemsize for dtype in dtypes))


def views(buffer: Any, dtypes: Sequence[Any], count: int) -> list[Any]:
    """Return arrays of `count` items each that share a buffer of bytes."""
    found, start = [], 0
    for dtype in dtypes:
        stop = start + count * dtype.itemsize
        found.append(buffer[start:stop].view(dtype))
        start = -(-stop // ALIGNMENT) * ALIGNMENT
    return found


class Team:
    """Threads that convert arrays together; they are started when there is work for more than one.

    Parameters
    ----------
    threads : int
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None

    def convert(self, source: Sequence[np.ndarray], to: Sequence[np.ndarray]) -> bool:
        """Copy arrays into others of one length; say whether every value fits where it is to go."""
        length = len(source[0])
        share = max(-(-length // self._threads), PIECE)
        parts = [
            (wide[start : start + share], out[start : start + share])
            for wide, out in zip(source, to, strict=True)
            for start in range(0, length, share)
        ]
        if self._threads == 1 or length < PIECE:  # less work than handing it out
            return all(_convert(*part) for part in parts)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, "graphflow-staging")
        tasks = [self._pool.submit(_convert, *part) for part in parts]
        wait(tasks)  # all, also where one fails: none may write to the buffer later
        return all(task.result() for task in tasks)

    def close(self) -> None:
        """Let the threads end."""
        if self._pool is not None:
            self._pool.shutdown()


def _convert(source: np.ndarray, to: np.ndarray) -> bool:
    """Copy numbers from one array to the other, unless one does not fit; say whether all do."""
    if np.can_cast(source.dtype, to.dtype):
        np.copyto(to, source)
        return True
    limits = np.iinfo(to.dtype)
    for start in range(0, len(source), PIECE):
        piece = source[start : start + PIECE]
        # Looking before is quicker than looking back: a cast that wraps would have to be compared.
        if int(piece.min()) < limits.min or int(piece.max()) > limits.max:
            return False
        np.copyto(to[start : start + PIECE], piece, casting="unsafe")
    return True
