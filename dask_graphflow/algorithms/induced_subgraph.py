"""Induced subgraph: all edges between some of the vertices."""

from __future__ import annotations

from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, edges
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.vertex_options import VertexIds, only
from dask_graphflow.operators.edge_set import edges_between
from dask_graphflow.operators.view import GraphView


@algorithm(
    edges(), weights="optional", supersteps=False, parallel="all", cost=Cost("labels", 0, passes=1)
)
def induced_subgraph(g: GraphView, subset: Annotated[Any, VertexIds()]) -> Answer:
    """Return the edges whose ends are both among some vertices.

    Self-loops and parallel edges are included. Vertices without an edge to another one of the subgraph have
    no row.

    Parameters
    ----------
    subset : id, or list, Series or DataFrame of ids
        Vertices of the subgraph.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2, 5], "b": [2, 5, 7, 7]})
    >>> gf.induced_subgraph(links, source="a", target="b", subset=[1, 5, 7]).compute()
       source  target
    0       1       5
    1       5       7
    """
    return Answer({}, among=edges_between(g, only(subset, g.exists)), edges=g)
