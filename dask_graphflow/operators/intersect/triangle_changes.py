"""Changes of triangles: which triangles an update closed and opened, from the rows of a few vertices.

Only the rows of vertices at which the update changed an edge are read. Several members send each other
these rows, and each member counts for its own vertices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.graph.change import Change
from dask_graphflow.kernels import disk
from dask_graphflow.kernels import triangle_changes as triangle_changes_kernels
from dask_graphflow.kernels.triangle_changes import Touched
from dask_graphflow.operators.access import entries_of, gather, offsets_of
from dask_graphflow.operators.view import GraphView

MOST = 0  # XXX


class TriangleChanges(NamedTuple):
    """How an update changed the triangles and the neighbors of each vertex of a member."""

    triangles: Any  # array of int64, shape (V_p,). How many triangles the vertex gained.
    neighbors: Any  # array of int64, shape (V_p,). How many neighbors it gained, other than itself.


def triangle_changes(g: GraphView) -> TriangleChanges | None:
    """Return how the update that made an undirected graph changed its triangles. All members call it.

    None if it takes less time to count all triangles.
    """
    shard = g.member.shard
    if shard.directed or shard.on_device:
        return None
    sources, targets, inserted = _changed_edges(shard.change)
    made = TriangleChanges(g.column(0, "int64"), g.column(0, "int64"))
    own = (sources >= shard.low) & (sources < shard.high)
    np.add.at(made.neighbors, sources[own] - shard.low, np.where(inserted[own], 1, -1))
    vertices, row = np.unique(sources, return_inverse=True)
    once = sources < targets
    ranks = np.empty(len(sources), np.int64)
    ranks[once] = np.arange(len(sources) // 2)
    back = np.flatnonzero(~once)  # in the same order once it is sorted by both ends
    ranks[back[np.lexsort((sources[back], targets[back]))]] = np.arange(len(back))
    first, second = row[once], np.searchsorted(vertices, targets[once])
    rows = _rows_of(g, vertices, first, second)
    if rows is None:
        return None
    offsets = offsets_of(np.bincount(row, minlength=len(vertices)))
    touched = Touched(vertices, *rows, offsets, targets, inserted, ranks)
    kernels = triangle_changes_kernels.of(sources)
    kernels.changed(touched, first, second, shard.low, made.triangles)
    return made


def _changed_edges(change: Change) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return both directions of the edges that are in one of the two graphs, and which ones are new."""
    at = np.flatnonzero((change.before != change.after) & (change.sources != change.targets))
    sources, targets = (side[at].astype("int64") for side in (change.sources, change.targets))
    return sources, targets, change.after[at]


def _rows_of(g: GraphView, vertices: Any, first: Any, second: Any) -> tuple[Any, Any, Any] | None:
    """Return where the rows of vertices begin and end in an array of ends; None if they are too long."""
    rows, shard = g.member.rows("out"), g.member.shard
    own = vertices[(vertices >= shard.low) & (vertices < shard.high)] - shard.low
    lengths = gather(g, rows.offsets[own + 1] - rows.offsets[own])
    if MOST * np.minimum(lengths[first], lengths[second]).sum() > g.edges:
        return None
    if g.member.alone_in_memory:
        return rows.offsets[own], rows.offsets[own + 1], rows.ends
    _, _, entries = entries_of(rows, own, g.member.threads)
    ends = gather(g, disk.take(rows.ends, entries))
    offsets = offsets_of(lengths)
    return offsets[:-1], offsets[1:], ends
