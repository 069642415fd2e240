"""Louvain: communities of high modularity, by moving vertices and making one vertex of each community.

Vertices move to the communities of their neighbors as long as this raises the modularity. Then a coarser
graph has one vertex for each community, and its vertices move in the same way [1]_. On the way back to the
first graph, the vertices of each level move once more, so that single vertices can leave a community again
[2]_. The next pass begins with the communities that this gives.

.. [1] V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large
   networks", Journal of Statistical Mechanics, 2008.
.. [2] R. Rotta, A. Noack, "Multilevel local search algorithms for modularity clustering", Journal of
   Experimental Algorithmics, 2011.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count, Number, Seed
from dask_graphflow.operators.labels import Groups
from dask_graphflow.operators.view import GraphView

from .communities.around import Around
from .communities.level import Level
from .communities.moves import move_back, move_nodes
from .communities.passes import best_communities
from .communities.resolution import Resolution, columns
from .communities.which_community import EarlierCommunities


@algorithm(
    vertices(columns),
    weights="optional",
    directed=False,
    cost=Cost("labels", 1000, passes=10, sparse=2, rows=2, copies=2, scratch=150),
)
def louvain(
    g: GraphView,
    *,
    resolution: Annotated[float | list[float], Resolution()] = 1.0,
    tol: Annotated[float, Number(low=0)] = 1e-7,
    levels: Annotated[int, Count(most=100)] = 1,
    seed: Seed = 0,
    previous: Annotated[Any | None, EarlierCommunities()] = None,
) -> Answer:
    """Return the community of each vertex, by the Louvain method.

    Communities have many edges inside and few to others: their modularity is high. Weights multiply the
    edges, and a self-loop counts twice in the degree of its vertex. The modularity of a directed graph
    takes the directions of edges into account [2]_. A community can be disconnected; see
    :func:`dask_graphflow.leiden`.

    Parameters
    ----------
    resolution : float or list of float
        Larger values give smaller communities; 1.0 by default. Several values give one column each, which
        is faster than several calls.
    tol : float
        Stop after a pass that raises the modularity by at most this; 1e-7 by default. There are at most 2
        passes.
    levels : int
        Number of levels of the hierarchy; 1 by default. The last level has the communities. The levels
        before have connected parts of them, finer ones first.
    seed : int
        Chooses the order in which vertices move; 0 by default. The order depends only on the seed and on
        the order of the ids.
    previous : dask.dataframe.DataFrame, pandas.DataFrame or cudf.DataFrame, optional
        Communities to start from: one row per vertex with its id, then its community, such as the result of
        an earlier call, before the graph changed. Vertices move only if this raises the quality, so most
        communities that did not change keep their members. Ids that are no longer in the graph are
        ignored, and new vertices start alone. If it is the result of the same call on the graph from which
        :meth:`~dask_graphflow.Graph.update` made this one, only the ends of changed edges are looked at,
        then the neighbors of vertices that move, and so on [3]_. In any other case, and with several
        resolutions or levels, all vertices are looked at. By default, every vertex starts alone.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` and ``community`` (both the dtype
        of the ids). A community is named by its smallest vertex. With several levels, the columns are
        ``community_1`` (finest), ``community_2`` and so on. With several resolutions such as 0.5, they are
        ``community_0.5`` and so on, or ``community_0.5_1`` with several levels.

    References
    ----------
    .. [1] V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in
       large networks", Journal of Statistical Mechanics, 2008.
    .. [2] E. A. Leicht, M. E. J. Newman, "Community Structure in Directed Networks", Physical Review
       Letters 100, 2008.
    .. [3] S. Sahu, "DF Louvain: Fast Incrementally Expanding Approach for Community Detection on Dynamic
       Graphs", arXiv:2404.19634, 2024.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3, 4, 4, 5], "b": [2, 3, 3, 4, 5, 6, 6]})
    >>> gf.louvain(ties, source="a", target="b").compute().community.tolist()
    [1, 1, 1, 4, 4, 4]
    """
    return best_communities(
        g,
        _louvain_pass,
        resolution,
        connected=False,
        tol=tol,
        levels=levels,
        seed=seed,
        previous=previous,
    )


def _louvain_pass(graph: Level, labels: Any, seeds: Iterator[int], around: Around | None) -> Groups:
    """Move vertices and aggregate communities, until no vertex leaves its own community.

    Return the communities of the first level.
    """
    level, communities = graph, graph.groups(labels)
    while True:
        move_nodes(level, communities, seeds, around)
        if communities.count == level.vertices or (around is not None and not around.touched.any()):
            break
        level = level.aggregate(communities)
        above, communities = communities.own, level.groups()
        if around is not None:
            around = around.coarser(level, communities.own, level.lift(above))
    while level.finer is not None:
        level, communities = move_back(level, communities, seeds, around)
    return communities
