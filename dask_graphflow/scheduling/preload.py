"""Modules that every worker is to have imported before it is sent anything."""

from __future__ import annotations

import importlib
from typing import Any

from distributed import WorkerPlugin

__all__ = ["Preload"]


class Preload(WorkerPlugin):  # type: ignore[misc]
    """Imports a module on each worker of a cluster, and on those that join it.

    To import it with the code that tasks run would not do: a worker is sent results before it has run
    a task, and a worker of a script that imports this library imports it before Dask.

    Parameters
    ----------
    module : str
        Its full name.
    """

    def __init__(self, module: str) -> None:
        self.name = f"graphflow-preload-{module}"
        self._module = module

    def setup(self, worker: Any) -> None:
        """Import it."""
        importlib.import_module(self._module)
