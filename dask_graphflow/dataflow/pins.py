"""Tasks that are to run on one worker while it is there."""

from __future__ import annotations

from typing import Any

from distributed import SchedulerPlugin

from .names import pinned_to

__all__ = ["Pins"]


class Pins(SchedulerPlugin):  # type: ignore[misc]
    """Holds tasks to the worker that their key names.

    Annotations would do the same, but Dask drops those of an expression inside another. The hold is
    loose: with the worker gone, a task runs elsewhere.
    """

    name = "graphflow-pins"
    idempotent = True

    def update_graph(self, scheduler: Any, *, tasks: Any, **_: Any) -> None:
        """Restrict the tasks of a graph that has come in."""
        for key in tasks:
            worker = pinned_to(key)
            if worker is not None and worker in scheduler.workers:
                task = scheduler.tasks[key]
                task.worker_restrictions = {worker}
                task.loose_restrictions = True
