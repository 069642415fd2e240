"""k-core: the edges of the largest subgraph in which every vertex has at least k edges.

The vertices of the k-core are those with a core number of at least k [1]_. They are found by peeling, as in
:mod:`.core_number`. The result has the edges of the graph between them.

.. [1] V. Batagelj, M. Zaversnik, "An O(m) Algorithm for Cores Decomposition of Networks", 2003.
"""

from __future__ import annotations

from typing import Annotated

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, edges
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count
from dask_graphflow.operators.edge_set import edges_between
from dask_graphflow.operators.view import GraphView

from .core_number import core_numbers, core_vertices


@algorithm(
    edges(),
    weights="optional",
    directed=False,
    parallel="all",
    cost=Cost("labels", Cost.rounds(0.03, 0.03), passes=2.5, rows=1, copies=1, edge=20),
)
def k_core(g: GraphView, *, k: Annotated[int | None, Count(least=0)] = None) -> Answer:
    """Return the edges of the k-core.

    The k-core is the largest subgraph in which every vertex has at least k edges. Its vertices are those
    with a core number of at least k; see :func:`dask_graphflow.core_number`. Self-loops and parallel edges
    do not count for it. The result has all edges of the graph between these vertices, self-loops and
    parallel edges included. Vertices without an edge have no row.

    Parameters
    ----------
    k : int, optional
        Number of edges that every vertex of the k-core has at least. By default it is the largest core
        number, so the result is the innermost core.

    References
    ----------
    .. [1] V. Batagelj, M. Zaversnik, "An O(m) Algorithm for Cores Decomposition of Networks", 2003.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 3, 2, 3], "b": [2, 1, 3, 4]})
    >>> gf.k_core(ties, source="a", target="b", k=2).compute()
       source  target
    0       1       2
    1       1       3
    2       2       3
    """
    if k is not None:
        return Answer({}, among=edges_between(g, core_vertices(g, k)), edges=g)
    core = core_numbers(g)
    innermost = g.all_reduce(most=float(core.max()) if len(core) else -1.0).most
    return Answer({}, among=edges_between(g, g.exists & (core == innermost)), edges=g)
