"""Memory limits of workers: what Dask's configuration says about them, and what a worker has stored.

Dask pauses a worker whose process uses more than 80 % of the memory limit, and resumes it once the process
uses less. Members give memory back before (:meth:`.Resources.relieve`), because allocators keep memory that
was freed. :mod:`.pauses` handles workers that are paused anyway.
"""

from __future__ import annotations

from typing import Any

import dask

from dask_graphflow.comm.resources import Resources
from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.kernels.memory import PROCESS
from dask_graphflow.showing.tables import size

from .clients import own_worker

PAUSE = "distributed.worker.memory.pause"
TERMINATE = "distributed.worker.memory.terminate"
SPARE = 0.03  # fraction of the limit that stays free, because memory is not estimated exactly


def check_limit(limit: int) -> None:
    """Raise if a worker with this memory limit would be paused as soon as it has loaded this library."""
    if pause_fraction() * limit < PROCESS:
        raise too_low(
            limit, PROCESS, f"a worker that has loaded this library needs {size(PROCESS)}"
        )


def end_fraction() -> float:
    """Return the fraction of its memory limit that a worker may use during a task."""
    fraction = dask.config.get(TERMINATE, 0.95)
    return (float(fraction) if fraction else 1.0) - SPARE


def results_of_this_kind() -> tuple[int, int, int]:
    """Return the number of results of tasks named like this one, their bytes, and their spilled bytes."""
    worker = own_worker()
    name, _ = worker.get_current_task()
    in_memory = getattr(worker.data, "fast", worker.data)
    keys = [key for key in list(worker.data) if isinstance(key, tuple) and key[0] == name]
    tasks = [(key, worker.state.tasks.get(key)) for key in keys]
    sizes = {key: task.nbytes or 0 for key, task in tasks if task is not None}
    spilled = sum(nbytes for key, nbytes in sizes.items() if key not in in_memory)
    return len(sizes), sum(sizes.values()), spilled


def too_low(limit: int, needed: int, reason: str, instead: str = "") -> GraphMemoryError:
    """Return the error for the memory limit of a worker; see :meth:`.Resources.too_low`."""
    own = Resources(memory_limit=limit, pause=pause_fraction())
    return own.too_low(needed, reason, instead)


def pause_fraction() -> float:
    """Return the fraction of its memory limit above which Dask starts no task on a worker."""
    fraction = dask.config.get(PAUSE, 0.8)
    return float(fraction) if fraction else 1.0


def resident(worker: Any) -> int:
    """Return the bytes that a worker's process uses."""
    return int(worker.monitor.get_process_memory())
