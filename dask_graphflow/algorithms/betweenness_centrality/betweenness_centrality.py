"""Betweenness centrality: the part of all shortest paths that lead through a vertex.

For each source, a search finds the level of each vertex, and a pass from level to level counts the shortest
paths to each vertex. A pass back adds up what each vertex contributes to the paths behind it [1]_. If edges
have weights, the search finds distances, and levels are the generations of the edges on shortest paths.
With `k`, a random sample of the vertices are sources [2]_.

A single member takes whole sources in one call, without a superstep per level, unless there are fewer
sources than threads and the levels are large. Devices that share memory take turns at whole sources.
Otherwise members go from level to level. If edges have weights, a device goes from level to level, too.
Sums are of whole multiples of a unit per vertex, so they are bit-identical in both ways, for every
partitioning and number of threads.

.. [1] U. Brandes, "A Faster Algorithm for Betweenness Centrality", Journal of Mathematical Sociology 25,
   2001.
.. [2] U. Brandes, C. Pich, "Centrality Estimation in Large Networks", International Journal of Bifurcation
   and Chaos 17(7), 2007.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from dask_graphflow.algorithms.bfs import breadth_first
from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count, Seed
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.operators.search import whole_searches
from dask_graphflow.operators.view import GraphView

from .choose_sources import places_of_sources
from .count_paths import paths_from_each
from .tight_edges import lost_weight, without_parallel_edges


@algorithm(
    vertices({"betweenness": "float64"}),
    weights="optional",
    edge_bytes=(0, 24),
    cost=Cost(
        "labels", Cost.levels(3), passes=1, step=Cost.FUSED, sources=1, rows=1, copies=1, scratch=115,
        weighted=Cost.by_weight(1.5),
    ),
)  # fmt: skip
def betweenness_centrality(
    g: GraphView,
    *,
    k: Annotated[int | None, Count()] = None,
    sources: Annotated[Any | None, VertexIds()] = None,
    normalized: bool = True,
    endpoints: bool = False,
    seed: Seed = 0,
) -> Answer:
    """Return the betweenness centrality of each vertex.

    This is the sum, over all pairs of other vertices, of the part of the shortest paths between them that
    lead through the vertex. The length of a path is the sum of its weights, or its number of edges if the
    graph has no weights. Self-loops do not change the result, and of parallel edges only the lightest
    counts.

    Parameters
    ----------
    sources : id, or list, Series or DataFrame of ids, optional
        Vertices from which paths start, instead of a random sample of `k` vertices.
    normalized : bool
        Whether to divide by the number of pairs; True by default.
    endpoints : bool
        Whether a path also counts for its first and its last vertex; False by default.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
        ``betweenness`` (float64). With ``k=1``, the source has NaN unless `endpoints` is set.

    Raises
    ------
    WeightError
        A weight is 0, negative, infinite, null or NaN, or so small that adding it to a distance does not
        change the distance. Raised when the result is computed.

    References
    ----------
    .. [1] U. Brandes, "A Faster Algorithm for Betweenness Centrality", Journal of Mathematical Sociology
       25, 2001.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 2, 3], "b": [2, 3, 4]})
    >>> scores = gf.betweenness_centrality(ties, source="a", target="b", directed=False)
    >>> scores.compute().betweenness.round(3).tolist()
    [0.0, 0.667, 0.667, 0.0]
    """
    places, count = places_of_sources(g, k, sources, seed)
    every = g.count
    g = without_parallel_edges(g)
    betweenness = g.column(0, "float64")
    add_dependencies(g, places, count, betweenness, endpoints=endpoints)
    pairs = every if endpoints else every - 1
    if pairs >= 2:
        # A sampled vertex is the source of no path that leads through it.
        own_source = (places >= 0) * (count < every and not endpoints)
        sources = np.maximum(min(count, pairs) - own_source, 0).astype("float64")
        undirected = 1 if g.directed else 2
        with np.errstate(divide="ignore", invalid="ignore"):
            # In the order of NetworkX, so that whole sums are rounded in the same way.
            betweenness *= (
                1 / (sources * (pairs - 1)) if normalized else pairs / (sources * undirected)
            )
    return Answer({"betweenness": betweenness})


def add_dependencies(
    g: GraphView, places: Any, count: int, betweenness: Any, *, endpoints: bool
) -> None:
    """Add what each vertex contributes to the shortest paths from some sources. All members call it.

    The contribution of a vertex v is the sum, over all other vertices w, of the part of the shortest paths
    from the source to w that lead through v. Contributions are added in the order of the sources, in place.
    The graph is simple, and its weights are positive and finite. `endpoints`: a path also counts for its
    first and its last vertex.
    """
    if g.weighted:
        whole = whole_searches.on_one_host(g)
    else:
        first = (places == 0).nonzero()[0]
        whole = whole_searches.suit_sources(g, count, lambda: breadth_first(g, first).depth)
    if whole:
        if not whole_searches.add_dependencies(g, places, betweenness, endpoints=endpoints):
            raise lost_weight()
        return
    for paths in paths_from_each(g, places, count):
        dependency = paths.dependency
        dependency[paths.source] = paths.reached - 1 if endpoints else 0
        betweenness += dependency + (paths.level > 0) if endpoints else dependency
