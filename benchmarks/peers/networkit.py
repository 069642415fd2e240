"""NetworKit: a graph from coordinates, then its components.

On two cores, ``ConnectedComponents`` was faster than ``ParallelConnectedComponents`` with and without
coarsening: 51 ms compared with 190 and 164 ms at R-MAT scale 18. Building takes most of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import missing

NAME = "networkit"


def available() -> str | None:
    """Return what is missing, or None."""
    return missing("networkit")


def run(source: Any, target: Any, n: int) -> Any:
    """Return the component of each of the `n` ids."""
    import networkit

    graph = networkit.GraphFromCoo((source, target), n=n)
    components = networkit.components.ConnectedComponents(graph).run()
    return np.asarray(components.getPartition().getVector(), dtype=np.int64)
