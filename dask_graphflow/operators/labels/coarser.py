"""Contract: make each group of vertices a vertex of a coarser graph."""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.channel import in_process
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.build import of_all_numbers, of_numbers
from dask_graphflow.kernels import groups as groups_kernels
from dask_graphflow.kernels import kernels_for, move_to
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.operators.access import combine, gather
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import own_sums

from .groups import Groups

# Each of several members has a graph with fewer edges as a whole, and sends nothing while vertices move.
# Devices that share memory keep it there. They read edges faster, so a graph with this factor as many edges
# is small.
SMALL_GRAPH, ON_DEVICE = 1 << 20, 8


class Coarser(NamedTuple):
    """A graph whose vertices are groups of vertices of a finer graph."""

    g: GraphView
    # Array of int64. The sums of the weights of the edges between two groups. Edges inside a group are left
    # out.
    weights: Any
    # See :class:`.Groups`.
    mass: Any
    skew: Any
    room: dict[Any, Any]
    # Array of index. The group of each owned vertex of the finer graph, under 0 if it has no mass.
    holder: Any


def contract(g: GraphView, weights: Any, groups: Groups) -> Coarser:
    """Return the graph whose vertices are groups of an undirected graph. All members call it.

    Without weights, each edge has the weight 1.
    """
    holder, mass = groups_kernels.of(groups.labels).numbered(groups.labels, groups.load)
    view, weights = _contract(g, weights, holder, len(mass))
    shard, skew = view.member.shard, None
    own = slice(shard.low, shard.high)
    if groups.skew_load is not None:
        skew = move_to(weights, groups.skew_load[groups.load > 0][own])
    room = groups.room if shard.on_device == g.member.shard.on_device else {}
    return Coarser(view, weights, move_to(weights, mass[own]), skew, room, holder[: g.owned])


def count_labels(g: GraphView, labels: Any) -> Any:
    """Return the number of vertices with each label, over all members: array of int64, shape (V,).

    Empty places of a hybrid graph have labels below 0.
    """
    labels = labels if g.member.shard.placed is None else labels[labels >= 0]
    return own_sums(gather(g, labels), None, g.member.shard.count)


def find_smallest(g: GraphView, finer: GraphView, holder: Any, values: Any) -> Any:
    """Return the smallest value of each owned vertex.

    All members call it. `holder` says which vertex has each value of the vertices of `finer`, if any.
    """
    last = values.dtype.type(np.iinfo(values.dtype).max)
    smallest = g.column(last, values.dtype)
    # No array of the values that count, because its size would have to be read from a device.
    values = np.where(holder < 0, last, values)
    combine(g, smallest, np.maximum(holder, 0), values, "min")
    if g.member.exchange.size < finer.member.exchange.size:  # every member has the coarser graph
        smallest = reduce(np.minimum, finer.member.exchange.all_gather(smallest))
    return smallest


def _contract(g: GraphView, weights: Any, holder: Any, count: int) -> tuple[GraphView, Any]:
    """Return the graph whose vertices are groups of vertices, and the weights of its edges.

    If `g` has several members, each of them has a small graph as a whole, because messages would take
    longer than all of its steps. It is in host memory, unless the members share the memory of their
    devices. Parts of a hybrid graph are in host memory, too. Edges of weight 0 are left out.
    """
    shard, rows = g.member.shard, g.member.local("out").rows._replace(weights=weights)
    rows = groups_kernels.of(holder).sums_between(rows, holder, count, threads=g.member.threads)
    exchange, shares = g.member.exchange, g.member.shared_memory() is not None
    most = 2 * SMALL_GRAPH * (ON_DEVICE if shares else 1)
    small = not g.member.alone and g.all_sum(len(rows.ends)) < most
    if shard.placed is not None or (small and not shares):
        offsets, ends, sums = (kernels_for(array).to_host(array) for array in rows[:3])
        rows, exchange = Rows(offsets, ends, sums, 0), exchange.host
    if small:
        coarser = of_all_numbers(exchange, rows, g.member.threads)
        (channel,) = in_process(1)
        channel.resources = exchange.resources
        exchange = Exchange(channel, device=coarser.on_device)
    else:
        coarser = of_numbers(exchange, rows, g.member.threads)
    return g.view_of(coarser, exchange), coarser.out.weights
