"""What each vertex contributes to the shortest paths from a source.

A single member takes whole sources in one call, without a superstep per level, unless there are fewer
sources than threads and the levels are large. Otherwise members go from level to level. All numbers are
added up as in :mod:`.level_sums`, so both give the same bits. If edges have weights, a device goes from
level to level, too.
"""

from __future__ import annotations

from typing import Any

from dask_graphflow.algorithms.bfs import breadth_first
from dask_graphflow.operators import whole_searches
from dask_graphflow.operators.view import GraphView

from .paths import paths_from_each
from .tight_edges import lost_weight


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
    sources = whole_searches.in_order(places)
    if g.weighted and whole_searches.on_one_host(g):
        if not whole_searches.add_contributions(g, sources, betweenness, endpoints=endpoints):
            raise lost_weight()
        return
    if not g.weighted and whole_searches.suit_sources(
        g, len(sources), lambda: breadth_first(g, sources[:1]).depth
    ):
        whole_searches.add_dependencies(g, sources, betweenness, endpoints=endpoints)
        return
    for paths in paths_from_each(g, places, count):
        dependency = paths.dependency
        dependency[paths.source] = paths.reached - 1 if endpoints else 0
        betweenness += dependency + (paths.level > 0) if endpoints else dependency
