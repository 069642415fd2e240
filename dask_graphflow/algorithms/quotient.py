"""The quotient of a graph by its communities: the largest ones, and the edges between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dask_graphflow.declarations.answer import Answer
from dask_graphflow.operators.access import own_part
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import count_edges_between, own_sums

from .communities.which_community import Communities

COMMUNITIES = Communities()
NUMBERS = ("first", "second", "size", "edges", "count")


def quotient(g: GraphView, frames: Mapping[str, Any], limit: int) -> Answer:
    """Return the number of ends of edges for each pair of the `limit` largest communities.

    A pair is the places of two communities, sorted by size; at equal size, smaller communities come first.
    The last place stands for all others.
    """
    community, names = COMMUNITIES.resolve(g, frames["communities"])
    size = g.elementwise_sum(own_sums(community[community >= 0], None, len(names)))
    largest = np.argsort(-size, kind="stable")[:limit]
    k = len(largest)
    place = np.full_like(size, k, shape=len(names) + 1)
    place[largest] = np.arange(k, like=place)
    own = place[community]
    ends = count_edges_between(g, own, k + 1)
    ends = ends + ends.T if g.directed else ends
    leaders = _leaders(g, own, k)
    at = np.arange(k * (k + 1), like=place)[own_part(g, k * (k + 1))]
    first, second = at // (k + 1), at % (k + 1)
    return Answer(
        {
            "name": leaders[first],
            "first": first,
            "second": second,
            "size": size[largest][first],
            "edges": ends[first, second],
            "count": np.full_like(first, len(names)),
        }
    )


def _leaders(g: GraphView, places: Any, count: int) -> Any:
    """Return the number of the vertex with the most edges of each of the first places.

    Ties go to the smaller number.
    """
    degrees = g.degrees + g.T.degrees if g.directed else g.degrees
    keys = degrees * g.size + (g.size - 1 - g.numbers)
    best = np.full_like(keys, -1, shape=count)
    for place in range(count):
        of_place = keys[places == place]
        if len(of_place):
            best[place] = of_place.max()
    return g.size - 1 - g.elementwise_max(best) % g.size
