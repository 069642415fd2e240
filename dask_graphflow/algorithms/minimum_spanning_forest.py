"""Minimum spanning forest: the lightest edges that connect the vertices of each component.

Edges are ordered by weight, then by source and target. So no two edges are equal, and the forest is unique.

Each member finds the forest of its own edges. An edge that is the heaviest one of some cycle is in no
minimum spanning forest [2]_, so edges outside of that forest are not needed any more. Then pairs of members
merge their forests into the forest of both, until one member has the forest of the whole graph.

In a round of Borůvka's method [1]_, each component chooses its first leaving edge, and joins the component
at the other end. Then edges inside a component are dropped. The lighter edges have their rounds first. Most
of the heavier edges are then inside a component (filtering [3]_).

.. [1] O. Borůvka, "O jistém problému minimálním", 1926.
.. [2] R. E. Tarjan, "Data Structures and Network Algorithms", SIAM 1983.
.. [3] A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A High-Performance MST Implementation for GPUs", SC
   2023.
"""

from __future__ import annotations

from functools import partial

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.graph.build import Edges
from dask_graphflow.operators.forests.spanning import SpanningForest, edges_of, merge_edges
from dask_graphflow.operators.view import GraphView


@algorithm(
    rows(lambda spec, options: spec.row_columns("edges", weighted=True)),
    weights="optional",
    directed=False,
    supersteps=False,
    parallel="lightest",
    edge_bytes=(30, 30),
    cost=Cost("labels", 0, passes=1.6, sparse=5, scratch=85, edge=20),
)
def minimum_spanning_forest(g: GraphView) -> Answer:
    """Return the edges of the minimum spanning forest.

    These are edges that connect the vertices of each component without a cycle, and whose weights have the
    smallest sum. Edges of the same weight are taken in the order of their sources and targets, so the
    forest is unique. The directions of edges are ignored. Without weights, all edges weigh the same.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per edge of the forest, sorted by source and target, with the columns ``source`` and
        ``target`` (the dtype of the ids) and, if edges have weights, ``weight``. The source is the end with
        the smaller id.

    Raises
    ------
    WeightError
        A weight is NaN. Raised when the result is computed.

    References
    ----------
    .. [1] O. Borůvka, "O jistém problému minimálním", 1926.
    .. [2] R. E. Tarjan, "Data Structures and Network Algorithms", SIAM 1983.
    .. [3] A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A High-Performance MST Implementation for GPUs",
       SC 2023.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> roads = pd.DataFrame({"a": [1, 1, 2, 3], "b": [2, 3, 3, 4], "km": [3.0, 1.0, 2.0, 5.0]})
    >>> gf.minimum_spanning_forest(roads, source="a", target="b", weight="km").compute()
       source  target  weight
    0       1       3     1.0
    1       2       3     2.0
    2       3       4     5.0
    """
    g = g.undirected
    forest = merge_edges(g, edges_of(g), partial(_forest, g))
    return Answer({name: column for name, column in forest._asdict().items() if column is not None})


def _forest(g: GraphView, edges: Edges) -> Edges:
    """Return the edges of the minimum spanning forest of some edges, in the same order."""
    forest = SpanningForest(g, edges)
    light = forest.light
    for some in (light, ~light):
        forest.join(some)
    return forest.edges
