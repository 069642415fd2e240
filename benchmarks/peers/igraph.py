"""igraph: a graph from an array of pairs, then its weak components."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import missing

NAME = "igraph"


def available() -> str | None:
    """Return what is missing, or None."""
    return missing("igraph")


def run(source: Any, target: Any, n: int) -> Any:
    """Return the component of each of the `n` ids."""
    import igraph

    graph = igraph.Graph(n, np.column_stack((source, target)))
    return np.asarray(graph.connected_components(mode="weak").membership)
