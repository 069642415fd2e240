"""Contract: merge all vertices with the same label into one, and all edges between two labels into one."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dask_graphflow.graph.build import Edges, of_numbers
from dask_graphflow.kernels import index_dtype, kernels_for, kernels_of

from .view import GraphView

__all__ = ["contract"]

FEW = 1 << 20  # smaller graphs use host memory, where they take less time than a kernel launch


def contract(g: GraphView, labels: Any, weights: Any, numbers: Any) -> tuple[GraphView, Any]:
    """Return the graph of labels, and the weights of its edges. All members call it.

    The weight of an edge of the new graph is the sum of the weights of the merged edges. Edges between
    vertices of the same label become a self-loop. Edges of weight 0 are left out.

    Parameters
    ----------
    g : GraphView
        Undirected.
    labels : array of integers, shape (V_p + mirrors,)
    weights : array of int64, or None
        Weights of the edges in ``g.local("out")``; 1 each by default.
    numbers : array of integers
        Number of the new vertex of each label, ascending; below 0 for labels without a vertex.

    Returns
    -------
    GraphView
        In host memory if the graph is small, or if `g` is a hybrid graph.
    array of int64
        Weights of the edges in ``local("out")`` of the new graph.
    """
    shard, local = g.shard, g.local("out")
    count = int(numbers.max()) + 1
    place = g.column(0, g.index, local.size)
    place[: g.owned] = g.numbers
    if not g.alone:
        place[g.owned :] = shard.slot_numbers("out", g.threads)
    rows = local.rows._replace(first=0, weights=weights)
    new = numbers.astype(index_dtype(count))[labels]
    sums_between = kernels_of("groups", new).sums_between
    edges = Edges(*sums_between(rows, new, place, threads=g.threads))
    exchange, like = g.exchange, shard.like
    if shard.placed is not None or g.all_reduce(sums=(len(edges.source),)).sums[0] < FEW:
        edges = Edges(*(kernels_for(side).to_host(side) for side in edges))
        exchange, like = exchange.host, pd.DataFrame()
    view = g.view_of(of_numbers(exchange, like, edges, count, g.threads), exchange)
    return view, view.local("out").rows.weights
