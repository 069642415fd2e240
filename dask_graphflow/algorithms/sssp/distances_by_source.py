"""Weighted distances from one source after another.

If a single member has the graph on the host, each thread takes a whole source (Dijkstra). Otherwise, or if
there are fewer sources than threads, all threads and members search from a source together. A distance is
summed along its path, starting at the source, so both give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dask_graphflow.operators.buckets import bucket_width, light_first, new_buckets
from dask_graphflow.operators.search import whole_searches
from dask_graphflow.operators.view import GraphView

from .sssp import delta_stepping


def distances_from_each(g: GraphView, places: Any, count: int) -> Iterator[Any]:
    """Yield the weighted distances from each of some sources, one source after another.

    All members call it at once. `places` has the index of each source among all sources, and -1 for other
    vertices. Distances are infinite for vertices that the source does not reach. The array must not be
    changed. It raises :class:`.WeightError` if a weight of any member is negative or NaN.
    """
    if whole_searches.suit_sources(g, count):
        bucket_width(g)  # raises if a weight is not allowed
        yield from whole_searches.find_distances(g, places)
        return
    light = light_first(g)
    for index in range(count):
        buckets = new_buckets(g, light, np.flatnonzero(places == index))
        delta_stepping(g, buckets)
        yield buckets.distances()
