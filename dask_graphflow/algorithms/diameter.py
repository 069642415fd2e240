"""Diameter: the largest distance between two vertices, by bounds that each search narrows [1]_.

.. [1] F. W. Takes, W. A. Kosters, "Determining the Diameter of Small World Networks", CIKM 2011.
"""

from __future__ import annotations

from typing import Annotated

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count
from dask_graphflow.operators.access import own_part
from dask_graphflow.operators.view import GraphView

from .eccentricity_bounds import bound_eccentricities

USUAL = 20  # searches after which the bounds of most graphs are equal


@algorithm(
    rows({"lower": "int32", "upper": "int32"}),
    directed=False,
    cost=Cost("searches", Cost.levels(USUAL), passes=USUAL, step=Cost.FUSED, scratch=96),
)
def diameter(g: GraphView, *, k: Annotated[int | None, Count()] = None) -> Answer:
    """Return the diameter of a graph, which is the largest distance between two vertices.

    Distances are numbers of edges. The directions of edges and weights are ignored. If the graph has
    several components, the result is the largest of their diameters.

    Each search bounds the largest distances of all vertices [1]_. In most graphs the bounds of the diameter
    are equal after 5 to 60 searches; in the worst case, as many are needed as there are vertices.

    Parameters
    ----------
    k : int, optional
        Maximum number of searches in each component. By default, as many are made as are needed until both
        bounds are equal.

    Returns
    -------
    dask.dataframe.DataFrame
        One row with the columns ``lower`` and ``upper`` (int32, in edges), the bounds of the diameter. They
        are equal without `k`. Both are 0 for a graph without edges.

    References
    ----------
    .. [1] F. W. Takes, W. A. Kosters, "Determining the Diameter of Small World Networks", CIKM 2011.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 2, 3, 8], "b": [2, 3, 4, 9]})
    >>> gf.diameter(ties, source="a", target="b").compute()
       lower  upper
    0      3      3
    """
    bounds = bound_eccentricities(g.undirected, k, only_largest=True)
    columns = zip(("lower", "upper"), (g.largest(one) for one in bounds), strict=True)
    here = own_part(g, 1)
    return Answer({name: g.column(most, "int32", 1)[here] for name, most in columns})
