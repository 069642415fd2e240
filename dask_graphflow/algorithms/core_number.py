"""Core numbers: how deep each vertex is in the dense parts of a graph.

The k-core is the largest subgraph in which every vertex has at least k edges. The core number of a vertex
is the largest k such that the k-core contains it.

Vertices with at most k edges are *peeled* off, then those that have at most k edges left, until there are
none [1]_. The next k is the smallest number of edges that a remaining vertex has. Only the edges of peeled
vertices are followed, so each edge is followed once from each end.

.. [1] V. Batagelj, M. Zaversnik, "An O(m) Algorithm for Cores Decomposition of Networks", 2003.
"""

from __future__ import annotations

import math
from typing import Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.operators.peel import Peel
from dask_graphflow.operators.view import GraphView


@algorithm(
    vertices({"core": "int32"}),
    directed=False,
    cost=Cost("labels", Cost.rounds(0.5, 0.01), passes=1, rows=1, copies=1),
)
def core_number(g: GraphView) -> Answer:
    """Return the core number of each vertex.

    The k-core is the largest subgraph in which every vertex has at least k edges. The core number of a
    vertex is the largest k such that the k-core contains it. Self-loops and parallel edges are ignored.
    In a directed graph, the edges that enter a vertex and the edges that leave it count together, so a pair
    of opposite edges counts twice.

    References
    ----------
    .. [1] V. Batagelj, M. Zaversnik, "An O(m) Algorithm for Cores Decomposition of Networks", 2003.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3], "b": [2, 3, 3, 4]})
    >>> gf.core_number(ties, source="a", target="b").compute().core.tolist()
    [2, 2, 2, 1]
    """
    return Answer({"core": core_numbers(g)})


def core_numbers(g: GraphView) -> Any:
    """Return the core number of each owned vertex: array of int32; less than 0 for other positions."""
    exists = g.exists
    g = g.simple.undirected
    core = g.column(-1, "int32")
    core[~exists] = -2
    peel = Peel(g, g.degrees)
    if peel.remove_all(core):
        return core
    remaining, k = g.positions(exists), 0
    while True:
        edges_left = peel.counts[remaining]
        least = float(edges_left.min()) if len(remaining) else math.inf
        (vertices_left,), most = g.all_reduce(sums=(len(remaining),), most=-least)
        if not vertices_left:
            return core
        k = max(k, -int(most))
        core[peel.remove(remaining[edges_left <= k], k)] = k
        remaining = remaining[peel.counts[remaining] > k]


def core_vertices(g: GraphView, k: int) -> Any:
    """Return which owned positions are vertices of the k-core: array of bool, shape (V_p,).

    The other vertices are peeled at once, without their core numbers.
    """
    inside = g.exists.copy()
    g = g.simple.undirected
    few = g.positions(inside & (g.degrees < k))
    inside[Peel(g, g.degrees).remove(few, k - 1)] = False
    return inside
