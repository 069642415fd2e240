"""Leiden: communities of high modularity that are connected.

It works as the Louvain method does (:mod:`.louvain`), but the vertices of the coarser graph are parts of
communities. A part grows as single vertices join it over an edge, so it is connected [1]_. A community that
is left disconnected at the end is split, which never lowers its quality.

.. [1] V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected
   communities", Scientific Reports 9, 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count, Number, Seed
from dask_graphflow.declarations.option import Choice
from dask_graphflow.operators.labels import Groups
from dask_graphflow.operators.view import GraphView

from .communities.around import Around
from .communities.level import Level
from .communities.moves import fall_apart, move_back, move_nodes, refine
from .communities.passes import best_communities
from .communities.resolution import Resolution, columns
from .communities.which_community import EarlierCommunities


@algorithm(
    vertices(columns),
    weights="optional",
    directed=False,
    cost=Cost("labels", 1500, passes=20, sparse=2, rows=3, copies=2, scratch=200),
)
def leiden(
    g: GraphView,
    *,
    objective: Annotated[str, Choice(("modularity", "cpm"))] = "modularity",
    resolution: Annotated[float | list[float], Resolution()] = 1.0,
    tol: Annotated[float, Number(low=0)] = 1e-7,
    levels: Annotated[int, Count(most=100)] = 1,
    max_community_size: Annotated[int | None, Count()] = None,
    seed: Seed = 0,
    previous: Annotated[Any | None, EarlierCommunities()] = None,
) -> Answer:
    """Return the community of each vertex, by the Leiden method. Every community is connected.

    Communities have many edges inside and few to others. Weights multiply the edges, and a self-loop counts
    twice in the degree of its vertex.

    Parameters
    ----------
    objective : {"modularity", "cpm"}
        What communities maximize: modularity, the default, or the constant Potts model [2]_. Modularity
        takes the directions of edges into account [3]_. The constant Potts model ignores them, and compares
        the weights inside a community with `resolution` times the number of its pairs of vertices. It
        allows negative weights, which keep vertices apart; edges are then copied from GPUs to host memory.
    resolution : float or list of float
        Larger values give smaller communities; 1.0 by default. Several values give one column each, which
        is faster than several calls. For "cpm", it is the lowest density of communities.
    tol : float
        Stop after a pass that raises the quality by at most this part of the sum of all weights; 1e-7 by
        default. There are at most 2 passes.
    levels : int
        Number of levels of the hierarchy; 1 by default. The last level has the communities. The levels
        before have connected parts of them, finer ones first.
    max_community_size : int, optional
        Maximum number of vertices of a community. Larger communities are split at a higher resolution, and
        so are parts that are still too large. By default there is no limit.
    seed : int
        Chooses the order in which vertices move, together with the order of the ids; 0 by default.
    previous : dask.dataframe.DataFrame, pandas.DataFrame or cudf.DataFrame, optional
        Communities to start from: one row per vertex with its id, then its community, such as an earlier
        result. By default, every vertex starts alone, as new vertices do; ids that are not in the graph are
        ignored. Vertices move only if this raises the quality, so most communities that did not change keep
        their members. If it is the result of the same call on the graph from which
        :meth:`~dask_graphflow.Graph.update` made this one, only the ends of changed edges are looked at,
        then the neighbors of vertices that move, and so on [4]_. In any other case, and with several
        resolutions, levels or a maximum size, all vertices are. With `max_community_size`, only vertices
        that are alone join a community; others stay unless theirs becomes disconnected or too large.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` and ``community`` (both the dtype
        of the ids). A community is named by its smallest vertex. With several levels, the columns are
        ``community_1`` (finest), ``community_2`` and so on. With several resolutions such as 0.5, they are
        ``community_0.5`` and so on, or ``community_0.5_1`` with several levels.

    Raises
    ------
    WeightError
        A weight is infinite or NaN, or negative and the objective is modularity, or weights are far too
        large or small. Raised when the result is computed.

    References
    ----------
    .. [1] V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected
       communities", Scientific Reports 9, 2019.
    .. [2] V. A. Traag, P. Van Dooren, Y. Nesterov, "Narrow scope for resolution-limit-free community
       detection", Physical Review E 84, 2011.
    .. [3] E. A. Leicht, M. E. J. Newman, "Community Structure in Directed Networks", Physical Review
       Letters 100, 2008.
    .. [4] S. Sahu, "A Starting Point for Dynamic Community Detection with Leiden Algorithm",
       arXiv:2405.11658, 2024.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3, 4, 4, 5], "b": [2, 3, 3, 4, 5, 6, 6]})
    >>> gf.leiden(ties, source="a", target="b").compute().community.tolist()
    [1, 1, 1, 4, 4, 4]
    """
    return best_communities(
        g,
        _leiden_pass,
        resolution,
        connected=True,
        potts=objective == "cpm",
        tol=tol,
        levels=levels,
        seed=seed,
        most=max_community_size,
        previous=previous,
    )


def _leiden_pass(graph: Level, labels: Any, seeds: Iterator[int], around: Around | None) -> Groups:
    """Move vertices, refine communities, aggregate their parts; return communities of the first level."""
    level, communities = graph, graph.groups(labels)
    while True:
        move_nodes(level, communities, seeds, around)
        parts = refine(level, communities, next(seeds), around)
        communities = fall_apart(level, communities, parts)
        if parts.count == level.vertices or (around is not None and not around.touched.any()):
            break
        level = level.aggregate(parts)
        del parts  # before the next ones take memory
        above = level.lift(communities.own)
        communities = level.groups(level.from_finer(above))
        if around is not None:
            around = around.coarser(level, communities.own, above)
    while level.finer is not None:
        level, communities = move_back(level, communities, seeds, around)
    return communities
