"""What each vertex contributes to the shortest paths from a source.

A single member takes whole sources in one call, without a superstep per level, unless there are fewer
sources than threads and the levels are large. Otherwise members go from level to level. All numbers are
added up as in :mod:`.level_sums`, so both give the same bits. If edges have weights, a device goes from
level to level, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.algorithms.bfs import breadth_first
from dask_graphflow.kernels import is_on_disk, kernels_of
from dask_graphflow.operators.view import GraphView

from .paths import both_ways, in_order, paths_from_each
from .tight_edges import lost_weight

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
        A graph without parallel edges and self-loops. Weights are positive and finite.
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
    sources = in_order(places)
    if g.weighted and is_on_one_host(g):
        add_contributions(g, sources, betweenness, endpoints=endpoints)
        return
    if g.member.alone and not g.weighted and _are_taken_whole(g, sources):
        _add_whole_sources(g, sources, betweenness, endpoints)
        return
    for paths in paths_from_each(g, places, count):
        dependency = paths.dependency
        dependency[paths.source] = paths.reached - 1 if endpoints else 0
        betweenness += dependency + (paths.level > 0) if endpoints else dependency


def _are_taken_whole(g: GraphView, sources: Any) -> bool:
    """Return whether each thread takes a source, instead of all threads sharing each level."""
    if g.member.shard.on_device:
        return True
    if is_on_disk(g.member.shard.out.ends):  # each thread would need memory for all edges
        return False
    if len(sources) >= g.member.threads:
        return True
    return len(g.member.shard.out.ends) < SMALL * breadth_first(g, sources[:1]).depth


def _add_whole_sources(g: GraphView, sources: Any, betweenness: Any, endpoints: bool) -> None:
    rows, into = both_ways(g)
    kernels = kernels_of("searches", rows.ends)
    for first in range(0, len(sources), kernels.AT_ONCE):
        some = sources[first : first + kernels.AT_ONCE]
        with g.superstep("push", len(some), len(some) * len(rows.ends)):
            kernels.add_dependencies(
                rows, into, some, betweenness, endpoints=endpoints, threads=g.member.threads
            )


def is_on_one_host(g: GraphView) -> bool:
    """Return whether :func:`add_contributions` can be used: a single member has the graph on the host."""
    return g.member.alone and not g.member.shard.on_device


def add_contributions(
    g: GraphView, sources: Any, scores: Any, carried: Any = None, *, endpoints: bool = False
) -> None:
    """Add what vertices and edges contribute to the shortest paths from some sources.

    Each thread takes a whole source.

    Parameters
    ----------
    g : GraphView
        See :func:`add_dependencies`. It is on one host.
    sources : array of integers
        The contributions are added in this order.
    scores : array of float64, shape (V,)
        Contributions of vertices. Changed in place.
    carried : array of float64, shape (E,), optional
        Contributions of the edges in ``g.member.rows("out")``. Changed in place.
    endpoints : bool
        Whether a path also counts for its first and its last vertex.
    """
    rows, into = both_ways(g)
    kernels = kernels_of("tight_edges", rows.ends)
    carried = np.empty(0) if carried is None else carried
    for first in range(0, len(sources), kernels.AT_ONCE):
        some = sources[first : first + kernels.AT_ONCE]
        with g.superstep("push", len(some), len(some) * len(rows.ends)):
            if not kernels.add_contributions(
                rows, into, some, scores, carried, endpoints=endpoints, threads=g.member.threads
            ):
                raise lost_weight()
