"""Neighbors: the edges that leave some vertices, or in an undirected graph all edges at them."""

from __future__ import annotations

from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, edges
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.operators.edge_set import edges_at, edges_from
from dask_graphflow.operators.view import GraphView


@algorithm(
    edges(), weights="optional", supersteps=False, parallel="all", cost=Cost("labels", 0, passes=1)
)
def neighbors(g: GraphView, sources: Annotated[Any, VertexIds()]) -> Answer:
    """Return the edges from some vertices to their neighbors.

    In a directed graph, these are the edges that leave the vertices. In an undirected graph, they are all
    edges with at least one end among the vertices. Self-loops and parallel edges are included.

    Parameters
    ----------
    sources : id, or list, Series or DataFrame of ids
        Vertices whose neighbors are returned.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2, 5], "b": [2, 5, 7, 7]})
    >>> gf.neighbors(links, source="a", target="b", sources=[1, 2]).compute()
       source  target
    0       1       2
    1       1       5
    2       2       7
    """
    if g.directed:
        return Answer({}, among=edges_from(g, sources), edges=g)
    return Answer({}, among=edges_at(g, sources), edges=g)
