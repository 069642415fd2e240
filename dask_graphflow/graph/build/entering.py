"""Rows and edges that enter a shard's vertices, and shards of graphs whose vertices have numbers.

All members call a function at the same point.
"""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph import numbering, partition, stored
from dask_graphflow.graph.make_rows import make_rows
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import index_dtype, joined
from dask_graphflow.kernels import rows as rows_kernels

from .choose import count_ends
from .deal import Edges, deal_in_slices
from .rows import rename


def into(shard: Shard, exchange: Exchange) -> Any:
    """Return the rows of the edges that enter the range's vertices, and cache them as "into"."""
    host, threads = shard.host, exchange.resources.threads
    if not shard.directed:
        return shard.here(stored.INTO, host.out)

    def make() -> Any:
        rows_or_edges = entered(host, exchange)
        if host.placed is None and not isinstance(rows_or_edges, Edges):
            return rows_or_edges
        edges = edges_of(rows_or_edges, threads)
        labels, columns = None, host.size
        if host.placed is not None:  # within a row, ends are in the order of their numbers
            labels, columns = host.placed.places, host.count
            edges = rename(edges, host.all_numbers, threads)
        return make_rows(
            edges.target,
            edges.source,
            edges.weight,
            first=host.low,
            count=host.owned,
            columns=columns,
            labels=labels,
            resources=exchange.resources,
        )

    return shard.here(stored.INTO, numbering.kept_by_all(host, exchange, stored.INTO, make))


def entering(shard: Shard, exchange: Exchange) -> Edges:
    """Return the edges that enter the range's vertices, as places among all vertices, in any order."""
    threads = exchange.resources.threads
    if (
        exchange.size == 1
        and shard.directed
        and not (shard.has(stored.ENTERING) or shard.has(stored.INTO))
    ):
        target, source, weight = edges_of(shard.out, threads)  # avoids a sort
        return Edges(source, target, weight)
    return edges_of(entered(shard, exchange), threads)


def edges_of(rows_or_edges: Any, threads: int) -> Edges:
    """Return edges unchanged, or convert rows to edges whose targets are the vertices of the rows."""
    if isinstance(rows_or_edges, Edges):
        return rows_or_edges
    kernels = rows_kernels.of(rows_or_edges.ends)
    owners = kernels.owners(rows_or_edges, rows_or_edges.ends.dtype, threads=threads)
    return Edges(rows_or_edges.ends, owners, rows_or_edges.weights)


def entered(shard: Shard, exchange: Exchange) -> Any:
    """Return the edges that enter the range's vertices, or their rows if all members have these.

    If some member lacks them, edges are sent from the owners of their sources to the owners of their
    targets. A member that is alone makes rows itself. Undirected edges enter at both ends.
    """
    for name in (stored.ENTERING, stored.INTO if shard.directed else stored.OUT):
        if not exchange.all_sum(not shard.has(name)):
            return shard.made(name)
    out, resources = shard.out, exchange.resources
    kernels = rows_kernels.of(out.ends)
    leaving = kernels.owners(out, index_dtype(shard.size), threads=resources.threads)
    if exchange.size == 1:
        size: dict[str, Any] = {"count": shard.owned, "columns": shard.size}
        return make_rows(out.ends, leaving, out.weights, **size, resources=resources)
    whole = Edges(out.ends, leaving, out.weights)  # swapped: edges are sent by their first end
    target, source, weight = map(joined, deal_in_slices(exchange, whole, shard.bounds))
    return Edges(source, target, weight)


def entering_degrees(shard: Shard, exchange: Exchange) -> Any:
    """Return how many edges enter each vertex of the range, as int64, without making rows of these edges.

    Do not change the array.
    """
    host = shard.host

    def make() -> Any:
        for name in (stored.INTO, stored.ENTERING):
            if exchange.all_sum(not host.has(name)):
                continue
            made = host.made(name)
            if isinstance(made, Edges):
                return count(made.target, first=host.low, count=host.owned)
            return np.diff(made.offsets)
        counts = count(host.out.ends, count=host.size)
        if exchange.size == 1:
            return counts
        own = [counts[low:high] for low, high in itertools.pairwise(host.bounds)]
        return functools.reduce(operator.add, exchange.all_to_all(own))

    def count(ids: Any, **vertices: int) -> Any:
        return rows_kernels.of(ids).degrees(ids, **vertices, threads=exchange.resources.threads)

    made = numbering.kept_by_all(host, exchange, stored.ENTERING_DEGREES, make)
    return shard.here(stored.ENTERING_DEGREES, made)


def of_numbers(exchange: Exchange, rows: Any, threads: int) -> Shard:
    """Build the shard of an undirected graph whose vertices already have numbers.

    `rows` is this member's part of the rows of all vertices, in which each edge is in the rows of both of
    its ends. Weights are int64, and those of parallel edges are added up. A single member's rows have no
    parallel edges, and become the graph's.
    """
    size = len(rows.offsets) - 1
    if exchange.size == 1:
        return Shard(rows.ends[:0], [0, size], 0, rows, directed=False)
    owners = rows_kernels.of(rows.ends).owners(rows, rows.ends.dtype, threads=threads)
    edges = Edges(owners, rows.ends, rows.weights)
    bounds = partition.chunk_grains(count_ends(exchange, [edges[:2]], size), size, exchange.size)
    low, high = bounds[exchange.rank : exchange.rank + 2]
    own = make_rows(
        *deal_in_slices(exchange, edges, bounds),
        first=low,
        count=high - low,
        columns=size,
        multi="sum",
        resources=exchange.resources,
    )
    return Shard(rows.ends[:0], bounds, exchange.rank, own, directed=False)


def of_all_numbers(exchange: Exchange, rows: Any, threads: int) -> Shard:
    """Build the shard of a whole undirected graph on every member, as :func:`of_numbers` does for a part.

    Later steps on the graph send nothing, and all members take all of them.
    """
    if exchange.size > 1:
        size, kernels = len(rows.offsets) - 1, rows_kernels.of(rows.ends)
        sources = kernels.owners(rows, rows.ends.dtype, threads=threads)
        every = map(exchange.all_gather, (sources, rows.ends, rows.weights))
        rows = kernels.rows(*map(list, every), count=size, multi="sum", threads=threads)
    return Shard(rows.ends[:0], [0, len(rows.offsets) - 1], 0, rows, directed=False)
