"""Core numbers: how deep each vertex is in the dense parts of a graph.

The k-core is the largest subgraph in which every vertex has at least k edges. The core number of a vertex
is the largest k such that the k-core contains it.

Vertices with at most k edges are *peeled* off, then those that have at most k edges left, until there are
none [1]_. The next k is the smallest number of edges that a remaining vertex has. Only the edges of peeled
vertices are followed, so each edge is followed once from each end.

.. [1] V. Batagelj, M. Zaversnik, "An O(m) Algorithm for Cores Decomposition of Networks", 2003.
"""

from __future__ import annotations

from typing import Any

from dask_graphflow.operators.peel import Peel
from dask_graphflow.operators.view import GraphView

from .algorithm import Answer, algorithm

__all__ = ["core_number", "peel"]


@algorithm(
    columns={"core": "int32"},
    directed=False,
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
    return Answer({"core": peel(g)})


def peel(g: GraphView, only: int | None = None) -> Any:
    """Return the core number of each owned vertex: array of int32, shape (V_p,).

    It is -1 for positions that are not vertices.

    Parameters
    ----------
    g : GraphView
    only : int, optional
        Return only whether the core number is at least this: the numbers of vertices in that core are this
        number, and those of all others are smaller. The others are then peeled without finding out in which
        order.
    """
    exists = g.exists
    g = g.simple.undirected
    degree = g.degrees.copy()
    peel = Peel(g, degree)
    if only is None:
        return peel.limits(exists)
    core, few = g.column(-1, "int32"), exists & (degree < only)
    core[exists] = only
    core[peel.remove(few.nonzero()[0], only - 1)] = only - 1
    return core
