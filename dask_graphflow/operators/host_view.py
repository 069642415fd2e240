"""The same graph in host memory, for steps that devices do not have."""

from __future__ import annotations

from dask_graphflow.exceptions import UsageError
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import kernels_for
from dask_graphflow.kernels.csr import Rows

from .view import GraphView


def in_host_memory(g: GraphView, what: str) -> GraphView:
    """Return the view of an undirected graph in host memory, whose vertices have the same numbers.

    All members call it. It is `g` itself if no member's rows are on a device.

    Raises
    ------
    UsageError
        Only some of the members have their rows on a device, so vertices are not in the order of their
        numbers. The error says that `what` needs them in host memory.
    """
    shard = g.member.shard
    if not g.all_sum(shard.on_device):
        return g
    if shard.placed is not None:
        raise UsageError(
            f"{what} needs the edges in host memory, and this graph is divided between workers with and "
            "without a GPU; build the graph without hybrid="
        )
    if shard.host is not shard:
        return g.view_of(shard.host, g.member.exchange.host)
    to_host, rows = kernels_for(shard.out.ends).to_host, shard.out
    weights = None if rows.weights is None else to_host(rows.weights)
    rows = Rows(to_host(rows.offsets), to_host(rows.ends), weights, rows.first)
    return g.view_of(number_graph(g, rows, to_host(g.exists)), g.member.exchange.host)


def number_graph(g: GraphView, rows: Rows, listed: object) -> Shard:
    """Return a shard of an undirected graph whose vertices are only numbers, with the ranges of `g`."""
    shard = g.member.shard
    return Shard(rows.ends[:0], shard.bounds, shard.rank, rows, directed=False, listed=listed)
