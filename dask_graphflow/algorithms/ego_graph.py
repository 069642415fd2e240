"""Ego graph: all edges between the vertices that are near some vertices.

A breadth-first search finds the vertices that are at most `radius` edges away. The result has the edges of
the graph between them.
"""

from __future__ import annotations

from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, edges
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.operators.edge_set import edges_between
from dask_graphflow.operators.view import GraphView

from .bfs import breadth_first


@algorithm(
    edges(), weights="optional", parallel="all", cost=Cost("searches", 1, passes=2, scratch=55)
)
def ego_graph(
    g: GraphView,
    centers: Annotated[Any, VertexIds()],
    *,
    radius: Annotated[int, Count(least=0)] = 1,
) -> Answer:
    """Return the edges between all vertices that are at most `radius` edges away from some centers.

    Distances are measured from the nearest center, along the directions of the edges. The result
    has all edges between the vertices that were reached, self-loops and parallel edges included. Weights
    do not change distances. A center without neighbors has no row.

    Parameters
    ----------
    centers : id, or list, Series or DataFrame of ids
        Vertices to measure distances from.
    radius : int
        Maximum distance in edges; 0 or more. By default 1, which gives the centers and their neighbors.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2, 5], "b": [2, 5, 5, 7]})
    >>> gf.ego_graph(links, source="a", target="b", centers=1).compute()
       source  target
    0       1       2
    1       1       5
    2       2       5
    """
    near = breadth_first(g, centers, depth_limit=radius).level >= 0
    return Answer({}, among=edges_between(g, near), edges=g)
