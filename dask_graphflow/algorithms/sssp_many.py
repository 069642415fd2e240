"""Shortest paths over the members of a gang: what :mod:`.sssp` returns, bit for bit.

Delta-stepping: members agree on the lowest bucket that any of them has. Each relaxes its own vertices'
edges until its part of that is empty, and a little ahead while its next buckets are small, for a round of
messages takes as long. Then it says which mirrors it reached: not those that wait in a later bucket, which
may come nearer still. A vertex that comes nearer after its bucket was emptied is relaxed again.

A distance is the least of the sums along paths, in whatever order these were found.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphflow.algorithms._old_advance import superstep
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.comm.mirrors import Mirrors
from dask_graphflow.graph.numbering import mirrors as mirrors_of
from dask_graphflow.graph.numbering import occurs
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import index_dtype, kernels_of

from .lengths import bucket_width
from .near_far_many import near_and_far

__all__ = ["paths_many"]

AHEAD = 1 << 15  # edges that a member goes ahead by in a round: about as long as a round takes
FEW = 1 << 13  # vertices of a bucket that it goes ahead with


def paths_many(
    shard: Shard, exchange: Exchange, sources: Any, *, cutoff: float | None, threads: int
) -> tuple[Any, Any, list[dict[str, Any]]]:
    """Find shortest paths; all members call it.

    Parameters
    ----------
    shard : Shard
        With weights.
    exchange : Exchange
    sources : array of integers
        Those of all sources that are owned, less ``shard.low``; each once.
    cutoff : float or None
        Go no further than this.
    threads : int
        Host threads to use.

    Returns
    -------
    distance : array of float64, shape (V_p,)
        Of the vertices that are owned; infinite where they were not reached.
    predecessor : array of int32 or int64, shape (V_p,)
        Numbers of all vertices; the dtype's maximum for sources and what was not reached.
    steps : list of dict
        The supersteps: a row a round, of what all members did in it; the seconds are this one's.

    Raises
    ------
    WeightError
        A weight of any member is negative or no number.
    """
    local = shard.local("out", threads)
    mirrors = mirrors_of(shard, exchange, threads=threads)
    delta = _delta(shard, exchange, threads)
    relaxed = near_and_far if exchange.devices else _relaxed
    distance, steps = relaxed(
        local, exchange, mirrors, sources, delta, np.inf if cutoff is None else cutoff, threads
    )
    predecessor = _predecessors(shard, mirrors, sources, distance, threads)
    return distance[: local.owned], predecessor, steps


def _delta(shard: Shard, exchange: Exchange, threads: int) -> float:
    """Return the width of a bucket, or raise where weights are negative or no numbers."""
    rows = shard.out
    kernels = kernels_of("buckets", rows.ends)
    wrong, mean = shard.kept("weighed", lambda: kernels.weigh(rows.weights, threads=threads))
    has = occurs(shard, exchange)
    found = np.array([wrong, mean, len(rows.ends), int(np.count_nonzero(has))], "float64")
    parts = exchange.all_gather(found)
    wrong, means, edges, vertices = np.array(parts).T
    mean = float((means * (edges / max(1, edges.sum()))).sum())
    wrong, edges, vertices = (int(part.sum()) for part in (wrong, edges, vertices))
    return bucket_width(kernels, wrong, mean, edges, vertices)


def _relaxed(
    local: Any,
    exchange: Exchange,
    mirrors: Mirrors,
    sources: Any,
    delta: float,
    cutoff: float,
    threads: int,
) -> tuple[Any, list[dict[str, Any]]]:
    """Return the distances of masters, and what mirrors were found at last; and the supersteps."""
    kernels = kernels_of("buckets", local.rows.ends)
    light = kernels.light_first(local.rows, delta)
    distance = np.full_like(local.rows.ends, np.inf, "float64", shape=local.size)
    distance[sources] = 0
    buckets = kernels.Buckets(distance, sources, delta, threads=threads)
    steps: list[dict[str, Any]] = []
    bucket, before = 0, buckets.counts
    exchange.take_traffic()  # what it took so far is no superstep's
    while bucket < kernels.NONE:
        began = time.perf_counter()
        ahead = before["edges"] + AHEAD
        while (own := buckets.lowest()) <= bucket or (
            own < kernels.NONE and buckets.counts["edges"] < ahead and buckets.waiting(own) <= FEW
        ):
            kernels.relax(light, buckets, buckets.take_from(own), cutoff=cutoff)
        reached = buckets.take_mirrors()
        after = buckets.counts
        lowest = min(own, buckets.lowest_of(reached))
        active, edges = (after[name] - before[name] for name in ("vertices", "edges"))
        mirrors.reduce(distance, reached - local.owned, sums=(active, edges), most=-float(lowest))
        total = mirrors.receive(lambda at, values: kernels.offer(buckets, at, values))
        seconds = time.perf_counter() - began
        count, edges = total.sums
        steps.append(superstep("push", count, edges, seconds))
        bucket, before = int(-total.most), after
    return distance, steps


def _predecessors(shard: Shard, mirrors: Mirrors, sources: Any, distance: Any, threads: int) -> Any:
    """Return the smallest predecessor of every owned vertex; see :func:`.host_buckets.predecessors`."""
    local = shard.local("out", threads)
    rows, owned = local.rows, local.owned
    kernels = kernels_of("buckets", rows.ends)
    # Whether an edge is on a shortest path is seen from the distances of both its ends.
    mirrors.broadcast(distance)
    mirrors.receive(lambda at, values: distance.__setitem__(at, values))

    dtype = np.dtype(index_dtype(shard.size))
    never = np.iinfo(dtype).max
    predecessor = np.full_like(rows.ends, never, dtype, shape=local.size)
    names = shard.numbers
    level = kernels.offer_nearer(rows, names, distance, predecessor, threads=threads)
    settled = predecessor != never  # and mirrors that something was offered to: their masters are
    mirrors.reduce(predecessor, np.flatnonzero(settled[owned:]), sums=(level,))

    def smallest(at: Any, values: Any) -> None:
        predecessor[at] = np.minimum(predecessor[at], values)

    if not mirrors.receive(smallest).sums[0]:
        return predecessor[:owned]

    settled[:owned] = predecessor[:owned] != never
    settled[sources] = True
    frontier = np.flatnonzero(settled[:owned])
    while True:
        following = kernels.offer_level(rows, names, distance, predecessor, settled, frontier)
        settled[following[following >= owned]] = True
        reached = [following[following < owned]]
        away = np.sort(following[following >= owned]) - owned

        def first(at: Any, values: Any, reached: list[Any] = reached) -> None:
            open_ = ~settled[at]
            at, values = at[open_], values[open_]
            reached.append(at[predecessor[at] == never])
            smallest(at, values)

        mirrors.reduce(predecessor, away, sums=(len(following),))
        if not mirrors.receive(first).sums[0]:
            return predecessor[:owned]
        frontier = np.concatenate(reached)
        settled[frontier] = True
