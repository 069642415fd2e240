"""Tasks that are to run on one worker while it is there: by its name, or by what lies on it."""

from __future__ import annotations

from typing import Any

from distributed import SchedulerPlugin

from .names import cargo, pinned_to

__all__ = ["Pins"]


class Pins(SchedulerPlugin):  # type: ignore[misc]
    """Holds tasks to the worker that their key names, or to where something is to be brought.

    Annotations would do the same, but Dask drops those of an expression inside another. The hold is
    loose: with the worker gone, a task runs elsewhere.
    """

    name = "graphflow-pins"
    idempotent = True

    def __init__(self) -> None:
        self._scheduler: Any = None
        self._beside: dict[Any, set[Any]] = {}  # what lies there: the tasks that bring to it

    def update_graph(self, scheduler: Any, *, tasks: Any, **_: Any) -> None:
        """Restrict the tasks of a graph that has come in."""
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
        """Restrict what brings something to where this task has run."""
        if key not in self._beside:
            return
        if finish == "memory":
            for bringing in self._beside[key]:
                self._hold(self._scheduler.tasks[key], bringing)
        elif finish == "forgotten":
            del self._beside[key]

    def _hold(self, there: Any, key: Any) -> None:
        # By itself Dask weighs bringing all slices of a forest against moving another forest, once.
        task = self._scheduler.tasks.get(key)
        if task is not None and there.who_has:
            task.worker_restrictions = {worker.address for worker in there.who_has}
            task.loose_restrictions = True


def _pin(task: Any, worker: str) -> None:
    """Hold a task to a worker, and what is made from nothing for it alone: it would only travel."""
    for held in (task, *(one for made in task.dependencies for one in _made_for_one(made))):
        held.worker_restrictions = {worker}
        held.loose_restrictions = True


def _made_for_one(task: Any) -> list[Any]:
    """Return a task and all that goes into it, if nobody else takes any of that; else nothing."""
    found, left = [], [task]
    while left:
        one = left.pop()
        placed = one.worker_restrictions or one.host_restrictions or one.resource_restrictions
        if placed or one.who_has or len(one.dependents) > 1 or pinned_to(one.key):
            return []
        found.append(one)
        left += one.dependencies
    return found
