"""Statistics of each shard: vertices, edges, and neighbors in other shards."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.numbering import occurs
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import count_true

DTYPES = {
    "shard": "int64",
    "kind": "str",
    "vertices": "int64",
    "edges": "int64",
    "share": "float64",
    "remote": "int64",
    "beta": "float64",
}


def layout_frame(rows: Sequence[Sequence[Any]]) -> pd.DataFrame:
    """Return rows as a frame."""
    return pd.DataFrame(list(rows), columns=list(DTYPES)).astype(DTYPES)


def layout(channel: Channel, shard: Shard, rank: int) -> pd.DataFrame:
    """Return the statistics of a member's shard: the loop of a gang (see :func:`.gang.run`)."""
    exchange = Exchange(channel, device=shard.on_device)
    local = shard.local("out", channel.resources.threads)
    edges, remote = len(shard.out.ends), len(local.slots)
    # Number of this member's edges that lead to each member.
    there = np.array([edges])
    if exchange.size > 1:
        there = np.array(
            [
                count_true((low <= shard.out.ends) & (shard.out.ends < high))
                for low, high in itertools.pairwise(shard.bounds)
            ]
        )
    received = exchange.all_to_all([there[q : q + 1] for q in range(exchange.size)])
    ends = edges + int(np.sum(received)) if shard.directed else edges
    total = exchange.all_sum(ends)
    has = count_true(occurs(shard, exchange))
    kind = "gpu" if channel.resources.gpu else "cpu"
    share, beta = ends / max(total, 1), remote / max(edges, 1)
    return layout_frame([(rank, kind, has, edges, share, remote, beta)])
