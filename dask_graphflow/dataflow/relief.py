"""Memory that a worker no longer uses, given back to the system before Dask pauses the worker for it.

Dask pauses a worker above 80 % of its memory limit, as the system counts its memory, and lets it go on once
that is less. Allocators keep what was freed. A worker that holds nothing which Dask could spill would stay
paused forever, and the whole call would wait for it without a message.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask

from dask_graphflow.exceptions import GraphMemoryError

from .placement import own_worker

__all__ = ["PROCESS", "given_back", "pause_fraction", "suggested_limit"]

PROCESS = 300_000_000  # bytes of a worker that has imported what it needs and compiled the kernels

NEAR = 0.5  # of the limit: below that nothing is given back, which takes milliseconds
PAUSE = "distributed.worker.memory.pause"
STEP = 50_000_000  # bytes that suggested limits are multiples of


@contextmanager
def given_back() -> Iterator[None]:
    """Give memory back after a step of a task, if the worker is near its limit.

    Raises
    ------
    GraphMemoryError
        So much is still in use that Dask would pause the worker and never let it go on.
    """
    worker = own_worker()
    limit = worker and worker.memory_manager.memory_limit
    yield
    if not limit:
        return
    before = _resident(worker)
    if before < NEAR * limit:
        return
    _give_back()
    after, spillable = _resident(worker), getattr(worker.data, "fast", None)
    stays = after - int(getattr(spillable, "total_weight", 0))
    if stays > pause_fraction() * limit:
        would_do = suggested_limit(max(before, after))
        raise GraphMemoryError(
            f"{worker.address} uses {stays:,} bytes that cannot be spilled, and Dask pauses it at "
            f"{pause_fraction():.0%} of its limit of {limit:,} bytes: it would never go on. Give each worker "
            f"memory_limit={would_do:,} or more, fewer threads, or edges in smaller partitions",
            needed=would_do,
            available=limit,
        )


def pause_fraction() -> float:
    """Return the fraction of its memory limit above which Dask starts no task on a worker."""
    fraction = dask.config.get(PAUSE, 0.8)
    return float(fraction) if fraction else 1.0


def suggested_limit(needed: int) -> int:
    """Return a memory limit, in bytes, with which a worker is not paused that uses so much."""
    return -(-int(needed / pause_fraction()) // STEP) * STEP


def _resident(worker: Any) -> int:
    return int(worker.monitor.get_process_memory())


def _give_back() -> None:
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:  # glibc
        trim(0)
