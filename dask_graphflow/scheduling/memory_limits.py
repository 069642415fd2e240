"""Return memory that a worker no longer uses to the system, before Dask pauses the worker because of it.

Dask pauses a worker whose process uses more than 80 % of the memory limit, and resumes it once the process
uses less. Allocators keep memory that was freed. :mod:`.pauses` handles workers that are paused anyway.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import dask

from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.kernels.memory import PROCESS
from dask_graphflow.showing.tables import size

from .clients import own_worker

NEAR = 0.5  # fraction of the limit; below it nothing is given back, as that takes milliseconds
PAUSE = "distributed.worker.memory.pause"
STEP = 50_000_000  # suggested limits are multiples of this many bytes


def relieve() -> None:
    """Give memory back between two steps of a task, if the worker is near its limit."""
    worker = own_worker()
    limit = worker and worker.memory_manager.memory_limit
    if limit and resident(worker) >= NEAR * limit:
        give_back()


def check_limit(limit: int) -> None:
    """Check that a worker with a memory limit can do anything at all.

    Raises
    ------
    GraphMemoryError
        The worker would be paused or stopped as soon as it has loaded this library.
    """
    if pause_fraction() * limit < PROCESS:
        raise too_low(
            limit, PROCESS, f"a worker that has loaded this library needs {size(PROCESS)}"
        )


def too_low(limit: int, needed: int, reason: str, instead: str = "") -> GraphMemoryError:
    """Return the error for a memory limit, which suggests a sufficient limit.

    Parameters
    ----------
    limit, needed : int
        Bytes that a worker may use, and the most that it would use.
    reason : str
        The start of the message: a clause that says what needs the memory.
    instead : str
        What else would help.
    """
    would_do = -(-int(needed / pause_fraction()) // STEP) * STEP
    also = f"; or {instead}" if instead else ""
    return GraphMemoryError(
        f"{reason}, but Dask pauses a worker at {pause_fraction():.0%} of its memory limit, which is "
        f"{size(limit)}. Give each worker memory_limit='{would_do // 10**6}MB' or more{also}",
        needed=would_do,
        available=limit,
    )


def pause_fraction() -> float:
    """Return the fraction of its memory limit above which Dask starts no task on a worker."""
    fraction = dask.config.get(PAUSE, 0.8)
    return float(fraction) if fraction else 1.0


def resident(worker: Any) -> int:
    """Return the bytes that a worker's process uses."""
    return int(worker.monitor.get_process_memory())


def give_back() -> None:
    """Return the memory that allocators keep to the system."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:  # glibc
        trim(0)
