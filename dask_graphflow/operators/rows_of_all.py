"""The rows of all vertices, which each member copies into host memory.

A thread that follows one edge after another can reach every vertex.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.graph import build
from dask_graphflow.graph.offsets import offsets_of
from dask_graphflow.kernels import kernels_for
from dask_graphflow.kernels.csr import Rows

from .access import check_host_room, entries_of
from .view import GraphView

ADVICE = (
    "Every worker needs one, because a path can lead anywhere. Build the graph with shards=1, or give each "
    "worker more memory"
)


def rows_of_all(g: GraphView, side: str) -> Rows:
    """Return the rows of the vertices of all members by number, in host memory. All members call it."""
    m, shard = g.member, g.member.shard.host
    own = shard.out if m.side(side) == "out" else build.into(shard, m.exchange)
    to_host = kernels_for(own.ends).to_host
    weights = to_host(own.weights) if g.weighted else None
    if m.alone:
        return Rows(to_host(own.offsets), to_host(own.ends), weights, 0)
    each = own.ends.itemsize + (own.weights.itemsize if g.weighted else 0)
    check_host_room(g, 2 * each * g.edges + 16 * g.size, "a copy of all edges", ADVICE)
    gather = m.exchange.all_gather
    degrees = np.concatenate(gather(np.diff(to_host(own.offsets))))
    ends = np.concatenate(gather(to_host(own.ends).astype(g.index, copy=False)))
    weights = None if weights is None else np.concatenate(gather(weights))
    rows = Rows(offsets_of(degrees), ends, weights, 0)
    if m.shard.placed is None:
        return rows
    offsets, _, entries = entries_of(rows, m.shard.placed.places, m.threads)
    ends = m.shard.numbers_at(ends, m.threads)[entries]
    return Rows(offsets, ends, None if weights is None else weights[entries], 0)
