"""Tasks that must run on a certain worker, if it exists."""

from __future__ import annotations

from typing import Any

from distributed import SchedulerPlugin

from .names import pinned_to


class Pins(SchedulerPlugin):  # type: ignore[misc]
    """Restricts tasks to the worker that is named in their key.

    Annotations would do the same, but Dask drops the annotations of a nested expression. The restrictions
    are loose: if the worker is lost, a task runs on another one.
    """

    name = "graphflow-pins"
    idempotent = True

    def update_graph(self, scheduler: Any, *, tasks: Any, **_: Any) -> None:
        """Restrict the tasks of a new graph."""
        for key in tasks:
            worker = pinned_to(key)
            if worker is not None and worker in scheduler.workers:
                _pin(scheduler.tasks[key], worker)


def _pin(task: Any, worker: str) -> None:
    """Restrict a task, and all ancestors that only this task uses, to a worker, to avoid a transfer."""
    for held in (task, *(one for made in task.dependencies for one in _find_made_for_one(made))):
        held.worker_restrictions = {worker}
        held.loose_restrictions = True


def _find_made_for_one(task: Any) -> list[Any]:
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
