"""A breadth-first search from each of many sources: 64 of them share the reads of an edge.

The levels are found first, with one bit per source and vertex; see :mod:`.multi_search`. The predecessor of
a vertex is then the first neighbor in its row whose bits the vertex got one level later.

On a deep graph, such as a grid or a road network, searches seldom reach a vertex in the same level, so they
share little. The sources of a batch are then searched one after another, and also if a batch has many small
levels. Both ways give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.algorithms.by_source import Reached
from dask_graphflow.kernels import count_true, kernels_of
from dask_graphflow.operators.direction import Direction
from dask_graphflow.operators.multi_search import DEEP, WORD, WordSearch
from dask_graphflow.operators.search import SMALL
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.wide_column import update_mirrors
from dask_graphflow.runtime.vertex_options import only

from .breadth_first import breadth_first

TAIL = 256  # number of small levels after which each source is searched by itself


class _Level(NamedTuple):
    """A member's vertices that are in a level of some searches, and the bits of these searches."""

    vertices: Any
    bits: Any


def search_each(
    g: GraphView, places: Any, count: int, *, targets: Any, depth_limit: int | None, direction: str
) -> Iterator[Reached]:
    """Search from each source, and yield its rows. All members call it at once.

    Parameters
    ----------
    g : GraphView
    places : array of int64, shape (V_p,)
        Index of each source among all sources, and -1 for other vertices.
    count : int
        Number of sources.
    targets, depth_limit, direction
        See :func:`.breadth_first`.
    """
    options = {"targets": targets, "depth_limit": depth_limit, "direction": direction}
    search, deep = WordSearch(g, {}, {}), False
    for first in range(0, count, WORD):
        levels = None if deep else _levels(g, search, places, first, count, **options)
        if levels is not None:
            width = min(WORD, count - first)
            yield from _with_predecessors(g, levels, places - first, width, targets)
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
) -> list[_Level] | None:
    """Return the levels of a batch of sources, or None if its sources should be searched one by one."""
    own, rule = search.begin(places, first, count), Direction(direction, g)
    frontier, levels, small = g.frontier(own), list[_Level](), 0
    while frontier:
        vertices = frontier.vertices.copy()  # a kernel uses the list again
        levels.append(_Level(vertices, search.visit[vertices]))
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
    return not g.all_sum(count_true(~seen[targets] != 0))


def _with_predecessors(
    g: GraphView, levels: list[_Level], places: Any, width: int, targets: Any
) -> Iterator[Reached]:
    """Find the predecessors in the searches from `width` sources, and yield the rows of each source.

    The places of these sources are 0 to ``width - 1``, and those of other vertices are other numbers.
    """
    local, listed = g.member.local("into"), g.column(False, "bool")
    for vertices, _ in levels:
        listed[vertices] = True
    at = np.flatnonzero(only(targets, listed))
    row = g.column(-1, "int64")
    row[at] = np.arange(len(at), like=at)
    level = np.full_like(at, -1, "int32", shape=(width, len(at)))
    predecessor = np.full_like(at, -1, local.rows.ends.dtype, shape=(width, len(at)))
    sources = np.flatnonzero((places >= 0) & (places < width) & (row >= 0))
    level[places[sources], row[sources]] = 0

    set_predecessors = kernels_of("predecessors", at).set_predecessors
    rows, seen = local.rows, g.column(0, "uint64", local.size)
    for depth, (vertices, new) in enumerate(levels):
        if depth:
            keep = np.flatnonzero(row[vertices] >= 0)
            some = vertices[keep], new[keep], row[vertices[keep]]
            set_predecessors(rows, seen, *some, depth, level, predecessor, threads=g.member.threads)
        # Bits from earlier levels may stay: no edge leads from there to a vertex that is reached later.
        seen[vertices] |= new
        if not g.member.alone:
            update_mirrors(g.member.mirrors("into"), seen, np.sort(vertices))

    # -1, which stands for no predecessor, selects the last entry.
    never = g.column(np.iinfo(g.index).max, g.index, 1)
    names = np.concatenate(
        [g.numbers, g.member.shard.slot_numbers("into", g.member.threads), never]
    )
    numbers = g.numbers[at]
    for own_level, own_predecessor in zip(level, predecessor, strict=True):
        reached = np.flatnonzero(own_level >= 0)
        yield Reached(numbers[reached], own_level[reached], names[own_predecessor[reached]])


def _by_itself(g: GraphView, source: Any, *, targets: Any, **options: Any) -> Reached:
    search = breadth_first(g, source, targets=targets, **options)
    at = np.flatnonzero(only(targets, search.level >= 0))
    level, parent = search.level[at], search.parents()[at]
    never = np.iinfo(parent.dtype).max
    return Reached(g.numbers[at], level, np.where(level > 0, parent, never).astype(g.index))
