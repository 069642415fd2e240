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

import math
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from dask_graphflow.algorithms.by_source import SearchResult, SourceRows
from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Number
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.operators.buckets import Buckets, light_first, new_buckets
from dask_graphflow.operators.view import GraphView


@algorithm(
    SearchResult.declare("float64"),
    weights="required",
    cost=Cost(
        "paths", Cost.levels(), passes=1, step=Cost.FUSED, sparse=3, rows=1, copies=1, scratch=44,
        by_source=Cost(
            "paths", Cost.levels(), passes=1, step=Cost.FUSED, sparse=3, sources=1, rows=1, copies=1,
            scratch=44, listed=Cost.rows_by_source,
        ),
    ),
)  # fmt: skip
def sssp(
    g: GraphView,
    sources: Annotated[Any, VertexIds()],
    *,
    targets: Annotated[Any | None, VertexIds()] = None,
    cutoff: Annotated[float | None, Number(low=0)] = None,
    by_source: bool = False,
    previous: Annotated[Any | None, SearchResult.earlier("float64")] = None,
) -> Answer:
    """Return the weighted distance from the nearest source to each vertex, by delta-stepping.

    Parameters
    ----------
    sources : id, or list, Series or DataFrame of ids
        Vertices to start from. Distances are measured from the nearest source.
    targets : id, or list, Series or DataFrame of ids, optional
        Vertices to find. The search stops once the distances of all of them are final, and the result has
        only their rows. A target that cannot be reached has no row. By default, the result has every
        vertex that was reached.
    weight : column name
        Column with the weights of the edges: numbers that are at least 0. It is required. To count edges
        instead, use :func:`dask_graphflow.bfs`.
    cutoff : float, optional
        Maximum distance, in the unit of the weights. By default there is no limit.
    by_source : bool
        Whether to search from each source by itself, instead of from all of them at once. False by
        default. The targets and the cutoff then apply to each source. The result can be large: it has up
        to one row per source and vertex, and a row takes about 64 bytes while the result is made.
    previous : DataFrame, optional
        The result of the same call on the graph from which :meth:`~dask_graphflow.Graph.update` made this
        one, in memory, lazy, or read from Parquet. It only changes the time. If few paths change, they
        are found again from it, which reads few edges. Otherwise everything is computed from scratch: if a
        repair would read more than 1/8 of the edges, if more than about one edge per 128 vertices of a
        graph with few edges per vertex, such as roads, was changed, with `targets` or `by_source`, and on
        several shards, on disk or on GPUs.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex that was reached, or per target that was reached, sorted by vertex, with the
        columns ``vertex`` (the dtype of the ids), ``distance`` (float64, in the unit of the weights) and
        ``predecessor`` (the dtype of the ids, null for a source). With `by_source`, each source has such
        rows, sorted by source, then by vertex, and the first column is ``source`` (the dtype of the ids).

    Raises
    ------
    WeightError
        There are no weights; raised at the call. Or a weight is negative, null or NaN; raised when the
        result is computed.

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
    if repaired := SearchResult.answer_repaired(g, previous, sources, cutoff):
        return repaired
    light, cutoff = light_first(g), math.inf if cutoff is None else cutoff

    def search(own: Any) -> SearchResult:
        buckets = new_buckets(g, light, own, cutoff)
        delta_stepping(g, buckets, targets)
        predecessor = buckets.predecessors()
        distance, never = buckets.distances(), np.iinfo(predecessor.dtype).max
        return SearchResult(np.isfinite(distance), distance, predecessor, predecessor == never)

    def search_each(places: Any, count: int) -> Iterator[SourceRows]:
        for place in range(count):
            yield search(np.flatnonzero(places == place)).rows(g, targets)

    if by_source:
        return SearchResult.answer_by_source(g, sources, search_each)
    return search(sources).answer(targets)


def delta_stepping(g: GraphView, buckets: Buckets, targets: Any | None = None) -> None:
    """Relax the edges of one bucket after another, until no vertex waits. All members call it at once.

    Relaxing an edge can put its target into the same bucket again, or into a later one. If there are
    targets, stop once their distances are final. A distance is final if every vertex that still waits is
    farther away.
    """
    while buckets.lowest < math.inf:
        with g.superstep("push", 0, 0) as step:
            relaxed = buckets.exchange(buckets.relax_lowest(to_end=targets is None))
            step["frontier"], step["edges"] = relaxed
            if targets is not None:
                buckets.stop_at(targets)
