"""Bounds of the eccentricity of each vertex, which searches from a few vertices narrow [1]_.

If a vertex has the eccentricity e, and another vertex is at the distance d, then the eccentricity of the
other vertex is at least d and e - d, and at most e + d. So searches start, in turn, from the vertex with
the largest upper bound, which is probably at the rim, and from the one with the smallest lower bound, which
is probably in the center. All components are searched at once, each from one of its vertices.

In social networks, most vertices are equally far from the center, and bounds stop to narrow. Then searches
from 64 vertices share the reads of edges, and give the eccentricities of these.

.. [1] F. W. Takes, W. A. Kosters, "Computing the Eccentricity Distribution of Large Graphs", Algorithms
   6(1), 2013.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.operators.forests.by_component import ByComponent
from dask_graphflow.operators.priorities import places_of
from dask_graphflow.operators.search.multi_search import WORD, farthest_levels
from dask_graphflow.operators.view import GraphView

from .bfs.breadth_first import breadth_first, read_search

UNKNOWN = np.iinfo("int32").max
# After so many searches, if one narrows the bounds of few vertices only, and has at most so many levels, 64
# vertices are searched from at once, which takes as long as few searches.
FIRST, SHALLOW = 4, 32


class Bounds(NamedTuple):
    """Bounds of the eccentricity of each owned vertex: arrays of int32, shape (V_p,)."""

    lower: Any
    upper: Any


def bound_eccentricities(
    g: GraphView, searches: int | None, *, only_largest: bool = False
) -> Bounds:
    """Return bounds after some searches in each component, or equal bounds if `searches` is None.

    All members call it, with an undirected graph. With `only_largest`, the bounds of vertices whose
    eccentricity cannot be the largest one are not narrowed further.
    """
    components, done, open_before = ByComponent(g), 0, g.count
    lower, upper = g.column(0, "int32"), np.where(g.exists, UNKNOWN, 0).astype("int32")
    while done != searches:
        left = _open(g, lower, upper, only_largest=only_largest)
        open_now = g.all_sum(len(left))
        if not open_now:
            break
        bound = UNKNOWN - lower[left] if done % 2 else upper[left]
        # A search from a vertex with many edges narrows the bounds of many vertices.
        keys = bound, g.degrees[left], g.size - 1 - g.numbers[left]
        found = read_search(breadth_first(g, components.first(left, keys)))
        at = np.flatnonzero(found.reached)
        distance = found.distances[at]
        eccentricity = components.largest(at, distance)  # of the source in the same component
        lower[at] = np.maximum(lower[at], np.maximum(distance, eccentricity - distance))
        upper[at] = np.minimum(upper[at], eccentricity + distance)
        done += 1
        few = done > FIRST and open_before - open_now < WORD // 2
        if searches is None and few and g.largest(distance) <= SHALLOW:
            _measure(g, _open(g, lower, upper, only_largest=only_largest), lower, upper)
        open_before = open_now
    return Bounds(lower, upper)


def _open(g: GraphView, lower: Any, upper: Any, *, only_largest: bool) -> Any:
    """Return the positions of the vertices whose bounds have to be narrowed. All members call it."""
    least = int(g.largest(lower)) if only_largest else 0
    return np.flatnonzero(upper > np.maximum(lower, least))


def _measure(g: GraphView, left: Any, lower: Any, upper: Any) -> None:
    """Set both bounds of 64 vertices to their eccentricity: the first of `left` over all members."""
    places, numbers = places_of(g, left)
    places[places >= WORD] = -1
    farthest = farthest_levels(g, places, min(len(numbers), WORD))
    chosen = np.flatnonzero(places >= 0)
    lower[chosen] = upper[chosen] = farthest[places[chosen]]
