"""Maximum flows and minimum cuts: every member has the whole network, and finds the same flow on the host.

Capacities are whole multiples of a unit, so sums of flows are exact. The network is made of rows that have
each edge at both ends, and it is cached with the graph.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.exceptions import OptionError
from dask_graphflow.kernels import flow as flow_kernels
from dask_graphflow.kernels import kernels_for, move_to
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.flow import FoundFlow, Network

from .access import check_host_room, entries_of, gather_on_host, own_part
from .rows_of_all import rows_of_all
from .view import GraphView
from .whole_weights import exact_weights

ENTRY = 40  # bytes per entry of a network, with its flow
ADVICE = (
    "Every worker needs one, because flow can take any way. Leave out edges that cannot have flow, or give "
    "each worker more memory"
)


class Capacities(NamedTuple):
    """A network, and the unit of its capacities."""

    network: Network
    unit: float | int  # an integer if the weights are integers, or if there are none


def maximum_flow(g: GraphView, sources: Any, sinks: Any) -> tuple[Any, Any, Any]:
    """Return the edges with flow that this member lists: vertex numbers of both ends, and the flow.

    All members call it, with their own vertices among the sources and sinks. The edges are sorted by their
    ends over all members.
    """
    (network, unit), found = _find(g, sources, sinks, cut=False)
    rows = Rows(network.offsets, network.ends, None, 0)
    _, row, entries = entries_of(rows, found.used, g.member.threads)
    flow = found.flow[entries]
    ahead = np.flatnonzero(flow > 0)
    ahead = ahead[own_part(g, len(ahead))]
    columns = (
        found.used[row[ahead]].astype(g.index), network.ends[entries[ahead]].astype(g.index),
        flow[ahead] * unit,
    )  # fmt: skip
    source, target, amount = (move_to(g.numbers, column) for column in columns)
    return source, target, amount


def minimum_cut(g: GraphView, sources: Any, sinks: Any) -> tuple[Any, Any]:
    """Return which owned vertices are on the source side, and the capacity of their edges in the cut.

    All members call it, with their own vertices among the sources and sinks.
    """
    (network, unit), found = _find(g, sources, sinks, cut=True)
    inside = np.zeros(g.size, "bool")
    inside[found.side] = True
    _, row, entries = entries_of(
        Rows(network.offsets, network.ends, None, 0), found.side, g.member.threads
    )
    leaving = ~inside[network.ends[entries]]
    capacity = np.zeros(g.size, "int64")
    np.add.at(capacity, found.side[row[leaving]], network.capacity[entries[leaving]])
    own = kernels_for(g.numbers).to_host(g.numbers)
    return move_to(g.numbers, inside[own]), move_to(g.numbers, capacity[own] * unit)


def _find(g: GraphView, sources: Any, sinks: Any, *, cut: bool) -> tuple[Capacities, FoundFlow]:
    ends = [np.sort(gather_on_host(g, g.numbers[vertices])) for vertices in (sources, sinks)]
    both = np.intersect1d(ends[0], ends[1])
    if len(both):
        raise OptionError(
            f"vertex {g.show(move_to(g.numbers, both[:1]))} is among the sources and among the sinks; give "
            "sources and sinks that have no vertex in common"
        )
    made = _capacities(g)
    kernels = flow_kernels.of(made.network.ends)
    with g.superstep("push", sum(map(len, ends)), len(made.network.ends)):
        return made, kernels.maximum_flow(made.network, *ends, cut=cut)


def _capacities(g: GraphView) -> Capacities:
    """Return the network of a graph. It is made once, and cached with the graph. All members call it."""

    def make() -> Capacities:
        rows = rows_of_all(g, "out")
        needed = ENTRY * len(rows.ends) * (2 if g.directed else 1)
        check_host_room(g, needed, "the network of a flow", ADVICE)
        capacity, unit = exact_weights(rows, "capacity", directed=g.directed)
        kernels, threads = rows_kernels.of(rows.ends), g.member.threads
        sources, targets = [kernels.owners(rows, rows.ends.dtype, threads=threads)], [rows.ends]
        capacities = [capacity]
        if g.directed:
            sources, targets = sources + targets, targets + sources
            capacities.append(np.zeros_like(capacity))
        merged = kernels.rows(
            sources, targets, capacities, count=g.size, multi="sum", threads=threads
        )
        return Capacities(flow_kernels.of(rows.ends).network(merged), unit)

    made: Capacities = g.keep("capacities", make)
    return made
