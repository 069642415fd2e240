"""A breadth-first search from each of many sources: 64 of them share the reads of an edge.

The levels are found first, with one bit per source and vertex; see :mod:`.multi_search`. The predecessor of
a vertex is then the first neighbor in its row whose bits the vertex got one level later.

On a deep graph, such as a grid or a road network, searches seldom reach a vertex in the same level, so they
share little. The sources of a batch are then searched one after another, and also if a batch has many small
levels. Both ways give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dask_graphflow.algorithms.by_source import SourceRows
from dask_graphflow.declarations.vertex_options import only
from dask_graphflow.operators.advance.direction import Direction
from dask_graphflow.operators.search.multi_search import (
    DEEP,
    WORD,
    Reach,
    WordSearch,
    predecessors,
)
from dask_graphflow.operators.search.search import SMALL
from dask_graphflow.operators.view import GraphView

from .breadth_first import breadth_first

TAIL = 256  # number of small levels after which each source is searched by itself


def search_each(
    g: GraphView, places: Any, count: int, *, targets: Any, depth_limit: int | None, direction: str
) -> Iterator[SourceRows]:
    """Search from each source, and yield its rows. All members call it at once.

    `places` has the index of each source among all sources, and -1 for other vertices. See
    :func:`.breadth_first` for the options.
    """
    options = {"targets": targets, "depth_limit": depth_limit, "direction": direction}
    search, deep = WordSearch(g, {}, {}), False
    for first in range(0, count, WORD):
        levels = None if deep else _levels(g, search, places, first, count, **options)
        if levels is not None:
            width = min(WORD, count - first)
            yield from _rows(g, levels, places - first, width, targets)
            continue
        deep = True
        for place in range(first, min(first + WORD, count)):
            yield _by_itself(g, np.flatnonzero(places == place), **options)


def _levels(
    g: GraphView,
    search: WordSearch,
    places: Any,
    first: int,
    count: int,
    *,
    targets: Any,
    depth_limit: int | None,
    direction: str,
) -> list[Reach] | None:
    """Return the levels of a batch of sources, or None if its sources should be searched one by one."""
    own, rule = search.begin(places, first, count), Direction(direction, g)
    frontier, levels, small = g.frontier(own), list[Reach](), 0
    while frontier:
        vertices = frontier.vertices.copy()  # a kernel uses the list again
        levels.append(Reach(vertices, search.visit[vertices]))
        if len(levels) - 1 == depth_limit or _all_reached(g, search.seen, targets):
            break
        small += frontier.leaving <= SMALL
        if small > TAIL or (len(levels) == DEEP and search.is_deep()):
            return None
        if rule.choose(frontier) == "push":
            frontier, _ = search.step.push_on(frontier, rule, 1)
        else:
            frontier = search.step.pull(frontier)
    return levels


def _all_reached(g: GraphView, seen: Any, targets: Any) -> bool:
    """Return whether there are targets, and every source of the batch has reached all of them."""
    if targets is None:
        return False
    return not g.count_true(~seen[targets] != 0)


def _rows(
    g: GraphView, levels: list[Reach], places: Any, width: int, targets: Any
) -> Iterator[SourceRows]:
    """Yield the rows of the searches from `width` sources, whose places are 0 to ``width - 1``."""
    listed = g.column(False, "bool")
    for vertices, _ in levels:
        listed[vertices] = True
    at = np.flatnonzero(only(targets, listed))
    numbers = g.numbers[at]
    for found, level, predecessor in predecessors(g, levels, places, width, at):
        yield SourceRows(numbers[found], level, predecessor)


def _by_itself(g: GraphView, source: Any, *, targets: Any, **options: Any) -> SourceRows:
    search = breadth_first(g, source, targets=targets, **options)
    at = np.flatnonzero(only(targets, search.level >= 0))
    level, parent = search.level[at], search.parents()[at]
    never = np.iinfo(parent.dtype).max
    return SourceRows(g.numbers[at], level, np.where(level > 0, parent, never).astype(g.index))
