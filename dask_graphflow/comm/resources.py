"""What a member of a gang may use of the process in which it runs: threads, memory, files.

Whoever starts the member knows this, and hands it down with the member's channel. Without Dask, the
defaults hold: all cores, and no limit.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

import psutil
import pyarrow as pa

from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.kernels import device_memory, disk
from dask_graphflow.showing.tables import size

NEAR = 0.5  # fraction of the limit; below it nothing is given back, as that takes milliseconds
CORES = os.cpu_count() or 1  # asked once, because an answer takes 0.1 ms
STEP = 50_000_000  # suggested limits are multiples of this many bytes


def _process_bytes() -> int:
    return int(psutil.Process().memory_info().rss)


@dataclass(frozen=True)
class Resources:
    """What a member may use of the process in which it runs."""

    # Number of host threads for this member.
    threads: int = CORES
    gpu: bool = False  # whether the process has a GPU of its own
    memory_limit: int | None = None  # bytes that the process may use; None without a limit
    # Fractions of the memory limit: above the first, the process is given no more work; above the second,
    # it may be ended.
    pause: float = 1.0
    end: float = 1.0
    used: Callable[[], int] = _process_bytes  # returns the bytes that the process uses
    folder: Callable[[], str] = tempfile.gettempdir  # returns the folder for files of the member

    def memory(self, device: bool) -> float:
        """Return the bytes that the process may use, of its GPU or of the host; infinite without a limit.

        The result is the same for every call.
        """
        limit = device_memory() if device else self.memory_limit
        return math.inf if limit is None else limit

    def fits(self, nbytes: float) -> bool:
        """Say whether the process may use some more bytes."""
        return not self.memory_limit or self.used() + nbytes <= self.end * self.memory_limit

    def relieve(self) -> None:
        """Give memory back between two steps of a task, if the process is near its limit."""
        if self.memory_limit and self.used() >= NEAR * self.memory_limit:
            give_back()

    def check_step(self, nbytes: float, needed: Callable[[], float], step: str) -> None:
        """Raise :class:`.GraphMemoryError` if the process may not use `nbytes` more for a step.

        `needed` returns the bytes that the whole call takes at most.
        """
        if self.fits(nbytes):
            return
        disk.let_go()
        give_back()
        if self.fits(nbytes):
            return
        now = self.used()
        whole = int(max(now + nbytes, needed()))
        raise self.too_low(
            whole,
            f"a worker needs about {size(whole)} to build a graph and to use it: it uses {size(now)}, and "
            f"to {step} takes {size(int(nbytes))} more",
            "use more workers, or keep the edges of a graph on disk (Graph(..., storage='disk'))",
        )

    def too_low(self, needed: int, reason: str, instead: str = "") -> GraphMemoryError:
        """Return the error for a memory limit below the `needed` bytes; it suggests a sufficient limit.

        The message begins with `reason`, a clause that says what needs the memory; `instead` says what else
        would help.
        """
        assert self.memory_limit is not None
        would_do = -(-int(needed / self.pause) // STEP) * STEP
        also = f"; or {instead}" if instead else ""
        return GraphMemoryError(
            f"{reason}, but Dask pauses a worker at {self.pause:.0%} of its memory limit, which is "
            f"{size(self.memory_limit)}. Give each worker memory_limit='{would_do // 10**6}MB' or "
            f"more{also}",
            needed=would_do,
            available=self.memory_limit,
        )


def give_back() -> None:
    """Return the memory that allocators keep to the system."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:  # glibc
        trim(0)


class Subset:
    """A shard of a gang in which only the first members have work.

    Attributes
    ----------
    members : int
        The number of members that have work; it is the same in all shards of the gang. The other members
        return at once, and no member waits for them.
    """

    members: int
