"""What each vertex contributes to the shortest paths from a source.

A single member takes whole sources in one call, without a superstep per level, unless there are fewer
sources than threads and the levels are large. Otherwise members go from level to level. All numbers are
added up as in :mod:`.level_sums`, so both give the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.algorithms.bfs import breadth_first
from dask_graphflow.kernels import is_on_disk, kernels_of
from dask_graphflow.operators.view import GraphView

from .level_sums import LevelSums
from .levels import Levels

SMALL = 1 << 16  # edges per level that a thread follows before threads could have shared the level


def add_dependencies(
    g: GraphView, places: Any, count: int, betweenness: Any, *, endpoints: bool
) -> None:
    """Add what each vertex contributes to the shortest paths from some sources. All members call it.

    The contribution of a vertex v is the sum, over all other vertices w, of the part of the shortest paths
    from the source to w that lead through v.

    Parameters
    ----------
    g : GraphView
        A graph without parallel edges and self-loops.
    places : array of int64, shape (V_p,)
        Index of each source among all sources, and -1 for other vertices. Contributions are added in the
        order of the sources.
    count : int
        Number of sources.
    betweenness : array of float64, shape (V_p,)
        Changed in place.
    endpoints : bool
        Whether a path also counts for its first and its last vertex.
    """
    sources = np.flatnonzero(places >= 0)
    sources = sources[np.argsort(places[sources])]
    if g.alone and _are_taken_whole(g, sources):
        _add_whole_sources(g, sources, betweenness, endpoints)
        return
    level = g.column(-1, "int32")
    forward, backward = LevelSums(g, level, whole=True), LevelSums(g.T, level)
    for index in range(count):
        source = (places == index).nonzero()[0]
        level[:] = breadth_first(g, source).level
        levels, sigma, exponent = _paths(g, source, forward)
        dependency = _dependencies(g, levels, sigma, exponent, backward)
        dependency[source] = levels.count - 1 if endpoints else 0
        betweenness += dependency + (level > 0) if endpoints else dependency


def _are_taken_whole(g: GraphView, sources: Any) -> bool:
    """Return whether each thread takes a source, instead of all threads sharing each level."""
    if g.shard.on_device:
        return True
    if is_on_disk(g.shard.out.ends):  # each thread would need memory for all edges
        return False
    if len(sources) >= g.threads:
        return True
    return len(g.shard.out.ends) < SMALL * breadth_first(g, sources[:1]).depth


def _add_whole_sources(g: GraphView, sources: Any, betweenness: Any, endpoints: bool) -> None:
    rows, into = (g.local(side).rows._replace(first=0) for side in ("out", "into"))
    kernels = kernels_of("searches", rows.ends)
    for first in range(0, len(sources), kernels.AT_ONCE):
        some = sources[first : first + kernels.AT_ONCE]
        with g.superstep("push", len(some), len(some) * len(rows.ends)):
            kernels.add_dependencies(
                rows, into, some, betweenness, endpoints=endpoints, threads=g.threads
            )


def _paths(g: GraphView, source: Any, forward: LevelSums) -> tuple[Levels, Any, Any]:
    """Return the levels of a source, and the number of shortest paths to each vertex.

    The number is ``sigma * 2**exponent``, with `sigma` from 0.5 to 1. It can exceed the range of floats.
    """
    sigma, exponent = g.column(0.5, "float64"), g.column(1, "int64")
    levels, frontier = Levels(g), g.frontier(source)
    while frontier:
        levels.append(frontier)
        at = frontier.vertices
        frontier, *sums = forward.send(frontier, sigma[at], exponent[at], len(levels))
        at = frontier.vertices
        sigma[at], exponent[at] = sums
    return levels, sigma, exponent


def _dependencies(
    g: GraphView, levels: Levels, sigma: Any, exponent: Any, backward: LevelSums
) -> Any:
    """Return, for each vertex v, the sum over all w behind it of the part of the paths to w through v.

    ``dependency[v] = sigma[v] * sum((1 + dependency[w]) / sigma[w])``, over the neighbors w of v in the
    next level.
    """
    dependency = g.column(0, "float64")
    for depth in range(len(levels) - 1, 0, -1):
        level = levels[depth]
        at = level.vertices
        share, power = np.frexp((1 + dependency[at]) / sigma[at])
        before, sums, power = backward.send(level, share, power - exponent[at], depth - 1)
        at = before.vertices
        dependency[at] = np.ldexp(sums * sigma[at], power + exponent[at])
    return dependency
