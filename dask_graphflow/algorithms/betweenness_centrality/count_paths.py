"""The shortest paths from a source: how many lead to each vertex, and how many lead through it.

A pass from level to level counts the shortest paths to each vertex, and a pass back adds up what each
vertex contributes to the paths behind it. Numbers are added up as in :mod:`.level_sums`. If edges have
weights, the levels are those of :mod:`.generations`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.algorithms.bfs import breadth_first
from dask_graphflow.algorithms.sssp.distances_by_source import distances_from_each
from dask_graphflow.operators.frontier import Frontier
from dask_graphflow.operators.search import whole_searches
from dask_graphflow.operators.view import GraphView

from .generations import Generations
from .level_sums import LevelSums
from .levels import Levels

# A source at a time, and a function that returns the vertices that receive values from a level.
Searches = Iterator[tuple[Any, Callable[[Frontier], Frontier | None]]]


class Paths(NamedTuple):
    """The shortest paths from a source."""

    source: Any  # array of integers. Position of the source, if this member owns it.
    reached: int  # number of vertices that were reached, over all members
    # Array of int32, shape (V_p,). Below 0 for vertices that were not reached, and 0 for the source.
    level: Any
    # Array of float64, shape (V_p,), or None. Distance from the source, NaN for vertices that were not
    # reached; None without weights.
    distance: Any
    # Array, shape (V_p,). The number of paths to each vertex is ``sigma * 2**exponent``.
    sigma: Any
    exponent: Any
    # Array of float64, shape (V_p,). The sum, over all other vertices w, of the part of the paths to w that
    # lead through the vertex.
    dependency: Any


def paths_from_each(g: GraphView, places: Any, count: int) -> Iterator[Paths]:
    """Yield the shortest paths from one source after another. All members call it.

    `places` has the index of each source among all sources, and -1 for other vertices. The graph is simple,
    and its weights are positive and finite. Arrays can be changed by the caller. The next iteration uses
    some of them again.
    """
    if count and whole_searches.on_one_device(g) and not g.weighted:
        # A superstep per level would take a millisecond.
        for source, reached, (level, *counts) in whole_searches.find_paths(g, places):
            yield Paths(source, reached, level, None, *counts)
        return
    level = g.column(-1, "int32")
    distance = g.column(np.nan, "float64") if g.weighted else None
    forward = LevelSums(g, level, whole=not g.weighted, distance=distance)
    backward = LevelSums(g.T, level, distance=distance, backward=True)
    if g.weighted:
        searches = _by_distance(g, places, count, level, distance)
    else:
        searches = _by_level(g, places, count, level)
    for source, following in searches:
        levels, sigma, exponent = _counts(g, source, forward, following)
        dependency = _dependencies(g, levels, sigma, exponent, backward)
        yield Paths(source, levels.count, level, distance, sigma, exponent, dependency)


def _by_level(g: GraphView, places: Any, count: int, level: Any) -> Searches:
    """Set the levels of one source after another; yield the source, and a function that does nothing."""
    for index in range(count):
        source = (places == index).nonzero()[0]
        level[:] = breadth_first(g, source).level
        yield source, lambda frontier: None


def _by_distance(g: GraphView, places: Any, count: int, level: Any, distance: Any) -> Searches:
    """Set the distances from one source after another.

    Yield the source, and the function that sets the levels; see :meth:`.Generations.following`.
    """
    generations = Generations(g, distance, level)
    for index, found in enumerate(distances_from_each(g, places, count)):
        source = (places == index).nonzero()[0]
        distance[:] = np.where(np.isfinite(found), found, np.nan)
        generations.begin(source)
        yield source, generations.following


def _counts(
    g: GraphView, source: Any, forward: LevelSums, following: Callable[[Frontier], Frontier | None]
) -> tuple[Levels, Any, Any]:
    """Return the levels of a source, and the number of shortest paths to each vertex.

    The number is ``sigma * 2**exponent``, with `sigma` from 0.5 to 1. It can exceed the range of floats.
    """
    sigma, exponent = g.column(0.5, "float64"), g.column(1, "int64")
    levels, frontier = Levels(g), g.frontier(source)
    while frontier:
        levels.append(frontier)
        at = frontier.vertices
        frontier, *sums = forward.send(
            frontier, sigma[at], exponent[at], len(levels), following(frontier)
        )
        at = frontier.vertices
        sigma[at], exponent[at] = sums
    return levels, sigma, exponent


def _dependencies(
    g: GraphView, levels: Levels, sigma: Any, exponent: Any, backward: LevelSums
) -> Any:
    """Return, for each vertex v, the sum over all w behind it of the part of the paths to w through v.

    ``dependency[v] = sigma[v] * sum((1 + dependency[w]) / sigma[w])``, over the edges of shortest
    paths from v to w.
    """
    dependency = g.column(0, "float64")
    for depth in range(len(levels) - 1, 0, -1):
        level = levels[depth]
        at = level.vertices
        share, power = np.frexp((1 + dependency[at]) / sigma[at])
        receivers = levels[depth - 1] if g.weighted else None
        before, sums, power = backward.send(
            level, share, power - exponent[at], depth - 1, receivers
        )
        at = before.vertices
        dependency[at] = np.ldexp(sums * sigma[at], power + exponent[at])
    return dependency
