"""Tasks that must run on a certain worker, if it exists: by its address, or by the data that it holds."""

from __future__ import annotations

from typing import Any

from distributed import SchedulerPlugin

from .names import cargo, pinned_to


class Pins(SchedulerPlugin):  # type: ignore[misc]
    """Restricts tasks to the worker that is named in their key, or that holds their other inputs.

    Annotations would do the same, but Dask drops the annotations of a nested expression. The restrictions
    are loose: if the worker is lost, a task runs on another one.
    """

    name = "graphflow-pins"
    idempotent = True

    def __init__(self) -> None:
        self._scheduler: Any = None
        self._beside: dict[Any, set[Any]] = {}  # key of an input: the tasks that must run beside it

    def update_graph(self, scheduler: Any, *, tasks: Any, **_: Any) -> None:
        """Restrict the tasks of a new graph."""
        self._scheduler = scheduler
        for key in tasks:
            load = cargo(key)
            for there in scheduler.tasks[key].dependencies if load else ():
                if there.key != load:
                    self._beside.setdefault(there.key, set()).add(key)
                    self._hold(there, key)
            worker = pinned_to(key)
            if worker is not None and worker in scheduler.workers:
                _pin(scheduler.tasks[key], worker)

    def transition(self, key: Any, start: str, finish: str, *_: Any, **__: Any) -> None:
        """Restrict the tasks that send something to the worker on which this task has run."""
        if key not in self._beside:
            return
        if finish == "memory":
            for bringing in self._beside[key]:
                self._hold(self._scheduler.tasks[key], bringing)
        elif finish == "forgotten":
            del self._beside[key]

    def _hold(self, there: Any, key: Any) -> None:
        # By itself, Dask may prefer to move the other forest once, rather than send all slices to it.
        task = self._scheduler.tasks.get(key)
        if task is not None and there.who_has:
            task.worker_restrictions = {worker.address for worker in there.who_has}
            task.loose_restrictions = True


def _pin(task: Any, worker: str) -> None:
    """Restrict a task, and all ancestors that only this task uses, to a worker, to avoid a transfer."""
    for held in (task, *(one for made in task.dependencies for one in _made_for_one(made))):
        held.worker_restrictions = {worker}
        held.loose_restrictions = True


def _made_for_one(task: Any) -> list[Any]:
    """Return a task and all its ancestors if no other task uses any of them; otherwise an empty list."""
    tasks, left = [], [task]
    while left:
        one = left.pop()
        placed = one.worker_restrictions or one.host_restrictions or one.resource_restrictions
        if placed or one.who_has or len(one.dependents) > 1 or pinned_to(one.key):
            return []
        tasks.append(one)
        left += one.dependencies
    return tasks
