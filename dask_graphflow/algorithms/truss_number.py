"""Truss numbers: how deep each edge is in the dense parts of a graph.

The k-truss is the largest subgraph in which every edge is in at least k - 2 triangles [1]_. The truss
number of an edge is the largest k such that the k-truss has the edge.

Edges in at most k - 2 triangles are *peeled* off, then those that have at most k - 2 triangles left, until
there are none [2]_. The next k is that of the smallest number of triangles that a remaining edge has. A
step peels all such edges at once, and follows only their triangles.

.. [1] J. Cohen, "Trusses: Cohesive Subgraphs for Social Network Analysis", National Security Agency, 2008.
.. [2] O. Green, J. Fox, E. Kim et al., "Quickly Finding a Truss in a Haystack", HPEC 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, edges
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.operators.intersect import EdgeTriangles
from dask_graphflow.operators.view import GraphView

NONE = -(2.0**53)
MOST = 2**31 - 3  # triangles of an edge, so that its truss number is an int32


@algorithm(
    edges({"truss": "int32"}),
    directed=False,
    edge_bytes=(80, 80),
    cost=Cost("labels", Cost.rounds(0.2, 0.1), passes=95, sparse=0.15, rows=1, copies=1, edge=160),
)
def truss_number(g: GraphView) -> Answer:
    """Return the truss number of each edge.

    The k-truss is the largest subgraph in which every edge is in at least k - 2 triangles of the subgraph.
    The truss number of an edge is the largest k such that the k-truss has the edge; it is 2 for an edge
    without triangles. The directions of edges, self-loops and parallel edges are ignored.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per pair of neighbors, sorted by source and target, with the columns ``source`` and
        ``target`` (the dtype of the ids) and ``truss`` (int32, 2 or more). The source is the end with the
        smaller id.

    References
    ----------
    .. [1] J. Cohen, "Trusses: Cohesive Subgraphs for Social Network Analysis", National Security Agency,
       2008.
    .. [2] O. Green, J. Fox, E. Kim et al., "Quickly Finding a Truss in a Haystack", HPEC 2017.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3], "b": [2, 3, 3, 4]})
    >>> gf.truss_number(ties, source="a", target="b").compute()
       source  target  truss
    0       1       2      3
    1       1       3      3
    2       2       3      3
    3       3       4      2
    """
    g = g.undirected.simple
    return Answer({"truss": peel_edges(g, g)}, edges=g)


def peel_edges(g: GraphView, listed: GraphView, only: int | None = None) -> Any:
    """Return the truss number of each edge of `listed` as int32; 0 for self-loops.

    `listed` is the undirected graph `g`, or the directed graph that it was made of. Self-loops and parallel
    edges are ignored. With `only`, the result says only whether the truss number is at least this: the
    numbers of edges in that truss are this number, and those of all others are smaller. The others are then
    peeled without finding out in which order.
    """
    edges = EdgeTriangles(g)
    support = edges.support
    truss = g.column(0, "int32", len(support))
    k = 2 if only is None else only - 1
    if edges.remove_all(truss, k - 2, MOST if only is None else k - 2):
        truss[truss == 0] = k if only is None else only
        return edges.values(truss, listed)
    remaining = np.arange(len(support), like=support)
    while True:
        least = int(support[remaining].min()) if len(remaining) else 0
        (left,), most = g.all_reduce(
            sums=(len(remaining),), most=-least if len(remaining) else NONE
        )
        k = max(k, 2 - int(most)) if left else k
        if not left or (only is not None and k >= only):
            truss[remaining] = k if only is None else only
            return edges.values(truss, listed)
        peeled = remaining[support[remaining] <= k - 2]
        while g.all_sum(len(peeled)):
            truss[peeled] = k
            peeled = edges.remove(peeled, k - 2)
        remaining = remaining[truss[remaining] == 0]
