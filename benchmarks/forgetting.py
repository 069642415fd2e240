"""Wait until a scheduler has forgotten the last run, because it would reuse known results."""

from __future__ import annotations

import time
from typing import Any

from .errors import BenchmarkError

__all__ = ["forgotten", "known_tasks"]

PATIENCE = 30  # seconds
PAUSE = 0.01


def known_tasks(client: Any) -> int:
    """Return the number of tasks that the scheduler of a client knows."""
    return int(client.run_on_scheduler(_tasks))


def forgotten(client: Any, held: int) -> None:
    """Wait until the scheduler has at most `held` tasks, the number before the last run."""
    deadline = time.monotonic() + PATIENCE
    while known_tasks(client) > held:
        if time.monotonic() > deadline:
            raise BenchmarkError("the scheduler still holds the tasks of the last run")
        time.sleep(PAUSE)


def _tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)
