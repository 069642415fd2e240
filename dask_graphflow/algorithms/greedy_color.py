"""Greedy coloring: neighbors get different colors, and each vertex the smallest color that is left.

Vertices are colored by descending number of neighbors, and those of equal number in a random order. The
operator :func:`.first_free` gives them their colors, which are those of a sequential greedy coloring in
this order [1]_.

.. [1] M. T. Jones, P. E. Plassmann, "A Parallel Graph Coloring Heuristic", SIAM Journal on Scientific
   Computing 14, 1993.
.. [2] W. Hasenplaugh, T. Kaler, T. B. Schardl, C. E. Leiserson, "Ordering Heuristics for Parallel Graph
   Coloring", SPAA 2014.
"""

from __future__ import annotations

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Seed
from dask_graphflow.operators.in_order import first_free
from dask_graphflow.operators.priorities import priorities
from dask_graphflow.operators.view import GraphView


@algorithm(
    vertices({"color": "int32"}),
    directed=False,
    networkx={"greedy_color": "color"},
    cost=Cost(
        "labels", Cost.rounds(3, 0.3), passes=1, step=Cost.FUSED, rows=1, copies=1, scratch=80
    ),
)
def greedy_color(g: GraphView, *, seed: Seed = 0) -> Answer:
    """Return a color for each vertex, such that neighbors have different colors.

    Vertices are colored by descending number of neighbors. Each vertex takes the smallest color that none
    of its neighbors has yet. So there are at most as many colors as the largest number of neighbors, plus
    one. Fewer colors may be possible. The directions of edges, parallel edges and self-loops are ignored.
    Colors are numbered from 0.

    Parameters
    ----------
    seed : int
        Chooses the random order of vertices with the same number of neighbors; 0 by default. The order
        depends only on the seed and on the order of the ids.

    References
    ----------
    .. [1] M. T. Jones, P. E. Plassmann, "A Parallel Graph Coloring Heuristic", SIAM Journal on Scientific
       Computing 14, 1993.
    .. [2] W. Hasenplaugh, T. Kaler, T. B. Schardl, C. E. Leiserson, "Ordering Heuristics for Parallel
       Graph Coloring", SPAA 2014.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> conflicts = pd.DataFrame({"a": [1, 1, 1, 2], "b": [2, 3, 4, 3]})
    >>> gf.greedy_color(conflicts, source="a", target="b").compute().color.tolist()
    [0, 1, 2, 1]
    """
    g = g.undirected.simple
    return Answer({"color": first_free(g, priorities(g.ranks, seed))})
