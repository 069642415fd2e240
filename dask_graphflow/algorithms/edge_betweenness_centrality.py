"""Edge betweenness centrality: the part of all shortest paths that lead over an edge.

For each source, the shortest paths to each vertex are counted, and what each vertex contributes to the
paths behind it is added up, as in :mod:`.betweenness_centrality` [1]_. An edge from v to w on such a path
carries the part ``sigma[v] / sigma[w]`` of all paths to w, and so of the paths that lead through w.

Contributions are added in the order of the sources, and separately for the two directions of an undirected
edge. So sums are bit-identical for every partitioning and number of threads.

.. [1] U. Brandes, "On Variants of Shortest-Path Betweenness Centrality and their Generic Computation",
   Social Networks 30, 2008.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, edges
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count, Seed
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.operators.access import edge_ends, wide_column
from dask_graphflow.operators.search import whole_searches
from dask_graphflow.operators.view import GraphView

from .betweenness_centrality.choose_sources import places_of_sources
from .betweenness_centrality.count_paths import paths_from_each
from .betweenness_centrality.tight_edges import lost_weight, without_parallel_edges


@algorithm(
    edges({"betweenness": "float64"}),
    weights="optional",
    edge_bytes=(40, 40),
    cost=Cost(
        "labels", Cost.levels(3), passes=3, step=Cost.FUSED, sources=1, rows=1, copies=1, scratch=115,
        edge=60, weighted=Cost.by_weight(2, edge=64),
    ),
)  # fmt: skip
def edge_betweenness_centrality(
    g: GraphView,
    *,
    k: Annotated[int | None, Count()] = None,
    sources: Annotated[Any | None, VertexIds()] = None,
    normalized: bool = True,
    seed: Seed = 0,
) -> Answer:
    """Return the betweenness centrality of each edge.

    This is the sum, over all pairs of vertices, of the part of the shortest paths between them that lead
    over the edge. The length of a path is the sum of its weights, or its number of edges if the graph has
    no weights. Parallel edges have one row, with the weight of the lightest. Self-loops have no row,
    because no shortest path leads over them.

    Parameters
    ----------
    sources : id, or list, Series or DataFrame of ids, optional
        Vertices from which paths start, instead of a random sample of `k` vertices.
    normalized : bool
        Whether to divide by the number of pairs; True by default.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per pair of vertices with an edge, sorted by source and target, with the columns ``source``
        and ``target`` (the dtype of the ids), ``weight`` if edges have weights, and ``betweenness``
        (float64). In an undirected graph, an edge has one row, and its source is the end with the smaller
        id.

    Raises
    ------
    WeightError
        A weight is 0, negative, infinite, null or NaN, or so small that adding it to a distance does not
        change the distance. Raised when the result is computed.

    References
    ----------
    .. [1] U. Brandes, "On Variants of Shortest-Path Betweenness Centrality and their Generic Computation",
       Social Networks 30, 2008.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 2, 3], "b": [2, 3, 4]})
    >>> gf.edge_betweenness_centrality(
    ...     ties, source="a", target="b", directed=False, normalized=False
    ... ).compute()
       source  target  betweenness
    0       1       2          3.0
    1       2       3          4.0
    2       3       4          3.0
    """
    places, count = places_of_sources(g, k, sources, seed)
    every = g.count
    g = without_parallel_edges(g)
    add_up = _whole_sources if whole_searches.on_one_host(g) else _level_by_level
    carried = add_up(g, places, count)
    if every >= 2:
        undirected = 1 if g.directed else 2
        carried *= 1 / (count * (every - 1)) if normalized else every / (count * undirected)
    return Answer({"betweenness": carried}, edges=g)


def _whole_sources(g: GraphView, places: Any, count: int) -> Any:
    """Return what each edge carries: array of float64, shape (E_p,)."""
    _, ends, _ = edge_ends(g)
    carried = g.column(0, "float64", len(ends))
    if not whole_searches.add_dependencies(g, places, g.column(0, "float64"), carried):
        raise lost_weight()
    if g.directed:
        return carried
    # Sorted by target and source, edges are in the order of their opposites.
    return carried + carried[np.argsort(ends, kind="stable")]


def _level_by_level(g: GraphView, places: Any, count: int) -> Any:
    """Return the same. All members call it."""
    sources, targets, weights = edge_ends(g)
    weights = 1 if weights is None else weights
    ways = [(sources, targets)] if g.directed else [(sources, targets), (targets, sources)]
    sums = [g.column(0, "float64", len(sources)) for _ in ways]
    for paths in paths_from_each(g, places, count):
        share, power = np.frexp((1 + paths.dependency) / paths.sigma)
        distance = paths.distance
        if distance is None:
            distance = np.where(paths.level < 0, np.nan, paths.level)
        columns = distance, paths.sigma, paths.exponent, share, power - paths.exponent
        distance, sigma, exponent, share, power = (wide_column(g, column) for column in columns)
        for (nearer, farther), total in zip(ways, sums, strict=True):
            at = np.flatnonzero(distance[nearer] + weights == distance[farther])
            v, w = nearer[at], farther[at]
            total[at] += np.ldexp(share[w] * sigma[v], power[w] + exponent[v])
    return sums[0] if g.directed else sums[0] + sums[1]
