"""Ways to copy edges from host memory to a device, without using them there."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

PIECE = 1 << 23  # items of 4 bytes that a pinned buffer holds
SLOTS = 3

Columns = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]


class Copying:
    """Copies two columns to the device chunk by chunk, to the same buffers every time.

    Parameters
    ----------
    columns : pair of arrays
        Columns in memory that is not pinned.
    chunk : int
        Items of a column per chunk.
    threads : int
        Number of threads that fill pinned buffers.
    """

    def __init__(self, columns: Columns, chunk: int, threads: int) -> None:
        import cupy
        import cupyx

        self.columns, self.chunk, self.threads = columns, chunk, threads
        self.slots = [cupyx.empty_pinned(PIECE, "int32") for _ in range(SLOTS)]
        self.free = [cupy.cuda.Event() for _ in range(SLOTS)]
        self.pinned = cupyx.zeros_pinned(chunk, "int32")

    def by_driver(self) -> None:
        """Let the driver copy, which has its own pinned buffer."""
        for column, into in self._chunks():
            into.set(column)

    def staged(self) -> None:
        """Fill a ring of pinned buffers with several threads while others are copied from."""
        with ThreadPoolExecutor(self.threads) as executor:
            turn = 0
            for column, into in self._chunks():
                for start in range(0, len(column), PIECE):
                    piece = column[start : start + PIECE]
                    slot = turn % SLOTS
                    self.free[slot].synchronize()  # returns at once if it was never recorded
                    self._fill(executor, self.slots[slot], piece)
                    into[start : start + len(piece)].set(self.slots[slot][: len(piece)])
                    self.free[slot].record()
                    turn += 1

    def from_pinned(self) -> None:
        """Copy the same number of bytes from pinned memory, which is as fast as the link allows."""
        for column, into in self._chunks():
            into.set(self.pinned[: len(column)])

    def _chunks(self) -> Any:
        import cupy

        # Allocate the buffers for each run, because other contenders need the memory between runs.
        places = [cupy.empty(self.chunk, "int32") for _ in self.columns]
        for start in range(0, len(self.columns[0]), self.chunk):
            for column, into in zip(self.columns, places, strict=True):
                part = column[start : start + self.chunk]
                yield part, into[: len(part)]

    def _fill(self, executor: ThreadPoolExecutor, buffer: Any, piece: Any) -> None:
        bounds = [len(piece) * i // self.threads for i in range(self.threads + 1)]
        jobs = [
            executor.submit(np.copyto, buffer[low:high], piece[low:high])
            for low, high in itertools.pairwise(bounds)
        ]
        for job in jobs:
            job.result()
