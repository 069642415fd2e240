"""Predecessors: for each vertex, the smallest neighbor from which a shortest path can reach it.

The distances of both ends of an edge determine whether it is on a shortest path. If edges have a weight of
0, the predecessor is the smallest of the vertices with the fewest such edges before them. Predecessors
therefore always lead to a source, and never form a cycle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import kernels_of

from .buckets import Relaxed
from .view import GraphView
from .wide_column import update_mirrors

__all__ = ["predecessors"]


def predecessors(g: GraphView, relaxed: Relaxed) -> Any:
    """Return the predecessor of each owned vertex. All members call it at once.

    Returns
    -------
    array of index, shape (V_p,)
        Vertex numbers; the dtype's maximum for sources and for vertices that were not reached.
    """
    if not g.alone:
        return _together(g, relaxed)
    rows, distance, sources, labels, names = relaxed
    find = kernels_of("buckets", rows.ends).predecessors
    found = find(rows, distance, sources, names=names, threads=g.threads)
    if labels is None:
        return found
    if found is not None:
        return found[labels]
    # Edges of weight 0 connect vertices at the same distance, whose order depends on numbers, not labels.
    rows = g.local("out").rows._replace(first=0)
    return find(rows, distance[labels], names[sources], threads=g.threads)


def _together(g: GraphView, relaxed: Relaxed) -> Any:
    rows, distance, owned, mirrors = relaxed.rows, relaxed.distance, g.owned, g.mirrors("out")
    kernels, names, threads = kernels_of("buckets", rows.ends), g.numbers, g.threads
    update_mirrors(mirrors, distance)

    never = np.iinfo(g.index).max
    predecessor = g.column(never, g.index, len(distance))
    level = kernels.offer_nearer(rows, names, distance, predecessor, threads=threads)
    settled = predecessor != never  # also mirrors that got an offer: their masters will be settled
    mirrors.reduce(predecessor, np.flatnonzero(settled[owned:]), sums=(level,))

    def smallest(at: Any, values: Any) -> None:
        predecessor[at] = np.minimum(predecessor[at], values)

    if not mirrors.receive(smallest).sums[0]:
        return predecessor[:owned]

    settled[:owned] = predecessor[:owned] != never
    settled[relaxed.sources] = True
    frontier = np.flatnonzero(settled[:owned])
    while True:
        following = kernels.offer_level(rows, names, distance, predecessor, settled, frontier)
        settled[following[following >= owned]] = True
        reached = [following[following < owned]]
        away = np.sort(following[following >= owned]) - owned

        def first(at: Any, values: Any, reached: list[Any] = reached) -> None:
            open_ = ~settled[at]
            at, values = at[open_], values[open_]
            reached.append(at[predecessor[at] == never])
            smallest(at, values)

        mirrors.reduce(predecessor, away, sums=(len(following),))
        if not mirrors.receive(first).sums[0]:
            return predecessor[:owned]
        frontier = np.concatenate(reached)
        settled[frontier] = True
