"""Shortest paths as a function of edges, which becomes a command as the algorithms do."""

from __future__ import annotations

from typing import Any

from dask_graphflow.api.graph import Graph
from dask_graphflow.api.signatures import READING, Described
from dask_graphflow.declarations.documentation import Documentation
from dask_graphflow.declarations.option import Option


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
    """
    return Graph(edges, **reading).shortest_paths(sources, targets)


ENDS = [Option(name, Any, kind="ids") for name in ("sources", "targets")]
DESCRIBED = Described(
    [Option("edges", Any), *READING[:2], *ENDS, *READING[2:]],
    Documentation.parse(shortest_paths.__doc__),
)
