"""Shortest paths between pairs of vertices: each pair is searched by one thread of one member, on the host.

Searches are short if the ends of a pair are near, so pairs are shared out instead of the searches. A thread
can reach every vertex, so several members copy the rows of each other, and a member on a device copies them
to the host. The copies are freed at the end of the call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import kernels_for, move_to
from dask_graphflow.kernels import routes as routes_kernels
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.routes import FoundPaths

from .access import own_part
from .buckets import bucket_width
from .rows_of_all import rows_of_all
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
    sources, targets = _own_pairs(g, pairs)
    rows, into = _rows_of_all(g)
    find = routes_kernels.of(rows.ends).find_shortest
    found = find(rows, into, sources, targets, threads=g.member.threads)
    return _list(g, sources, targets, found)


def find_alternatives(g: GraphView, pairs: tuple[Any, Any], k: int) -> Routes:
    """Return the `k` shortest simple paths of each pair, sorted by pair; see :func:`find_shortest`."""
    sources, targets = _own_pairs(g, pairs)
    rows, into = _rows_of_all(g)
    find = routes_kernels.of(rows.ends).find_alternatives
    found = find(rows, into, sources, targets, k, threads=g.member.threads)
    return _list(g, sources, targets, found)


def _own_pairs(g: GraphView, pairs: tuple[Any, Any]) -> np.ndarray:
    """Return the pairs of numbers that this member lists, sorted and each once."""
    shard, threads = g.member.shard, g.member.threads
    both = [
        shard.numbers_at(kernels_for(side).to_host(side).astype(g.index), threads) for side in pairs
    ]
    distinct = np.unique(np.stack(both).astype(np.int64), axis=1)
    return np.ascontiguousarray(distinct[:, own_part(g, distinct.shape[1])])


def _rows_of_all(g: GraphView) -> tuple[Rows, Rows]:
    """Return the rows of the leaving and of the entering edges; see :func:`.rows_of_all`.

    The two are the same object if edges have no direction.
    """
    if g.weighted:
        bucket_width(g)  # raises if a weight is not allowed
    leaving = rows_of_all(g, "out")
    return leaving, rows_of_all(g, "into") if g.directed else leaving


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
