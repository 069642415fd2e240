"""Label propagation over the members of a gang: what :mod:`.label_propagation` returns, bit for bit.

Each member counts for its own vertices the labels that their neighbours have. A label that changes travels
to the mirrors of its vertex, once to each member, however many edges lead there; no other label does.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphflow.algorithms._old_advance import superstep
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.build import into
from dask_graphflow.graph.local_rows import Local, localize
from dask_graphflow.graph.numbering import mirrors
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import index_dtype, kernels_of

__all__ = ["communities_many"]


def communities_many(
    shard: Shard, exchange: Exchange, *, max_iter: int, threads: int
) -> tuple[Any, list[dict[str, Any]]]:
    """Find communities; all members call it.

    Parameters
    ----------
    shard : Shard
    exchange : Exchange
    max_iter : int
        Iterations at most.
    threads : int
        Host threads to use.

    Returns
    -------
    array of int32 or int64, shape (V_p,)
        The labels of the vertices that are owned: numbers among all vertices.
    list of dict
        The iterations; the seconds are this member's.
    """
    local, which = shard.local("out", threads), "out"
    if shard.directed:
        which = "around"
        local = shard.here("local around", _around(shard.host, exchange, threads))
    told = mirrors(shard, exchange, which, threads)
    dtype = index_dtype(shard.size)
    own = shard.numbers.astype(dtype, copy=False)
    labels = np.concatenate([own, shard.slot_numbers(which, threads).astype(dtype, copy=False)])
    most_frequent = kernels_of("labels", labels).most_frequent
    found = np.empty_like(own)
    steps: list[dict[str, Any]] = []
    active = 1
    exchange.take_traffic()  # that of the supersteps alone is told
    while active and len(steps) < max_iter:
        began = time.perf_counter()
        most_frequent(local.rows, None, labels, found, threads=threads)
        changed = np.flatnonzero(found != labels[: local.owned])
        labels[changed] = found[changed]
        sums = len(changed), len(local.rows.ends)
        if len(steps) + 1 < max_iter:
            told.broadcast(labels, changed, sums)
            total = told.receive(lambda at, values: labels.__setitem__(at, values))
        else:
            total = exchange.all_reduce(sums)
        active, edges = total.sums
        steps.append(superstep("pull", shard.count, edges, time.perf_counter() - began))
    return labels[: local.owned], steps


def _around(shard: Shard, exchange: Exchange, threads: int) -> Local:
    """Return rows of what leaves a vertex and what enters it: a neighbour counts once for each edge.

    They are kept where :func:`.numbering.mirrors` looks for the shard's rows of the name "around".
    """
    entering = into(shard, exchange)

    def make() -> Local:
        kernels = kernels_of("rows", shard.out.ends)
        dtype = index_dtype(shard.size)
        sides = shard.out, entering
        both = kernels.rows(
            np.concatenate([kernels.owners(rows, dtype, threads=threads) for rows in sides]),
            np.concatenate([rows.ends for rows in sides]),
            first=shard.low,
            count=shard.owned,
            columns=shard.size,
            threads=threads,
        )
        return localize(both, shard.bounds, shard.rank, threads=threads)

    found: Local = shard.kept("local around", make)
    return found
