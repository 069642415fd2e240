"""Clustering coefficients: how many of the possible edges there are between a vertex's neighbors.

In a directed graph, directed edges are counted, as the LDBC Graphalytics benchmark does for its local
clustering coefficient [2]_.

.. [1] D. J. Watts, S. H. Strogatz, "Collective dynamics of 'small-world' networks", Nature 393, 1998.
.. [2] A. Iosup et al., "The LDBC Graphalytics Benchmark", arXiv:2011.15028, 2020.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.previous import Previous
from dask_graphflow.operators.intersect import (
    add_triangle_changes,
    changed_edges,
    changed_neighborhoods,
    count_triangles,
)
from dask_graphflow.operators.view import GraphView


@algorithm(
    vertices({"clustering": "float64"}),
    directed=False,
    cost=Cost("labels", 1, passes=5, rows=1, copies=1, scratch=95),
)
def clustering(
    g: GraphView, *, previous: Annotated[Any | None, Previous({"clustering": 0.0})] = None
) -> Answer:
    """Return the clustering coefficient of each vertex.

    The clustering coefficient is the number of edges between the neighbors of a vertex, divided by the
    largest number that is possible. Self-loops, parallel edges and weights are ignored.

    In a directed graph, the neighbors of a vertex are the vertices that it has an edge to or from. The
    edges between d neighbors are counted with their directions, so at most d * (d - 1) are possible. This
    is the local clustering coefficient of LDBC Graphalytics, and not the one of NetworkX for directed
    graphs.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
        ``clustering`` (float64, from 0 to 1). Vertices with fewer than two neighbors have 0.

    References
    ----------
    .. [1] D. J. Watts, S. H. Strogatz, "Collective dynamics of 'small-world' networks", Nature 393, 1998.
    .. [2] A. Iosup et al., "The LDBC Graphalytics Benchmark", arXiv:2011.15028, 2020.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 1], "b": [2, 3, 3, 4]})
    >>> gf.clustering(ties, source="a", target="b").compute().clustering.round(2).tolist()
    [0.33, 1.0, 1.0, 0.0]
    """
    if previous is not None and _bring_up_to_date(g, previous["clustering"]):
        return Answer(previous)
    # A pair of opposite edges becomes two parallel edges.
    neighborhoods = g.simple.undirected if g.directed else g
    triangles = count_triangles(neighborhoods, parallel=g.directed)
    edges = triangles.totals * (1 if g.directed else 2)
    degrees = triangles.degrees
    return Answer({"clustering": edges / _possible(degrees)})


def _possible(degrees: Any) -> Any:
    """Return how many directed edges are possible between neighbors; 1 if none is."""
    return np.maximum(degrees * (degrees - 1), 1)


def _bring_up_to_date(g: GraphView, coefficients: Any) -> bool:
    """Change the coefficients before the last update of a graph into those after it.

    False if it takes less time to compute all of them, and in a directed graph; then they are as before.
    """
    edges = None if g.directed else changed_edges(g)
    if edges is None:
        return False
    gained = g.column(0, "int64")
    add_triangle_changes(g, edges, gained)
    changed = changed_neighborhoods(g, edges, gained)
    if changed is None:
        return False
    at, before, after = changed
    counted = np.rint(coefficients[at] * _possible(before)).astype("int64")  # exact below 2**51
    coefficients[at] = (counted + 2 * gained[at]) / _possible(after)
    return True
