"""Shortest paths as a function of edges, which becomes a command as the algorithms do."""

from __future__ import annotations

import inspect
from typing import Any

from dask_graphflow.api.graph import Graph
from dask_graphflow.api.signatures import READING, option
from dask_graphflow.runtime.vertex_options import VertexIds

CHECKS = {"sources": VertexIds(), "targets": VertexIds()}


def shortest_paths(edges: Any, *, sources: Any, targets: Any, **reading: Any) -> Any:
    """Return the vertices on the shortest path to each target from the source nearest to it.

    The length of a path is the sum of its weights, or its number of edges if the graph has no weights. A
    target that no path reaches is left out.

    Parameters
    ----------
    sources : ids
        First vertices of the paths.
    targets : ids
        Last vertices of the paths.
    weight, directed, multi, vertices, dropna, device
        How the edges of a frame become a graph.
    """
    return Graph(edges, **reading).shortest_paths(sources, targets)


PARAMETERS = [
    inspect.Parameter("edges", inspect.Parameter.POSITIONAL_OR_KEYWORD),
    *READING[:2],
    option("sources", "Any"),
    option("targets", "Any"),
    *READING[2:],
]
shortest_paths.__signature__ = inspect.Signature(PARAMETERS)  # type: ignore[attr-defined]
