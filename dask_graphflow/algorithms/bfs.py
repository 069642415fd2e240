"""Breadth-first search: the distance in edges from the nearest source, and a predecessor.

The result has a row for every vertex that was reached, with its distance in edges and its predecessor.
The predecessor is the neighbor with the smallest id among those that are one edge nearer, and null for a
source. The predecessors form a forest of shortest paths.

The search proceeds level by level, in one of two ways. In a *push*, the frontier's edges are followed, and
each new vertex takes the smallest vertex that reaches it. In a *pull*, every vertex that has not been
reached looks at its neighbors in ascending order, and the first one in the frontier becomes its
predecessor. Pulling is faster while the frontier is large, because a vertex then finds a neighbor in the
frontier after a few attempts [1]_. Both ways give bit-identical results.

.. [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.
"""

from __future__ import annotations

from typing import Annotated, Any

from dask_graphflow.operators.direction import DIRECTION_RULES, Direction
from dask_graphflow.operators.search import Search
from dask_graphflow.operators.view import Frontier, GraphView
from dask_graphflow.runtime.algorithm import algorithm
from dask_graphflow.runtime.answer import Answer, OrNull
from dask_graphflow.runtime.number_options import Count
from dask_graphflow.runtime.options import Choice
from dask_graphflow.runtime.vertex_options import VertexIds, only

from .sssp.sssp import delta_stepping


@algorithm(
    columns={"distance": "int32", "predecessor": "id or null"},
)
def bfs(
    g: GraphView,
    sources: Annotated[Any, VertexIds()],
    *,
    targets: Annotated[Any | None, VertexIds()] = None,
    depth_limit: Annotated[int | None, Count(least=0)] = None,
    direction: Annotated[str, Choice(DIRECTION_RULES)] = "beamer",
) -> Answer:
    """Return the distance in edges from the nearest source to each vertex, by breadth-first search.

    Weights and parallel edges do not change the result.

    Parameters
    ----------
    sources : id, or list, Series or DataFrame of ids
        Vertices to start from. Distances are measured from the nearest source. If ids have several
        columns, write each id as a tuple; a single tuple with one part per column is one source.
    targets : id, or list, Series or DataFrame of ids, optional
        Vertices to find. The search stops once it has reached all of them, and the result has only their
        rows. A target that cannot be reached has no row. By default, the result has every vertex that was
        reached.
    depth_limit : int, optional
        Maximum distance in edges. By default there is no limit.
    direction : {"beamer", "gemini", "push", "pull"}
        When to pull instead of push. It affects the speed, not the result. "beamer", the default, uses
        the rule of Beamer et al. [1]_, but pushes if fewer edges leave the frontier than 1/18 of the
        number of vertices. "gemini" pulls if more than 1/20 of all edges leave the frontier [2]_. "push"
        never pulls, and "pull" always does.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex that was reached, or per target that was reached, sorted by vertex, with the
        columns ``vertex`` (the dtype of the ids), ``distance`` (int32, in edges) and ``predecessor`` (the
        dtype of the ids, null for a source).

    References
    ----------
    .. [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.
    .. [2] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph
       Processing System", OSDI 2016.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2, 5], "b": [2, 5, 7, 7]})
    >>> gf.bfs(links, source="a", target="b", sources=[1]).compute()
       vertex  distance  predecessor
    0       1         0         <NA>
    1       2         1            1
    2       5         1            1
    3       7         2            2
    """
    search = breadth_first(
        g, sources, targets=targets, depth_limit=depth_limit, direction=direction
    )
    level = search.level
    columns = {"distance": level, "predecessor": OrNull(search.parents(), level <= 0)}
    return Answer(columns, among=only(targets, level >= 0))


def breadth_first(
    g: GraphView,
    sources: Any,
    *,
    targets: Any | None = None,
    depth_limit: int | None = None,
    direction: str = "beamer",
) -> Search:
    """Search from sources, and return the search with its levels. All members call it at once.

    Parameters
    ----------
    sources, targets : array of integers
        Positions of vertices that this member owns, each once. Either all members pass targets, or none
        does.
    depth_limit, direction
        See :func:`bfs`.
    """
    search, rule = Search(g, targets), Direction(direction, g)
    frontier = search.begin(sources)
    while frontier and search.depth != depth_limit and not search.reached_targets:
        if rule.choose(frontier) == "pull":
            frontier = search.pull(frontier)
        elif search.is_deep(frontier):
            frontier = _remaining_levels(g, search, frontier, targets, depth_limit)
        else:
            frontier = search.push(frontier, rule, depth_limit)
    return search


def _remaining_levels(
    g: GraphView, search: Search, frontier: Frontier, targets: Any, depth_limit: int | None
) -> Frontier:
    """Find all remaining levels as distances along edges of weight 1.

    A level takes a round of messages, however small it is. Along shortest paths, each member goes as far as
    it can before a round.
    """
    buckets = search.buckets(frontier, depth_limit)
    delta_stepping(g, buckets, targets)
    return search.take_levels(buckets)
