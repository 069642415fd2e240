"""The loop of a breadth-first search, which other algorithms use too."""

from __future__ import annotations

from typing import Any

from dask_graphflow.algorithms.by_source import SearchResult
from dask_graphflow.algorithms.sssp.sssp import delta_stepping
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
    search = Search(g, targets, direction)
    frontier = search.begin(sources)
    while frontier and search.depth != depth_limit and not search.reached_targets:
        if search.rule.choose(frontier) == "pull":
            frontier = search.pull(frontier, depth_limit)
        elif search.is_deep(frontier):
            # A level takes a round of messages, however small it is. Along shortest paths with edges of
            # weight 1, each member goes as far as it can before a round.
            buckets = search.buckets(frontier, depth_limit)
            delta_stepping(g, buckets, targets)
            frontier = search.take_levels(buckets)
        else:
            frontier = search.push(frontier, depth_limit)
    return search


def read_search(search: Search) -> SearchResult:
    """Return what a search found."""
    level = search.level
    return SearchResult(level >= 0, level, search.parents(), level <= 0)
