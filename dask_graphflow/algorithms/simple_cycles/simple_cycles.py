"""Simple cycles: closed paths of a bounded length, such as money that returns to the account it left.

Only a few edges are on short cycles. The algorithm first leaves out vertices that cannot be on one:

- With given vertices, those that are too far from all of them, there and back.
- Otherwise, in a directed graph, those that are alone in their strongly connected component; in an
  undirected graph, those outside of the 2-core.

The remaining edges are gathered by all members. From each vertex, a depth-first search finds the cycles
through it, and afterwards the vertex is left out, so each cycle is found once. A search only follows edges
from which it knows that there is a short enough walk back to its first vertex [1]_, [2]_. Cycles are
counted first, and then written to their places, so threads and members do not change their order.

.. [1] A. Gupta, T. Suzumura, "Finding All Bounded-Length Simple Cycles in a Directed Graph",
   arXiv:2105.10094, 2021.
.. [2] S. Sun, Y. Chen, B. He, B. Hooi, "PathEnum: Towards Real-Time Hop-Constrained s-t Path Enumeration",
   SIGMOD 2021.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.exceptions import OptionError
from dask_graphflow.operators.access import gather
from dask_graphflow.operators.bounded_paths.cycles import Cycles
from dask_graphflow.operators.gathered import gather_edges
from dask_graphflow.operators.view import GraphView

from .candidates import near, on_cycles


@algorithm(
    rows({"cycle": "int64", "step": "int32", "source": "id", "target": "id"}),
    parallel="all",
    cost=Cost("labels", Cost.levels(2), passes=4, rows=1, copies=1, edge=48),
)
def simple_cycles(
    g: GraphView,
    max_length: Annotated[int, Count()],
    *,
    through: Annotated[Any | None, VertexIds()] = None,
    min_length: Annotated[int, Count()] = 1,
    top: Annotated[int | None, Count()] = None,
) -> Answer:
    """Return the simple cycles of a graph that have at most so many edges.

    A simple cycle leads from a vertex along edges back to it, and visits no vertex twice. Each cycle is
    returned once, and begins at its smallest vertex. Cycles are sequences of vertices, so parallel edges
    do not make another cycle. In an undirected graph, both directions of a cycle are the same one, which
    continues from its smallest vertex with the smaller one of the two neighbors.

    A self-loop is a cycle with one edge. In a directed graph, a pair of opposite edges is a cycle with two
    edges. In an undirected graph, two parallel edges are one.

    Parameters
    ----------
    max_length : int
        Maximum number of edges of a cycle; 1 or more. The number of cycles, and the time, can grow by a
        factor with every additional edge.
    through : id, or list, Series or DataFrame of ids, optional
        Vertices of which each cycle has at least one; by default all.
    min_length : int
        Minimum number of edges of a cycle; 1 by default. 3 leaves out self-loops and pairs of edges.
    top : int, optional
        Maximum number of cycles; by default, all are returned. Cycles are sorted by length, so these are
        the shortest ones, and much longer ones are not looked for.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per edge of a cycle, sorted by cycle, then by step. The columns are ``cycle`` (int64, from 0
        on; shorter cycles come first, and cycles of the same length are sorted by their vertices), ``step``
        (int32, 0 at the edge that leaves the smallest vertex), ``source`` and ``target`` (the dtype of the
        ids).

    Raises
    ------
    GraphMemoryError
        There are more cycles than memory has room for, or the edges that can be on cycles do not fit in the
        memory of each member. Cycles are counted before memory is used for them. Raised when the result is
        computed.

    References
    ----------
    .. [1] A. Gupta, T. Suzumura, "Finding All Bounded-Length Simple Cycles in a Directed Graph",
       arXiv:2105.10094, 2021.
    .. [2] S. Sun, Y. Chen, B. He, B. Hooi, "PathEnum: Towards Real-Time Hop-Constrained s-t Path
       Enumeration", SIGMOD 2021.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> payments = pd.DataFrame({"payer": [1, 2, 3, 3, 4], "payee": [2, 3, 1, 4, 3]})
    >>> gf.simple_cycles(payments, source="payer", target="payee", max_length=3).compute()
       cycle  step  source  target
    0      0     0       3       4
    1      0     1       4       3
    2      1     0       1       2
    3      1     1       2       3
    4      1     2       3       1
    """
    if min_length > max_length:
        raise OptionError(
            f"min_length={min_length} is above max_length={max_length}; give a min_length of at most "
            f"{max_length}"
        )
    if through is None:
        inside, groups = on_cycles(g, min_length)
        edges, given = gather_edges(g, inside, groups), None
    else:
        edges = gather_edges(g, near(g, through, max_length))
        given = edges.find(np.sort(gather(g, g.numbers[through])))
    columns = Cycles(g, edges, given).find(min_length, max_length, top)
    return Answer(dict(zip(("cycle", "step", "source", "target"), columns, strict=True)))
