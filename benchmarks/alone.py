"""Run an algorithm alone, on a built graph in one process, without making the result frames."""

from __future__ import annotations

import dask

import dask_graphflow as gf
from dask_graphflow.comm.channel import in_process
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.operators.view import GraphView

__all__ = ["view"]


def view(graph: gf.Graph, threads: int = 1) -> GraphView:
    """Return the view of a persisted graph with one shard, as algorithms expect it."""
    (shard,) = dask.compute(*graph._shards.built)
    (channel,) = in_process(1)
    return GraphView(shard, Exchange(channel, device=shard.on_device), threads)
