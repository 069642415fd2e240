"""Contract: make one vertex of all vertices of a label, and one edge of all edges between two labels."""

from __future__ import annotations

from typing import Any

from dask_graphflow.graph.build import Edges, of_numbers
from dask_graphflow.graph.device_shard import on_this_device
from dask_graphflow.kernels import index_dtype, kernels_for, kernels_of

from .view import GraphView

__all__ = ["contract"]


def contract(g: GraphView, labels: Any, weights: Any, numbers: Any) -> tuple[GraphView, Any]:
    """Return the graph of labels, and the weights of its edges. All members call it.

    An edge of the new graph has the sum of the weights of the edges that it is made of. Edges between
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
    array of int64
        Weights of the edges in ``local("out")`` of the new graph.
    """
    shard, local = g.shard, g.local("out")
    rows = local.rows._replace(first=0)
    count = int(numbers.max()) + 1
    owners = kernels_of("rows", rows.ends).owners(rows, rows.ends.dtype, threads=g.threads)
    place = g.column(0, g.index, local.size)
    place[: g.owned] = g.numbers
    if not g.alone:
        place[g.owned :] = shard.slot_numbers("out", g.threads)
    # Each edge is in the rows of both its ends, and a self-loop in one row.
    once = place[owners] <= place[rows.ends]
    if weights is not None:
        once &= weights != 0  # only such edges lead to a label without a number
    new = numbers.astype(index_dtype(count))[labels]
    weight = once[once].astype("int64") if weights is None else weights[once]
    edges = Edges(new[owners[once]], new[rows.ends[once]], weight)
    if shard.placed is not None:
        edges = Edges(*(kernels_for(side).to_host(side) for side in edges))
    made = of_numbers(g.exchange, shard.like, edges, count, g.threads)
    if shard is not shard.host:
        made = on_this_device(made)
    view = g.view_of(made)
    return view, view.local("out").rows.weights
