"""Workers that Dask has paused because of their memory: resume them, or end the calls that wait for them.

Dask pauses a worker above a fraction of its memory limit. It resumes the worker once tasks that are still
running have freed memory, or once data was written to disk. If no task is running and all data is on disk,
only memory that allocators keep can be freed. If that does not suffice either, the worker stays paused, and
a call that needs it would wait forever. Therefore:

* :class:`PauseWatch` on each worker frees this memory, and tells the scheduler if that is not enough.
* :class:`StuckCalls` on the scheduler then fails the tasks of this library that wait for the worker.
"""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

from distributed import SchedulerPlugin, WorkerPlugin
from distributed.core import Status
from distributed.utils import key_split
from tornado.ioloop import PeriodicCallback

from dask_graphflow.comm.resources import give_back
from dask_graphflow.showing.tables import size

from . import memory_limits
from .failing import WAITING, fail, find_allowed, find_our_tasks
from .names import named, staying

LOOK = 0.2  # seconds between two looks at a worker's state
LOOKS = 10  # number of looks without progress after which a worker is reported
PROGRESS = (
    0.99  # a worker makes progress if its memory falls below this fraction of its lowest value
)
GROWTH = 12  # bytes that a task may need per byte of its inputs, for most algorithms
BUILT = 4  # bytes that a graph and a call on it may need per byte of the edges that are read


class PauseWatch(WorkerPlugin):  # type: ignore[misc]
    """Frees memory of a paused worker, and reports the worker if it stays paused."""

    name = "graphflow-memory"
    idempotent = True

    def setup(self, worker: Any) -> None:
        """Start to look at the worker's state."""
        self._worker = worker
        self._looks, self._least = 0, math.inf
        self._timer = PeriodicCallback(self._look, LOOK * 1000)
        self._timer.start()

    def teardown(self, worker: Any) -> None:
        """Stop looking."""
        self._timer.stop()

    async def _look(self) -> None:
        worker = self._worker
        limit = worker.memory_manager.memory_limit
        if worker.status != Status.paused or not limit or self._runs():
            self._looks, self._least = 0, math.inf
            return
        await asyncio.to_thread(give_back)
        used = memory_limits.resident(worker)
        if used < PROGRESS * self._least:
            self._looks, self._least = 0, used
        self._looks += 1
        if self._looks % LOOKS == 0 and used > memory_limits.pause_fraction() * limit:
            worker.batched_send({"op": "graphflow-stuck", "used": used, "limit": limit})

    def _runs(self) -> bool:
        """Say whether a task is running, other than members that wait for the rest of their gang."""
        members = self._worker.plugins.get("graphflow-members")
        return bool(self._worker.state.executing) or (members is not None and members.going)


class StuckCalls(SchedulerPlugin):  # type: ignore[misc]
    """Fails the tasks of this library's calls that wait for a worker which stays paused."""

    name = "graphflow-stuck"
    idempotent = True

    async def start(self, scheduler: Any) -> None:
        """Register the handler of reports."""
        self._scheduler = scheduler
        self._reported: dict[str, float] = {}  # the time of each worker's last report
        scheduler.stream_handlers["graphflow-stuck"] = self._stuck

    def _stuck(self, worker: str, used: int, limit: int) -> None:
        scheduler = self._scheduler
        self._reported[worker] = time.monotonic()
        without = [*scheduler.unrunnable, *(() if scheduler.running else scheduler.queued)]
        waiting = [*scheduler.workers[worker].processing, *filter(self._held, without)]
        if not waiting:
            return
        ours = find_our_tasks(scheduler.tasks.values())
        read = _bytes_to_read(ours) // len(scheduler.workers)
        for task in waiting:
            # A task that fails before may have released this one.
            if task in ours and task.state in WAITING:
                self._fail(task, worker, used, limit, read)

    def _held(self, task: Any) -> bool:
        """Say whether all workers on which a task may run stay paused."""
        recent = time.monotonic() - 2 * LOOK * LOOKS
        able = [one.address for one in find_allowed(self._scheduler, task)]
        return bool(able) and all(self._reported.get(at, -math.inf) > recent for at in able)

    def _fail(self, task: Any, worker: str, used: int, limit: int, read: int) -> None:
        inputs = sum(max(one.nbytes, 0) for one in task.dependencies)
        needed = used + max(GROWTH * inputs, BUILT * read, used // 2)
        error = memory_limits.too_low(
            limit,
            needed,
            f"a worker needs about {size(needed)} for task {key_split(task.key)!r}: {worker} uses "
            f"{size(used)} that it cannot free or write to disk",
            "use more workers, keep the edges of a graph on disk (Graph(..., storage='disk')), or restart "
            "the workers with client.restart() if earlier work filled them",
        )
        fail(self._scheduler, task, error)


def _bytes_to_read(tasks: Any) -> int:
    """Return about the bytes of all partitions of edges that calls read, from those that they have read."""
    names = {key_split(named(stage, "")) for stage in ("read", staying("read"))}
    sizes = [max(task.nbytes, 0) for task in tasks if key_split(task.key) in names]
    return len(sizes) * max(sizes, default=0)
