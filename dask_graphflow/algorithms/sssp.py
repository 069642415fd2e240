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

from dask_graphflow.algorithms._old_advance import superstep
from dask_graphflow.api.graph import Graph
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import OptionError, WeightError
from dask_graphflow.graph import numbering
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.shards import Labelled, Shards
from dask_graphflow.graph.vertex_ids import named, numbers_of
from dask_graphflow.kernels import kernels_of

from .answers import Answer, OrNull
from .lengths import bucket_width
from .sssp_many import paths_many

__all__ = ["shortest_paths", "sssp"]


def sssp(
    edges: Any,
    *,
    source: Any,
    target: Any,
    sources: Any,
    weight: Any,
    directed: bool = True,
    dropna: bool = False,
    cutoff: float | None = None,
    trace: bool = False,
    progress: Any = False,
) -> Any:
    """Return the weighted distance from the nearest source to each vertex, by delta-stepping.

    Parameters
    ----------
    edges, source, target, directed, dropna
        The graph; see :class:`~dask_graphflow.Graph`.
    sources : id, or list, Series or DataFrame of ids
        Vertices to start from. Distances are measured from the nearest source. If ids have several
        columns, write each id as a tuple; a single tuple with one part per column is one source.
    weight : column name
        Column with the weights of the edges: numbers that are at least 0. It is required. To count edges
        instead, use :func:`dask_graphflow.bfs`.
    cutoff : float, optional
        Maximum distance, in the unit of the weights. By default there is no limit.
    trace : bool
        Also return a frame with one row per superstep. False by default.
    progress : bool or callable
        Report each superstep when it ends; see :func:`dask_graphflow.bfs`.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex that was reached, sorted by vertex, with the columns ``vertex`` (the dtype of
        the ids), ``distance`` (float64, in the unit of the weights) and ``predecessor`` (the dtype of the
        ids, null for a source). The result is lazy, and bit-identical for every partitioning and number
        of threads. The index restarts at 0 in each partition.
    dask.dataframe.DataFrame
        Only with `trace`: one row per superstep; see :func:`dask_graphflow.bfs`.

    Raises
    ------
    WeightError
        `weight` is None or not a column of numbers; raised at the call. Or a weight is negative, null or
        NaN; raised when the result is computed.
    UnknownVertexError
        A source is not in the graph: no edge starts or ends there. Raised when the result is computed.
    OptionError, UnknownColumnError, VertexTypeError, EdgeListError
        An argument is invalid; raised at the call.

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
    graph = Graph(
        edges, source=source, target=target, weight=weight, directed=directed, dropna=dropna
    )
    return shortest_paths(graph, sources, cutoff=cutoff, trace=trace, progress=progress)


def shortest_paths(
    graph: Graph,
    sources: Any,
    *,
    cutoff: float | None,
    trace: bool,
    progress: Any,
) -> Any:
    """Find the shortest paths of a graph: see :func:`sssp`."""
    if not graph.weighted:
        raise WeightError(
            "shortest paths need weights; name their column with weight=, or use bfs, which counts edges"
        )
    if cutoff is not None and not (isinstance(cutoff, int | float | np.number) and cutoff >= 0):
        raise OptionError(f"cutoff={cutoff!r}; give a distance, 0 or more, or None")
    dtypes = {"distance": "float64", "predecessor": "id or null"}
    given = named(sources, graph._ids), cutoff
    shown: dict[str, Any] = {"trace": trace, "progress": progress}
    return graph._ask("sssp", _search_many, dtypes, *given, **shown)


def _search(shards: Shards, threads: int, ids: Any, cutoff: float | None) -> Answer:
    sources = numbers_of(shards, ids)
    distance, predecessor, steps = paths(shards, sources, cutoff=cutoff, threads=threads)
    none = predecessor == np.iinfo(predecessor.dtype).max
    columns = {"distance": distance, "predecessor": OrNull(predecessor, none)}
    return Answer(columns, np.isfinite(distance), steps)


def _search_many(
    shard: Shard, exchange: Exchange, threads: int, ids: Any, cutoff: float | None
) -> Answer:
    own = numbering.numbers_of(shard, exchange, ids)
    distance, predecessor, steps = paths_many(shard, exchange, own, cutoff=cutoff, threads=threads)
    none = predecessor == np.iinfo(predecessor.dtype).max
    columns = {"distance": distance, "predecessor": OrNull(predecessor, none)}
    return Answer(columns, np.isfinite(distance), steps)


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
