"""Modules that every worker must import before it receives any data."""

from __future__ import annotations

import importlib
from typing import Any

from distributed import WorkerPlugin


class Preload(WorkerPlugin):  # type: ignore[misc]
    """Imports a module on each present and future worker of a cluster.

    Importing it in the code of tasks would be too late: a worker may receive results before it runs a task.
    Also, if a script imports this library, its workers import it before Dask.

    Parameters
    ----------
    module : str
        Full name of the module.
    """

    def __init__(self, module: str) -> None:
        self.name = f"graphflow-preload-{module}"
        self._module = module

    def setup(self, worker: Any) -> None:
        """Import the module."""
        importlib.import_module(self._module)
