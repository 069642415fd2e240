"""The loop of a breadth-first search, which other algorithms use too."""

from __future__ import annotations

from typing import Any

from dask_graphflow.algorithms.sssp.sssp import delta_stepping
from dask_graphflow.operators.advance.direction import Direction
from dask_graphflow.operators.frontier import Frontier
from dask_graphflow.operators.search.search import Search
from dask_graphflow.operators.view import GraphView


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
        See :func:`.bfs`.
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
