"""Return memory that a worker no longer uses to the system, before Dask pauses the worker because of it.

Dask pauses a worker whose process uses more than 80 % of the memory limit, and resumes it once the process
uses less. Allocators keep memory that was freed. :mod:`.pauses` handles workers that are paused anyway.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import dask

from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.kernels import disk
from dask_graphflow.kernels.memory import PROCESS
from dask_graphflow.showing.tables import size

from . import placement
from .clients import imported, own_worker

NEAR = 0.5  # fraction of the limit; below it nothing is given back, as that takes milliseconds
PAUSE = "distributed.worker.memory.pause"
TERMINATE = "distributed.worker.memory.terminate"
SPARE = 0.03  # fraction of the limit that stays free, because memory is not estimated exactly
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


def used() -> int:
    """Return the bytes that the process of the calling task uses; 0 without a worker."""
    worker = own_worker()
    return 0 if worker is None else resident(worker)


def fits(nbytes: float) -> bool:
    """Say whether the worker of the calling task may use some more bytes during the task.

    Beyond a fraction of the memory limit, the worker's nanny would end the process.
    """
    limit = placement.memory_limit()
    return not limit or used() + nbytes <= end_fraction() * limit


def check_step(nbytes: float, needed: Callable[[], float], step: str) -> None:
    """Check that the worker of the calling task may use some more bytes during the task.

    Parameters
    ----------
    nbytes : float
        Bytes that a step of the task takes in addition to what the process uses.
    needed : callable
        Returns the bytes that the whole call takes at most.
    step : str
        What the step does, for the message.

    Raises
    ------
    GraphMemoryError
        The worker's memory limit is too low.
    """
    if fits(nbytes):
        return
    disk.let_go()
    give_back()
    limit = placement.memory_limit()
    if limit is None or fits(nbytes):
        return
    now = used()
    whole = int(max(now + nbytes, needed()))
    raise too_low(
        limit,
        whole,
        f"a worker needs about {size(whole)} to build a graph and to use it: it uses {size(now)}, and to "
        f"{step} takes {size(int(nbytes))} more",
        "use more workers, or keep the edges of a graph on disk (Graph(..., storage='disk'))",
    )


def end_fraction() -> float:
    """Return the fraction of its memory limit that a worker may use during a task."""
    fraction = dask.config.get(TERMINATE, 0.95)
    return (float(fraction) if fraction else 1.0) - SPARE


def results_of_this_kind() -> tuple[int, int, int]:
    """Return what the worker has of the results of tasks with the same name as the calling task.

    Returns
    -------
    count, nbytes, spilled : int
        Their number, their bytes, and how many of these bytes Dask has written to disk.
    """
    worker = own_worker()
    name, _ = worker.get_current_task()
    in_memory = getattr(worker.data, "fast", worker.data)
    keys = [key for key in list(worker.data) if isinstance(key, tuple) and key[0] == name]
    tasks = [(key, worker.state.tasks.get(key)) for key in keys]
    sizes = {key: task.nbytes or 0 for key, task in tasks if task is not None}
    spilled = sum(nbytes for key, nbytes in sizes.items() if key not in in_memory)
    return len(sizes), sum(sizes.values()), spilled


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
    arrow = imported("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:  # glibc
        trim(0)
