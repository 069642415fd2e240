"""Counting over the members of a gang: a graph's vertices and edges, and each vertex's edges."""

from __future__ import annotations

import numpy as np

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.build import into
from dask_graphflow.graph.numbering import occurs
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.shards import self_loops

from .algorithm import Answer

__all__ = ["degrees_many", "num_edges_many", "num_vertices_many"]


def num_vertices_many(channel: Channel, shard: Shard, rank: int) -> int:
    """Return the vertices of all shards that have an edge."""
    exchange = Exchange(channel, device=shard.on_device)
    return exchange.all_reduce(sums=(int(occurs(shard, exchange).sum()),)).sums[0]


def num_edges_many(channel: Channel, shard: Shard, rank: int) -> int:
    """Return the edges of all shards; without direction, those that two shards have count once."""
    entries, loops = len(shard.out.ends), 0
    if not shard.directed:
        loops = self_loops(shard.out)
    entries, loops = Exchange(channel).all_reduce(sums=(entries, loops)).sums
    return entries if shard.directed else (entries + loops) // 2


def degrees_many(shard: Shard, exchange: Exchange, threads: int) -> Answer:
    """Count the edges of each of the shard's vertices."""
    shard = shard.host
    out = shard.degrees
    if not shard.directed:
        return Answer({"degree": out})
    return Answer({"in_degree": np.diff(into(shard, exchange).offsets), "out_degree": out})
