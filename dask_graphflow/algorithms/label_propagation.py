"""Label propagation: communities of vertices that adopt the most frequent label of their neighbors.

The result has a row for every vertex with its label, which is the id of a vertex.

Every vertex starts with its own id as its label. In each iteration, all vertices at once adopt the label
that most of their neighbors had, and the smallest one if there is a tie [1]_. Simultaneous updates and ties
by order follow Graphalytics [2]_ and make the result deterministic. Labels can oscillate where updates of
one vertex at a time would converge, so the number of iterations is limited.

.. [1] U. N. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community structures in
   large-scale networks", Physical Review E 76, 2007.
.. [2] A. Iosup et al., "LDBC Graphalytics: A Benchmark for Large-Scale Graph Analysis on Parallel and
   Distributed Platforms", VLDB 2016.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphflow.algorithms._old_advance import superstep
from dask_graphflow.api.graph import Graph
from dask_graphflow.api.inputs import check_count
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.shards import Shards
from dask_graphflow.kernels import index_dtype, kernels_of

from .answers import Answer
from .label_propagation_many import communities_many

__all__ = ["label_propagation", "propagate"]


def label_propagation(
    edges: Any,
    *,
    source: Any,
    target: Any,
    directed: bool = False,
    max_iter: int = 10,
    dropna: bool = False,
    trace: bool = False,
    progress: Any = False,
) -> Any:
    """Return the community of each vertex, by label propagation.

    Every vertex starts with its own id as its label. In each iteration, all vertices at once adopt the most
    frequent label of their neighbors, and the smallest one if there is a tie.

    Parameters
    ----------
    edges, source, target, directed, dropna
        The graph; see :class:`~dask_graphflow.Graph`. Undirected by default. With ``directed=True``, a
        neighbor counts once for each edge to it and once for each edge from it.
    max_iter : int
        Maximum number of iterations; 10 by default. The algorithm stops earlier if no label changes.
    trace : bool
        Also return a frame with one row per iteration. False by default.
    progress : bool or callable
        Report each iteration when it ends; see :func:`dask_graphflow.bfs`.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` and ``label`` (both the dtype of
        the ids). The result is lazy, and bit-identical for every partitioning and number of threads. The
        index restarts at 0 in each partition.
    dask.dataframe.DataFrame
        Only with `trace`: one row per iteration; see :func:`dask_graphflow.bfs`.

    Raises
    ------
    OptionError, UnknownColumnError, VertexTypeError, EdgeListError
        An argument is invalid; raised at the call.

    References
    ----------
    .. [1] U. N. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community structures
       in large-scale networks", Physical Review E 76, 2007.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3, 4, 4, 5], "b": [2, 3, 3, 4, 5, 6, 6]})
    >>> gf.label_propagation(ties, source="a", target="b").compute().label.tolist()
    [1, 1, 1, 3, 3, 3]
    """
    graph = Graph(edges, source=source, target=target, directed=directed, dropna=dropna)
    return propagate(graph, max_iter=max_iter, trace=trace, progress=progress)


def propagate(graph: Graph, *, max_iter: int, trace: bool, progress: Any) -> Any:
    """Find communities of a graph: see :func:`label_propagation`."""
    check_count("max_iter", max_iter)
    name, dtypes = "label-propagation", {"label": "id"}
    how: dict[str, Any] = {"trace": trace, "progress": progress}
    return graph._ask(name, _propagate_many, dtypes, max_iter, **how)


def _propagate(shards: Shards, threads: int, max_iter: int) -> Answer:
    found, steps = communities(shards, max_iter=max_iter, threads=threads)
    return Answer({"label": found}, steps=steps)


def _propagate_many(shard: Shard, exchange: Exchange, threads: int, max_iter: int) -> Answer:
    found, steps = communities_many(shard, exchange, max_iter=max_iter, threads=threads)
    return Answer({"label": found}, steps=steps)


def communities(shards: Shards, *, max_iter: int, threads: int) -> tuple[Any, list[dict[str, Any]]]:
    """Return the label of each vertex, which is a vertex, and the iterations."""
    out = shards.out(threads)
    held = np.arange(shards.size, dtype=index_dtype(shards.size), like=out[0].ends)
    into = shards.into(threads) if shards.directed else [None] * len(out)
    edges = sum(len(rows.ends) for rows in (*out, *into) if rows is not None)
    following = np.empty_like(held)
    most_frequent = kernels_of("labels", held).most_frequent
    steps: list[dict[str, Any]] = []
    changed = 1
    while changed and len(steps) < max_iter:
        began = time.perf_counter()
        changed = sum(
            most_frequent(*rows, held, following, threads=threads)
            for rows in zip(out, into, strict=True)
        )
        held, following = following, held
        steps.append(superstep("pull", shards.size, edges, time.perf_counter() - began))
    return held, steps
