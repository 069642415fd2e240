"""Shortest paths between pairs of vertices: each pair is searched by one thread of one member, on the host.

Searches are short if the ends of a pair are near, so pairs are shared out instead of the searches. A thread
can reach every vertex, so several members copy the rows of each other, and a member on a device copies them
to the host. The copies are freed at the end of the call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.graph import build
from dask_graphflow.kernels import kernels_for
from dask_graphflow.kernels import routes as routes_kernels
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.routes import FoundPaths

from .access import move_to, own_part
from .buckets import bucket_width
from .gathered import gather_edges
from .view import GraphView


class Routes(NamedTuple):
    """The paths of pairs that a member lists: arrays with an entry per vertex of a path."""

    source: Any  # numbers of the first and of the last vertex of the path
    target: Any
    rank: Any  # array of int32. Index of the path among those of its pair.
    length: Any  # array of float64. The sum of the weights of the path.
    step: Any  # array of int32. Index of the vertex on the path.
    vertex: Any  # the number of the vertex


def find_shortest(g: GraphView, pairs: tuple[Any, Any]) -> Routes:
    """Return the shortest path of each pair, sorted by pair. All members call it with the same places.

    Raises
    ------
    WeightError
        A weight is negative or NaN.
    GraphMemoryError
        A member has no room for the edges of the others.
    """
    rows, (sources, targets), count = _weighed_rows(g), *_own_pairs(g, pairs)
    kernels = routes_kernels.of(rows.ends)
    into = _rows_into(g, rows) if count >= kernels.WORTH else None
    found = kernels.find_shortest(rows, into, sources, targets, threads=g.member.threads)
    return _list(g, sources, targets, found)


def find_alternatives(g: GraphView, pairs: tuple[Any, Any], k: int) -> Routes:
    """Return the `k` shortest simple paths of each pair, sorted by pair; see :func:`find_shortest`."""
    rows, (sources, targets), _ = _weighed_rows(g), *_own_pairs(g, pairs)
    into = _rows_into(g, rows)
    find = routes_kernels.of(rows.ends).find_alternatives
    found = find(rows, into, sources, targets, k, threads=g.member.threads)
    return _list(g, sources, targets, found)


def _own_pairs(g: GraphView, pairs: tuple[Any, Any]) -> tuple[np.ndarray, int]:
    """Return the pairs of numbers that this member lists, sorted and each once, and the number of all."""
    shard, threads = g.member.shard, g.member.threads
    both = [
        shard.numbers_at(kernels_for(side).to_host(side).astype(g.index), threads) for side in pairs
    ]
    distinct = np.unique(np.stack(both).astype(np.int64), axis=1)
    count = distinct.shape[1]
    return np.ascontiguousarray(distinct[:, own_part(g, count)]), count


def _weighed_rows(g: GraphView) -> Rows:
    if g.weighted:
        bucket_width(g)  # raises if a weight is not allowed
    return rows_of_all(g, "out")


def _rows_into(g: GraphView, rows: Rows) -> Rows:
    return rows_of_all(g, "into") if g.directed else rows


def rows_of_all(g: GraphView, side: str) -> Rows:
    """Return the rows of the vertices of all members by number, in host memory. All members call it."""
    m, shard = g.member, g.member.shard.host
    own = shard.out if m.side(side) == "out" else build.into(shard, m.exchange)
    to_host = kernels_for(own.ends).to_host
    weights = to_host(own.weights) if g.weighted else None
    if m.alone:
        return Rows(to_host(own.offsets), to_host(own.ends), weights, 0)
    each = own.ends.itemsize + (own.weights.itemsize if g.weighted else 0)
    check_room(
        kernels_for(np.empty(0)), 2 * each * g.edges + 16 * g.size, "a copy of all edges", ADVICE,
        limit=m.exchange.resources.memory(False),
    )  # fmt: skip
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


def _list(g: GraphView, sources: np.ndarray, targets: np.ndarray, found: FoundPaths) -> Routes:
    """Return a row per vertex of each path, in the memory of the graph."""
    pair = np.repeat(np.arange(len(sources)), found.paths)
    ranks = (np.arange(len(pair)) - (np.cumsum(found.paths) - found.paths)[pair]).astype("int32")
    path = np.repeat(np.arange(len(pair)), found.counts)
    steps = np.arange(len(path)) - (np.cumsum(found.counts) - found.counts)[path]
    pair, numbers = pair[path], g.numbers
    columns = (
        sources[pair].astype(g.index), targets[pair].astype(g.index), ranks[path],
        found.lengths[path], steps.astype("int32"), found.vertices.astype(g.index, copy=False),
    )  # fmt: skip
    return Routes(*(move_to(numbers, column) for column in columns))
