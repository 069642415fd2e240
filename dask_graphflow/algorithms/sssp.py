"""Shortest paths: the smallest sum of weights from the nearest source, and a predecessor.

The result has a row for every vertex that was reached, with its distance and its predecessor. The distance
is the smallest sum of weights along a path from a source. The predecessor is the neighbor with the smallest
id among those that a shortest path can come from, and null for a source. The predecessors form a forest of
shortest paths.

The algorithm is delta-stepping [1]_. Vertices wait in buckets by distance, and each bucket covers a range
of width delta. All vertices of the lowest bucket relax their edges at once, some of them more than once,
until the bucket is empty. A thread continues by itself while the vertices that it found are in the same
bucket (bucket fusion [2]_). Delta is the mean weight divided by the mean degree, and sixteen times that in
a sparse graph such as a road network, so that each bucket has enough work for a superstep.

A distance is summed along its path, starting at the source, so it does not depend on which path was found
first. If edges have a weight of 0, the predecessor is the smallest among the vertices with the fewest such
edges behind them. This keeps predecessors from forming a cycle.

.. [1] U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", Journal of
   Algorithms 49 (1), 2003.
.. [2] Y. Zhang, A. Brahmakshatriya, X. Chen, L. Dhulipala, S. Kamil, S. Amarasinghe, J. Shun, "Optimizing
   Ordered Graph Algorithms with GraphIt", CGO 2020.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphflow.graph.shards import Labelled, Shards
from dask_graphflow.kernels import kernels_of
from dask_graphflow.operators.advance import superstep

from .algorithm import Answer, OrNull, View, algorithm
from .lengths import bucket_width
from .options import Number, VertexIds
from .sssp_many import paths_many

__all__ = ["sssp"]


@algorithm(
    columns={"distance": "float64", "predecessor": "id or null"},
    checks={"sources": VertexIds(), "cutoff": Number(low=0, optional=True)},
    weights="required",
)
def sssp(g: View, sources: Any, *, cutoff: float | None = None) -> Answer:
    """Return the weighted distance from the nearest source to each vertex, by delta-stepping.

    Parameters
    ----------
    sources : id, or list, Series or DataFrame of ids
        Vertices to start from. Distances are measured from the nearest source. If ids have several
        columns, write each id as a tuple; a single tuple with one part per column is one source.
    weight : column name
        Column with the weights of the edges: numbers that are at least 0. It is required. To count edges
        instead, use :func:`dask_graphflow.bfs`.
    cutoff : float, optional
        Maximum distance, in the unit of the weights. By default there is no limit.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex that was reached, sorted by vertex, with the columns ``vertex`` (the dtype of
        the ids), ``distance`` (float64, in the unit of the weights) and ``predecessor`` (the dtype of the
        ids, null for a source).

    Raises
    ------
    WeightError
        There are no weights; raised at the call. Or a weight is negative, null or NaN; raised when the
        result is computed.
    UnknownVertexError
        A source is not in the graph: no edge starts or ends there. Raised when the result is computed.

    References
    ----------
    .. [1] U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", Journal of
       Algorithms 49 (1), 2003.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> roads = pd.DataFrame({"a": [1, 1, 2, 5], "b": [2, 5, 7, 7], "km": [1.0, 4.0, 5.0, 1.0]})
    >>> gf.sssp(roads, source="a", target="b", sources=[1], weight="km").compute()
       vertex  distance  predecessor
    0       1       0.0         <NA>
    1       2       1.0            1
    2       5       4.0            1
    3       7       5.0            5
    """
    distance, predecessor, g.steps = g.call(paths, paths_many, sources, cutoff=cutoff)
    none = predecessor == np.iinfo(predecessor.dtype).max
    columns = {"distance": distance, "predecessor": OrNull(predecessor, none)}
    return Answer(columns, np.isfinite(distance))


def paths(
    shards: Shards, sources: Any, *, cutoff: float | None, threads: int
) -> tuple[Any, Any, list[dict[str, Any]]]:
    """Return distances, predecessors, or their dtype's maximum for those without, and the supersteps."""
    light, labels, names = _light(shards, threads)
    begin = sources if labels is None else labels[sources]
    distance, steps = _relaxed(shards, light, begin, cutoff, threads)
    find = kernels_of("buckets", sources).predecessors
    predecessor = find(light.rows, distance, begin, names=names, threads=threads)
    if labels is not None:
        distance = distance[labels]
        if predecessor is None:
            predecessor = find(shards.whole(threads=threads), distance, sources, threads=threads)
        else:
            predecessor = predecessor[labels]
    return distance, predecessor, steps


def distances(
    shards: Shards, sources: Any, *, cutoff: float | None, threads: int
) -> tuple[Any, list[dict[str, Any]]]:
    """Return each vertex's distance, infinite where it was not reached, and the supersteps."""
    light, labels, _ = _light(shards, threads)
    begin = sources if labels is None else labels[sources]
    distance, steps = _relaxed(shards, light, begin, cutoff, threads)
    return distance if labels is None else distance[labels], steps


def _light(shards: Shards, threads: int) -> Labelled:
    """Return the rows with light edges first, by labels where that pays."""
    kernels = kernels_of("buckets", shards.out(threads)[0].ends)

    def make() -> Labelled:
        delta = _delta(shards, threads)
        if not kernels.HUBS_FIRST:
            rows = Labelled(shards.whole(threads=threads), None, None)
        else:
            rows = shards.labelled("out", threads)
        return rows._replace(rows=kernels.light_first(rows.rows, delta))

    found: Labelled = shards.kept("light first", make)
    return found


def _relaxed(
    shards: Shards, light: Any, sources: Any, cutoff: float | None, threads: int
) -> tuple[Any, list[dict[str, Any]]]:
    """Return distances by the numbers that rows and sources have, and the supersteps."""
    kernels = kernels_of("buckets", sources)
    distance = np.full_like(sources, np.inf, "float64", shape=shards.size)
    distance[sources] = 0
    buckets = kernels.Buckets(distance, sources, _delta(shards, threads), threads=threads)
    steps: list[dict[str, Any]] = []
    before = 0
    while len(frontier := buckets.take()):
        began = time.perf_counter()
        kernels.relax(light, buckets, frontier, cutoff=np.inf if cutoff is None else cutoff)
        edges = buckets.counts["edges"]
        seconds = time.perf_counter() - began
        steps.append(superstep("push", len(frontier), edges - before, seconds))
        before = edges
    return distance, steps


def _delta(shards: Shards, threads: int) -> float:
    """Return the width of a bucket, or raise where weights are negative or no numbers."""
    rows = shards.whole(threads=threads)
    kernels = kernels_of("buckets", rows.ends)
    wrong, mean = shards.kept("weighed", lambda: kernels.weigh(rows.weights, threads=threads))
    return bucket_width(kernels, wrong, mean, len(rows.ends), int(shards.occurs().sum()))
