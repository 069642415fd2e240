"""A breadth-first search from each of many sources: 64 of them share the reads of an edge.

The levels are found first, with one bit per source and vertex; see :class:`.WordSearch`. The predecessor of
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
from dask_graphflow.operators.search.multi_search import WordSearch
from dask_graphflow.operators.view import GraphView

from .breadth_first import breadth_first, read_search

TAIL = 256  # number of small levels after which each source is searched by itself


def search_each(
    g: GraphView, places: Any, count: int, *, targets: Any, depth_limit: int | None, direction: str
) -> Iterator[SourceRows]:
    """Search from each source, and yield its rows. All members call it at once.

    `places` has the index of each source among all sources, and -1 for other vertices. See
    :func:`.breadth_first` for the options.
    """
    options: dict[str, Any] = {"targets": targets, "depth_limit": depth_limit}
    options["direction"] = direction
    search, together = WordSearch(g), True
    for batch in search.batches(count):
        together = together and _find_levels(g, search, places, batch, **options)
        if together:
            yield from search.rows(_list_positions(g, search, targets))
            continue
        for place in batch:
            found = read_search(breadth_first(g, np.flatnonzero(places == place), **options))
            yield found.rows(g, targets)


def _find_levels(
    g: GraphView,
    search: WordSearch,
    places: Any,
    batch: range,
    *,
    targets: Any,
    depth_limit: int | None,
    direction: str,
) -> bool:
    """Find the levels of a batch of sources. Return False if its sources should be searched one by one."""
    frontier, small = search.begin(places, batch, direction), 0
    while frontier:
        search.record(frontier)
        levels = len(search.recorded)
        if levels - 1 == depth_limit or _all_reached(g, search.seen, targets):
            break
        small += frontier.small
        if small > TAIL or (levels == search.DEEP and search.is_deep()):
            return False
        frontier = search.follow(frontier, 1)
    return True


def _all_reached(g: GraphView, seen: Any, targets: Any) -> bool:
    """Return whether there are targets, and every source of the batch has reached all of them."""
    if targets is None:
        return False
    return not g.count_true(~seen[targets] != 0)


def _list_positions(g: GraphView, search: WordSearch, targets: Any) -> Any:
    """Return the positions of the vertices, or of the targets if there are any, that a source reached."""
    listed = g.column(False, "bool")
    for vertices, _ in search.recorded:
        listed[vertices] = True
    return np.flatnonzero(listed) if targets is None else targets[listed[targets]]
