"""Derived graphs: the same vertices as another graph, with rows that are made from its rows.

The shard of a graph memoizes the shards of its derived graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.kernels import allocate_like, index_dtype
from dask_graphflow.kernels import rows as rows_kernels

from . import build, numbering, stored
from .blocks import blocks, collected, filtered
from .device_shard import on_this_device
from .make_rows import make_rows
from .shard import Shard


def simple(shard: Shard, exchange: Exchange, threads: int) -> Shard:
    """Return this member's part of the graph without self-loops, parallel edges and weights.

    All members call it.
    """
    host = shard.host

    def rows() -> Any:
        out, kernels = host.out, rows_kernels.of(host.out.ends)
        offsets = allocate_like(out.ends, len(out.offsets), "int64")
        offsets[:] = 0

        def chosen() -> Iterator[Any]:
            for _, block in blocks(out):
                sources = kernels.owners(block, out.ends.dtype, threads=threads)
                keep = block.ends != sources
                # Within a row, equal ends are adjacent.
                keep[1:] &= (block.ends[1:] != block.ends[:-1]) | (sources[1:] != sources[:-1])
                first, count = block.first - out.first, len(block.offsets) - 1
                left = kernels.degrees(
                    sources[keep], first=block.first, count=count, threads=threads
                )
                np.cumsum(left, out=offsets[first + 1 :][:count])
                offsets[first + 1 :][:count] += offsets[first]
                yield block.ends[keep]

        ends = collected(chosen(), out.ends, len(out.ends))
        return out._replace(offsets=offsets, ends=ends, weights=None)

    return derive(stored.SIMPLE, shard, exchange, rows, directed=host.directed)


def lightest(shard: Shard, exchange: Exchange, threads: int) -> Shard:
    """Return this member's part of a weighted graph without self-loops.

    All members call it. Of parallel edges, only the lightest is left.
    """
    host = shard.host

    def rows() -> Any:
        out, kernels = host.out, rows_kernels.of(host.out.ends)
        sources = kernels.owners(out, index_dtype(host.size), threads=threads)
        columns = filtered((sources, out.ends, out.weights), lambda edges: edges[0] != edges[1])
        edges = ([column] for column in columns)
        return _merged(host, exchange, *edges, multi="min")

    return derive("lightest", shard, exchange, rows, directed=host.directed)


def reverse(shard: Shard, exchange: Exchange, threads: int) -> Shard:
    """Return this member's part of a directed graph with every edge reversed. No edge is copied.

    All members call it.
    """
    host = shard.host
    into = build.into(host, exchange)
    turned = derive("reverse", shard, exchange, lambda: into, directed=True)
    turned.host.kept(stored.INTO, lambda: host.out)
    return turned


def undirected(shard: Shard, exchange: Exchange, threads: int, multi: str = "keep") -> Shard:
    """Return this member's part of a directed graph without the directions of the edges.

    All members call it. A pair of opposite edges becomes two parallel edges, unless `multi` is "sum" or
    "min", which merges them.
    """
    host = shard.host

    def rows() -> Any:
        out, kernels = host.out, rows_kernels.of(host.out.ends)
        # A self-loop is already in its row.
        entering = filtered(build.entering(host, exchange), lambda edges: edges[0] != edges[1])
        own = kernels.owners(out, index_dtype(host.size), threads=threads)
        weights = None if out.weights is None else [out.weights, entering[2]]
        sources = [own, entering[1]]
        targets = [out.ends, entering[0]]
        return _merged(host, exchange, sources, targets, weights, multi=multi)

    name = "undirected" if multi == "keep" else f"undirected {multi}"
    return derive(name, shard, exchange, rows, directed=False)


def _merged(
    host: Shard,
    exchange: Exchange,
    sources: list[Any],
    targets: list[Any],
    weights: list[Any] | None,
    *,
    multi: str,
) -> Any:
    """Return the rows of edges, each column of which is a list of arrays."""
    kernels, labels = rows_kernels.of(host.out.ends), None
    if host.placed is not None:  # within a row, ends are in the order of their numbers
        labels = host.placed.places
        sources, targets = (
            [
                kernels.renamed(ends, host.all_numbers, threads=exchange.resources.threads)
                for ends in side
            ]
            for side in (sources, targets)
        )
    return make_rows(
        sources,
        targets,
        weights,
        first=host.low,
        count=host.owned,
        columns=host.count,
        labels=labels,
        multi=multi,
        resources=exchange.resources,
    )


def derive(
    name: str, shard: Shard, exchange: Exchange, rows: Callable[[], Any], *, directed: bool
) -> Shard:
    """Return the derived shard that is cached under a name, or make it of rows. All members call it."""
    host = shard.host
    exists = numbering.occurs(host, exchange)

    def make() -> Shard:
        about: dict[str, Any] = {"base": host.base, "ids": host.ids, "placed": host.placed}
        about["for_device"] = host.for_device
        made = Shard(host.like, host.bounds, host.rank, rows(), directed=directed, **about)
        # A vertex without its self-loops is still a vertex.
        made.kept(stored.OCCURS, lambda: exists)
        return made

    derived: Shard = numbering.kept_by_all(host, exchange, name, make)
    return derived if shard is host else on_this_device(derived)
