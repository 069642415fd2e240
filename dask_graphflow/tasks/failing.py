"""Tasks of this library's calls on Dask's scheduler: which they are, where they run, how to fail them."""

from __future__ import annotations

import pickle
import time
from collections.abc import Collection
from typing import Any

from distributed.core import Status

from dask_graphflow.comm.resources import STEP
from dask_graphflow.showing.tables import size

WAITING = ("waiting", "processing", "queued", "no-worker")  # states of tasks that will run
FEW = 4  # as many losses as Dask allows for a task
AGAIN = "and call again. A persisted graph or result keeps this error, so delete it first"
PACKAGE = __name__.partition(".")[0]


def find_our_tasks(tasks: Any) -> set[Any]:
    """Return the tasks that run this library's functions, and all tasks before and after them."""
    own = [task for task in tasks if _module(task).partition(".")[0] == PACKAGE]
    return _reach(own, "dependencies") | _reach(own, "dependents")


def _module(task: Any) -> str:
    return str(getattr(getattr(task.run_spec, "func", None), "__module__", ""))


def _reach(tasks: list[Any], along: str) -> set[Any]:
    seen, left = set(tasks), list(tasks)
    while left:
        more = set(getattr(left.pop(), along)) - seen
        seen |= more
        left += more
    return seen


def find_allowed(scheduler: Any, task: Any) -> list[Any]:
    """Return the workers on which a task may run, now or once they are not paused any more."""
    there = [
        one for one in scheduler.workers.values() if one.status in (Status.running, Status.paused)
    ]
    if task.loose_restrictions:
        return there
    addresses = task.worker_restrictions or set()
    hosts = {scheduler.coerce_hostname(host) for host in task.host_restrictions or ()}
    needed = (task.resource_restrictions or {}).items()
    return [
        one
        for one in there
        if (not (addresses or hosts) or one.address in addresses or one.host in hosts)
        and all(one.resources.get(resource, 0) >= amount for resource, amount in needed)
    ]


def fail(scheduler: Any, task: Any, error: Exception) -> None:
    """Let a task that will run fail with an error, and the tasks that need it."""
    stimulus, at = f"graphflow-failed-{time.time()}", task.processing_on
    # Set beforehand, because Dask takes the error of a waiting task only from a task that it depends on.
    task.exception, task.exception_text = pickle.dumps(error), repr(error)
    task.exception_blame = task
    scheduler.transitions({task.key: "erred"}, stimulus_id=stimulus)
    free_key(scheduler, at, task.key, stimulus)


def free_key(scheduler: Any, worker: Any, key: Any, stimulus: str) -> None:
    """Let a worker, if any, forget a task, which it would run when it is not paused any more."""
    if worker is not None:
        free = {"op": "free-keys", "keys": [key], "stimulus_id": stimulus}
        scheduler.worker_send(worker.address, free)


def send_now(comm: Any) -> None:
    """Send what a ``BatchedSend`` of Dask would keep for milliseconds after its last message."""
    if comm is not None:
        comm.next_deadline = None
        comm.waker.set()


def find_lost_under(scheduler: Any, task: Any) -> set[str]:
    """Return the workers that were lost while they ran a task."""
    return {
        loss["worker"]
        for loss in _removals(scheduler)
        if not loss["expected"] and task.key in loss["processing-tasks"]
    }


def find_last_lost(scheduler: Any) -> set[str]:
    """Return those of the last few workers to leave that ran tasks then."""
    # Dask also calls a removal unexpected if the cluster closes the worker.
    return {loss["worker"] for loss in _removals(scheduler)[-FEW:] if loss["processing-tasks"]}


def give_advice(scheduler: Any, lost: Collection[str]) -> str:
    """Return why some workers were lost, as far as Dask's nannies say, and what to do."""
    ended = [one for one in _events(scheduler, "worker-restart-memory") if one["worker"] in lost]
    if not ended:
        return (
            "No nanny of Dask reported that it ended them because of their memory limit, so the processes "
            "crashed, were killed or were silent for too long. Look at the workers' logs and the memory of "
            f"their machines, {AGAIN}"
        )
    used = max(one["rss"] for one in ended)
    enough = -(-2 * used // STEP) * STEP
    return (
        f"Dask's nanny ended a worker that used {size(used)}, because that exceeds the part of its memory "
        f"limit at which a nanny ends it. Give each worker memory_limit='{enough // 10**6}MB' or more, or "
        f"use more workers, {AGAIN}"
    )


def _events(scheduler: Any, topic: str) -> list[dict[str, Any]]:
    return [event for _, event in scheduler.get_events(topic) if isinstance(event, dict)]


def _removals(scheduler: Any) -> list[dict[str, Any]]:
    return [one for one in _events(scheduler, "all") if one.get("action") == "remove-worker"]
