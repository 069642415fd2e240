"""k-truss: the edges of the largest subgraph in which every edge is in at least k - 2 triangles.

The edges of the k-truss are those with a truss number of at least k. They are found by peeling, as in
:mod:`.truss_number`.

.. [1] J. Cohen, "Trusses: Cohesive Subgraphs for Social Network Analysis", National Security Agency, 2008.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, edges
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count
from dask_graphflow.operators.edge_set import edges_where
from dask_graphflow.operators.view import GraphView

from .truss_number import peel_edges


@algorithm(
    edges(),
    weights="optional",
    directed=False,
    parallel="all",
    edge_bytes=(80, 80),
    cost=Cost("labels", Cost.rounds(0.1, 0.05), passes=24, sparse=0.3, rows=1, copies=1, edge=150),
)
def k_truss(g: GraphView, *, k: Annotated[int, Count(least=2)]) -> Answer:
    """Return the edges of the k-truss.

    The k-truss is the largest subgraph in which every edge is in at least k - 2 triangles of the subgraph.
    The directions of edges, self-loops and parallel edges do not count for it. The result has all edges of
    the graph between ends that are neighbors in the k-truss: parallel edges are included, and self-loops
    are not. Vertices without an edge have no row.

    Parameters
    ----------
    k : int
        Every edge of the k-truss is in at least k - 2 triangles; 2 or more.

    References
    ----------
    .. [1] J. Cohen, "Trusses: Cohesive Subgraphs for Social Network Analysis", National Security Agency,
       2008.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 3, 2, 3], "b": [2, 1, 3, 4]})
    >>> gf.k_truss(ties, source="a", target="b", k=3).compute()
       source  target
    0       1       2
    1       1       3
    2       2       3
    """
    k = min(k, np.iinfo("int32").max)
    return Answer({}, among=edges_where(g, peel_edges(g.undirected, g, only=k) >= k), edges=g)
