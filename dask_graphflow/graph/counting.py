"""Counting the vertices and edges of a graph."""

from __future__ import annotations

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.kernels import count_true, kernels_of

from .blocks import blocks
from .numbering import vertex_count
from .shard import Shard


def num_vertices(channel: Channel, shard: Shard, rank: int) -> int:
    """Return the number of vertices of all shards: the loop of a gang (see :func:`.gang.run`)."""
    return vertex_count(shard, Exchange(channel, device=shard.on_device))


def num_edges(channel: Channel, shard: Shard, rank: int) -> int:
    """Return the number of edges of all shards: the loop of a gang (see :func:`.gang.run`).

    An undirected edge counts once, although the shards of both its ends store it.
    """
    rows, loops = shard.out, 0
    if not shard.directed:
        kernels, threads = kernels_of("rows", rows.ends), channel.resources.threads
        for _, block in blocks(rows):
            owners = kernels.owners(block, rows.ends.dtype, threads=threads)
            loops += count_true(owners == block.ends)
    entries, loops = Exchange(channel).all_reduce(sums=(len(rows.ends), loops)).sums
    return entries if shard.directed else (entries + loops) // 2
