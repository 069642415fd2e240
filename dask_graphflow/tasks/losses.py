"""Calls that wait for workers that do not come, or that end their workers again and again.

Dask's scheduler keeps a task that no worker may run until such a worker joins, even if none ever does. It
also fails a task that was running on four workers when they died, with an error that does not say what to
do. :class:`Losses` on the scheduler does this for the tasks of this library's calls:

* A task that no worker may run for longer than Dask waits for a lost worker fails.
* A task fails when it has ended as many workers as Dask allows, before Dask fails it.
* A task whose restrictions are loose runs on another worker if those that it prefers are lost or paused.
  Dask respects that restrictions are loose when a task becomes ready, but not when a worker joins or
  resumes.
"""

from __future__ import annotations

import time
from typing import Any

import dask
from dask.utils import parse_timedelta
from distributed import SchedulerPlugin
from distributed.utils import key_split
from tornado.ioloop import PeriodicCallback

from dask_graphflow.exceptions import WorkerLostError
from dask_graphflow.showing.tables import counted

from .failing import (
    AGAIN,
    WAITING,
    fail,
    find_allowed,
    find_last_lost,
    find_lost_under,
    find_our_tasks,
    give_advice,
)

LOOK = 0.2  # seconds between two looks at tasks without a worker
LOST = "distributed.deploy.lost-worker-timeout"
NONE_THERE = "distributed.scheduler.no-workers-timeout"


class Losses(SchedulerPlugin):  # type: ignore[misc]
    """Ends the calls that wait in vain for a worker, or whose workers end again and again."""

    name = "graphflow-losses"
    idempotent = True

    async def start(self, scheduler: Any) -> None:
        """Start to look at the tasks that have no worker."""
        self._scheduler = scheduler
        self._since: dict[Any, float] = {}  # when a task was first seen without a worker
        self._timer = PeriodicCallback(self._look, LOOK * 1000)
        self._timer.start()

    async def close(self) -> None:
        """Stop looking."""
        self._timer.stop()

    def remove_worker(self, scheduler: Any, worker: str, **_: Any) -> None:
        """Fail the tasks that have ended too many workers."""
        most = max(scheduler.allowed_failures, 1)  # Dask fails a task at the next loss
        deadly = [task for task in scheduler.tasks.values() if task.suspicious >= most]
        for task in self._ours(deadly):
            why = give_advice(scheduler, find_lost_under(scheduler, task))
            times = counted(task.suspicious, "time")
            self._fail(task, f"its worker was lost {times} while it ran. {why}")

    def _look(self) -> None:
        scheduler = self._scheduler
        loose = [task for task in scheduler.unrunnable if task.loose_restrictions]
        if loose and scheduler.running:
            # Dask takes the last one first.
            loose.sort(key=lambda task: task.priority, reverse=True)
            there = {task.key: "processing" for task in loose}
            scheduler.transitions(there, stimulus_id=f"graphflow-loose-{time.time()}")
        waiting = [*scheduler.unrunnable, *(() if scheduler.running else scheduler.queued)]
        now, limit = time.monotonic(), _limit()
        since = {
            task: self._since.get(task, now)
            for task in waiting
            if not find_allowed(scheduler, task)
        }
        # A little earlier than Dask, if it fails tasks at the same limit, with an error of its own.
        late = [task for task, start in since.items() if now - start >= limit - 3 * LOOK]
        self._since = since | dict.fromkeys(late, now)  # those of other calls may become ours
        for task in self._ours(late):
            self._fail(task, _explain_unplaced(scheduler, task, limit))

    def _ours(self, tasks: list[Any]) -> list[Any]:
        ours = find_our_tasks(self._scheduler.tasks.values()) if tasks else set()
        return [task for task in tasks if task in ours]

    def _fail(self, task: Any, reason: str) -> None:
        if task.state in WAITING:  # a task that failed before may have released this one
            error = WorkerLostError(f"task {key_split(task.key)!r} was given up: {reason}")
            fail(self._scheduler, task, error)


def _limit() -> float:
    """Return how long a task waits for a worker, in seconds."""
    configured = dask.config.get(NONE_THERE, None) or dask.config.get(LOST)
    return float(parse_timedelta(configured))


def _explain_unplaced(scheduler: Any, task: Any, limit: float) -> str:
    if not task.loose_restrictions and (restrictions := _list_restrictions(task)):
        return (
            f"for {limit:g} s, the cluster had no worker on which it may run: it is restricted to "
            f"{restrictions}. Start such a worker, or leave out the restriction (workers= or "
            f"resources= of Dask's functions and of dask.annotate), {AGAIN}"
        )
    new = "cluster.scale(0) and then cluster.scale(2)"
    if lost := find_last_lost(scheduler):
        why = give_advice(scheduler, lost)
        todo = f"The last ones were lost while they ran tasks. {why}. New workers start with {new}"
    else:
        todo = f"Start workers, for example with {new}, {AGAIN}"
    return (
        f"for {limit:g} s, the cluster had no worker. {todo}. If workers take longer to start, set "
        f"{LOST} to a longer time in the configuration of Dask's scheduler"
    )


def _list_restrictions(task: Any) -> str:
    places = sorted({*(task.worker_restrictions or ()), *(task.host_restrictions or ())})
    resources = [f"{name}={n:g}" for name, n in (task.resource_restrictions or {}).items()]
    return " and ".join(
        f"{what} {', '.join(of)}"
        for what, of in (("workers", places), ("resources", resources))
        if of
    )
