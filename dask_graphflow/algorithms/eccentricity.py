"""Eccentricity: the largest distance from a vertex, by bounds that each search narrows [1]_.

.. [1] F. W. Takes, W. A. Kosters, "Computing the Eccentricity Distribution of Large Graphs", Algorithms
   6(1), 2013.
"""

from __future__ import annotations

from typing import Annotated

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count
from dask_graphflow.operators.view import GraphView

from .eccentricity_bounds import bound_eccentricities


@algorithm(
    vertices(
        {"eccentricity": "int32"}, instead={"k": vertices({"lower": "int32", "upper": "int32"})}
    ),
    directed=False,
    cost=Cost("searches", Cost.levels(), passes=1, step=Cost.FUSED, sources=1, scratch=96),
)
def eccentricity(g: GraphView, *, k: Annotated[int | None, Count()] = None) -> Answer:
    """Return the eccentricity of each vertex, which is its largest distance from a vertex that it reaches.

    Distances are numbers of edges. The directions of edges and weights are ignored. Vertices of other
    components do not count, so a vertex without neighbors has the eccentricity 0.

    Each search bounds the eccentricities of all vertices [1]_, and the next one starts where it probably
    narrows most bounds. Where many vertices have the same distance from the center, as in social networks,
    up to one search per vertex is needed, 64 of which share the reads of edges. If this takes too long, use
    `k` or :func:`~dask_graphflow.diameter`.

    Parameters
    ----------
    k : int, optional
        Maximum number of searches in each component. The result then has a lower and an upper bound of each
        eccentricity. By default, as many searches are made as are needed for exact eccentricities.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
        ``eccentricity`` (int32, in edges). With `k`, it has the columns ``lower`` and ``upper`` (int32)
        instead.

    References
    ----------
    .. [1] F. W. Takes, W. A. Kosters, "Computing the Eccentricity Distribution of Large Graphs",
       Algorithms 6(1), 2013.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 2, 3, 8], "b": [2, 3, 4, 9]})
    >>> gf.eccentricity(ties, source="a", target="b").compute().eccentricity.tolist()
    [3, 2, 2, 3, 1, 1]
    """
    lower, upper = bound_eccentricities(g.undirected, k)
    return Answer({"eccentricity": lower} if k is None else {"lower": lower, "upper": upper})
