"""What a scheduler still knows of the last run: to ask for it again would cost no time."""

from __future__ import annotations

import time
from typing import Any

from .errors import BenchmarkError

__all__ = ["forgotten", "known_tasks"]

PATIENCE = 30  # seconds
PAUSE = 0.01


def known_tasks(client: Any) -> int:
    """Return how many tasks the scheduler of a client has."""
    return int(client.run_on_scheduler(_tasks))


def forgotten(client: Any, held: int) -> None:
    """Wait until the scheduler has at most `held` tasks, as it had before the last run."""
    deadline = time.monotonic() + PATIENCE
    while known_tasks(client) > held:
        if time.monotonic() > deadline:
            raise BenchmarkError("the scheduler still holds the tasks of the last run")
        time.sleep(PAUSE)


def _tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)
