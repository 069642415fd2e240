"""Changes of triangles: which triangles an update closed and opened, from the rows of a few vertices.

Only the rows of vertices at which the update changed an edge are read. Several members send each other
these rows, and each member counts for its own vertices.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from dask_graphflow.graph.change import Change
from dask_graphflow.kernels import disk, is_on_disk
from dask_graphflow.kernels import triangle_changes as triangle_changes_kernels
from dask_graphflow.kernels.triangle_changes import Touched
from dask_graphflow.operators.access import entries_of, gather, offsets_of
from dask_graphflow.operators.view import GraphView

logger = logging.getLogger(__name__)

ROOM = 1 << 18  # row entries for which every member has room


def add_triangle_changes(g: GraphView, counts: Any) -> bool:
    """Add the number of triangles that each vertex gained by the update that made an undirected graph.

    All members call it. False if it takes less time to count all triangles; then `counts` are as before.

    Parameters
    ----------
    g : GraphView
    counts : array of int64, shape (V_p,)
    """
    shard = g.member.shard
    if shard.directed or shard.on_device:
        return False
    sources, targets, inserted = _changed_edges(shard.change)
    vertices, row = np.unique(sources, return_inverse=True)
    once = sources < targets
    ranks = np.empty(len(sources), np.int64)
    ranks[once] = np.arange(len(sources) // 2)
    back = np.flatnonzero(~once)  # in the same order once it is sorted by both ends
    ranks[back[np.lexsort((sources[back], targets[back]))]] = np.arange(len(back))
    first, second = row[once], np.searchsorted(vertices, targets[once])
    rows = _rows_of(g, vertices, first, second)
    if rows is None:
        return False
    offsets = offsets_of(np.bincount(row, minlength=len(vertices)))
    touched = Touched(vertices, *rows, offsets, targets, inserted, ranks)
    triangle_changes_kernels.of(sources).changed(touched, first, second, shard.low, counts)
    return True


def changed_neighborhoods(g: GraphView, gained: Any) -> tuple[Any, Any, Any] | None:
    """Return the vertices whose clustering coefficient the update may have changed, and their neighbors.

    All members call it. They are positions, the numbers of neighbors before the update, and those after it,
    without the vertex itself. `gained` says how many triangles each vertex gained. None if the edges are on
    disk, where these rows are read more slowly than all rows in order.
    """
    if g.edges_and_storage()[1]:
        return None
    shard, rows = g.member.shard, g.member.rows("out")
    sources, _, inserted = _changed_edges(shard.change)
    own = (sources >= shard.low) & (sources < shard.high)
    at, row = np.unique(sources[own] - shard.low, return_inverse=True)
    more = np.bincount(row, np.where(inserted[own], 1, -1), minlength=len(at)).astype("int64")
    others = np.setdiff1d(np.flatnonzero(gained), at, assume_unique=True)
    at, more = np.concatenate([at, others]), np.concatenate([more, np.zeros_like(others)])
    after = triangle_changes_kernels.of(at).neighbors(rows, at)
    return at, after - more, after


def _changed_edges(change: Change | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return both directions of the edges that are in one of the two graphs, and which ones are new."""
    assert change is not None, "an earlier result is given only if an update made the graph"
    at = np.flatnonzero((change.before != change.after) & (change.sources != change.targets))
    sources, targets = (side[at].astype("int64") for side in (change.sources, change.targets))
    return sources, targets, change.after[at]


def _rows_of(g: GraphView, vertices: Any, first: Any, second: Any) -> tuple[Any, Any, Any] | None:
    """Return where the rows of vertices begin and end in an array of ends.

    None if counting all triangles takes less time, or if a member has no room for the rows of others.
    """
    rows, shard = g.member.rows("out"), g.member.shard
    own = vertices[(vertices >= shard.low) & (vertices < shard.high)] - shard.low
    lengths = gather(g, rows.offsets[own + 1] - rows.offsets[own])
    steps, edges = int(np.minimum(lengths[first], lengths[second]).sum()), g.edges
    room = max(ROOM, edges // g.member.exchange.size)
    if is_on_disk(rows.ends):
        room = disk.budget() // rows.ends.itemsize
    copied = 0 if g.member.alone_in_memory else int(lengths.sum())
    if g.all_sum(steps > edges or copied > room):
        logger.debug("All triangles are counted: %d changed edges, %d steps", len(first), steps)
        return None
    if g.member.alone_in_memory:
        return rows.offsets[own], rows.offsets[own + 1], rows.ends
    _, _, entries = entries_of(rows, own, g.member.threads)
    ends = gather(g, disk.take(rows.ends, entries))
    offsets = offsets_of(lengths)
    return offsets[:-1], offsets[1:], ends
