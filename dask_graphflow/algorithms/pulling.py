"""Pulling along all edges, over the members of a gang: rows of what enters each member's vertices.

What is pulled in every superstep lies in a *column*: an entry for each vertex of the member's own that has
an edge, and then those that it reads of the others, member by member. What is read most often comes first,
and stays in the caches.

Where a member reads most vertices of the others, as on a power-law graph of few members, it has an entry
for each of them. Then nobody keeps a list of who reads what, and all entries of a member are sent as they
lie. Otherwise it has *mirrors*, of those that it reads.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.comm.mirrors import Mirrors
from dask_graphflow.graph.build import Edges, entered, entering
from dask_graphflow.graph.hubs import has_hubs, inverse
from dask_graphflow.graph.numbering import kept_by_all, occurs, swap
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import index_dtype, kernels_of

__all__ = ["Pulling", "pulling"]

MOST = 2  # at least one vertex in so many is read: then all of them are told


class Pulling(NamedTuple):
    """What a member pulls along.

    Attributes
    ----------
    rows : Rows
        Of the member's vertices that have an edge, in the order of `names`; ends are places in a column.
    names : array of integers, shape (n,)
        Which those are, from 0 for the first of the range.
    size : int
        The entries of a column.
    leaving : array of int64, shape (V_p,)
        How many edges leave each of the member's vertices.
    has : array of bool, shape (V_p,)
        Which of them have an edge.
    mirrored : list
        As of :class:`~.mirrors.Mirrors`.
    slot_bounds, bounds : list of int
        Likewise.
    """

    rows: Any
    names: Any
    size: int
    leaving: Any
    has: Any
    mirrored: list[Any]
    slot_bounds: list[int]
    bounds: list[int]

    def mirrors(self, exchange: Exchange) -> Mirrors:
        """Return what tells the members' columns of each other."""
        return Mirrors(exchange, None, self.slot_bounds, self.bounds, self.mirrored)


def pulling(shard: Shard, exchange: Exchange, threads: int) -> Pulling:
    """Return a member's, made once and kept; all members call it at the same place."""

    def make() -> Pulling:
        return _made(shard.host, exchange, threads)

    host: Pulling = kept_by_all(shard.host, exchange, "pulling", make)
    found: Pulling = shard.here("pulling", host)
    return found


def _made(shard: Shard, exchange: Exchange, threads: int) -> Pulling:
    # A device sorts edges by their last labels. On a host it takes less time to put rows of vertices in
    # order, even those that were made for it: no bucket is too large for the cache.
    plain = None if shard.on_device else _rows(shard, exchange, threads)
    if plain is None:
        source, target, weight = entering(shard, exchange)
        near = target - shard.low
    else:
        source, near = plain.ends, np.flatnonzero(np.diff(plain.offsets))
    kernels = kernels_of("rows", source)
    read = kernels.degrees(source, count=shard.size, threads=threads)
    if shard.has("out"):
        leaving, has = np.diff(shard.out.offsets), occurs(shard, exchange)
    else:
        ranges = itertools.pairwise(shard.bounds)
        told = exchange.all_to_all([read[low:high] for low, high in ranges])
        leaving = sum(told[1:], start=told[0])
        found = leaving > 0
        found[near] = True
        has = shard.kept("occurs", lambda: found)  # which are asked for again without their rows
    hubs = has_hubs(leaving)
    labels = kernels.degree_labels(leaving * (2 * hubs) + has)
    count = int(np.count_nonzero(has))

    others = int(np.count_nonzero(read)) - int(np.count_nonzero(read[shard.low : shard.high]))
    every, read_elsewhere = exchange.all_reduce(sums=(count, others)).sums
    if read_elsewhere * MOST >= every * (exchange.size - 1):
        place, places = _all(shard, exchange, labels, count)
    else:
        place, places = _some(shard, exchange, labels, read, hubs)
    size = places["bounds"][exchange.rank + 1] - places["bounds"][exchange.rank]
    size += places["slot_bounds"][-1]
    if plain is None:
        ends = labels[near], place[source], weight
        rows = kernels.rows(*ends, first=0, count=count, columns=size, threads=threads)
    else:
        rows = kernels.relabelled(plain, labels, places=place, count=count, threads=threads)
    return Pulling(rows, inverse(labels)[:count], size, leaving, has, **places)


def _rows(shard: Shard, exchange: Exchange, threads: int) -> Any:
    """Return the rows of what enters the range's vertices, the first of which is 0 in them."""
    found = entered(shard, exchange)
    if isinstance(found, Edges):
        ends = found.target - shard.low, found.source, found.weight
        size = {"count": shard.owned, "columns": shard.size}
        found = kernels_of("rows", found.source).rows(*ends, **size, threads=threads)
    return found._replace(first=0)


def _all(shard: Shard, exchange: Exchange, labels: Any, count: int) -> tuple[Any, dict[str, Any]]:
    """Return where each vertex is in a column that has all of them, and how columns are told."""
    told = exchange.all_gather(labels)
    counts = swap(exchange, [count] * exchange.size)
    sizes = [0 if q == exchange.rank else size for q, size in enumerate(counts)]
    slot_bounds = list(itertools.accumulate(sizes, initial=0))
    place = np.empty_like(labels, index_dtype(count + slot_bounds[-1]), shape=shard.size)
    for q, (low, high) in enumerate(itertools.pairwise(shard.bounds)):
        place[low:high] = told[q]
        if q != exchange.rank:
            place[low:high] += count + slot_bounds[q]
    bounds = list(itertools.accumulate(counts, initial=0))
    return place, {
        "mirrored": [None] * exchange.size,
        "slot_bounds": slot_bounds,
        "bounds": bounds,
    }


def _some(
    shard: Shard, exchange: Exchange, labels: Any, read: Any, hubs: bool
) -> tuple[Any, dict[str, Any]]:
    """Return where each vertex is that is read in a column of mirrors, and how columns are told."""
    place = np.empty_like(labels, "int64", shape=shard.size)
    slots, slot_bounds = [], [0]
    for q, (low, high) in enumerate(itertools.pairwise(shard.bounds)):
        if q == exchange.rank:
            place[low:high], mirrors = labels, labels[:0]
        else:
            mirrors = np.flatnonzero(read[low:high])
            if hubs:
                by_reads = kernels_of("rows", labels).degree_labels(read[low:high][mirrors])
                mirrors[by_reads] = mirrors.copy()
            first = shard.owned + slot_bounds[-1]
            place[mirrors + low] = np.arange(first, first + len(mirrors), like=mirrors)
        slots.append(mirrors + low)
        slot_bounds.append(slot_bounds[-1] + len(mirrors))
    told = Mirrors(exchange, np.concatenate(slots), slot_bounds, shard.bounds)
    size = shard.owned + slot_bounds[-1]
    return place.astype(index_dtype(size)), {
        "mirrored": [labels[mine] for mine in told.mirrored],
        "slot_bounds": slot_bounds,
        "bounds": shard.bounds,
    }
