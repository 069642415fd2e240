"""Shortest paths as a function of edges, which becomes a command as the algorithms do."""

from __future__ import annotations

from typing import Any

from dask_graphflow.api.graph import Graph
from dask_graphflow.api.signatures import READING, Described
from dask_graphflow.declarations.documentation import Documentation
from dask_graphflow.declarations.option import Option


def shortest_paths(
    edges: Any, *, sources: Any = None, targets: Any = None, pairs: Any = None, **reading: Any
) -> Any:
    """Return the vertices on the shortest path to each target, or between the vertices of each pair.

    With sources and targets, the path to a target begins at the source nearest to it. The length of a path
    is the sum of its weights, or its number of edges if the graph has no weights. A target or a pair
    without a path is left out.

    Parameters
    ----------
    sources : ids
        First vertices of the paths.
    targets : ids
        Last vertices of the paths.
    pairs : pairs
        Instead of sources and targets, pairs of a first and a last vertex, in the first columns.
    """
    return Graph(edges, **reading).shortest_paths(sources, targets, pairs=pairs)


ENDS = [Option(name, Any, None, kind="ids") for name in ("sources", "targets")]
PAIRS = Option("pairs", Any, None, kind="pairs")
DESCRIBED = Described(
    [Option("edges", Any), *READING[:2], *ENDS, PAIRS, *READING[2:]],
    Documentation.parse(shortest_paths.__doc__),
)
