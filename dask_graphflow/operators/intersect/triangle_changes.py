"""Changes of triangles: which triangles an update closed and opened, from the rows of a few vertices.

Each member intersects all changed edges, and counts for its own vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import triangle_changes as triangle_changes_kernels
from dask_graphflow.kernels.triangle_changes import Touched
from dask_graphflow.operators.view import GraphView

from .changed_edges import ChangedEdges


def add_triangle_changes(g: GraphView, edges: ChangedEdges, counts: Any) -> None:
    """Add the number of triangles that each vertex of a member gained by an update.

    Parameters
    ----------
    g : GraphView
    edges : ChangedEdges
    counts : array of int64, shape (V_p,)
    """
    sources, targets, vertices = edges.sources, edges.targets, edges.vertices
    once = sources < targets
    ranks = np.empty(len(sources), np.int64)
    ranks[once] = np.arange(len(sources) // 2)
    back = np.flatnonzero(~once)  # in the same order once it is sorted by both ends
    ranks[back[np.lexsort((sources[back], targets[back]))]] = np.arange(len(back))
    offsets = np.searchsorted(sources, np.append(vertices, g.size))
    touched = Touched(vertices, *edges.rows, offsets, targets, edges.inserted, ranks)
    first, second = (np.searchsorted(vertices, side[once]) for side in (sources, targets))
    kernels = triangle_changes_kernels.of(sources)
    kernels.changed(touched, first, second, g.member.shard.low, counts)


def changed_neighborhoods(
    g: GraphView, edges: ChangedEdges, gained: Any
) -> tuple[Any, Any, Any] | None:
    """Return the vertices whose clustering coefficient an update may have changed, and their neighbors.

    All members call it. They are positions, the numbers of neighbors before the update, and those after it,
    without the vertex itself. `gained` says how many triangles each vertex gained. None if the edges are on
    disk, where these rows are read more slowly than all rows in order.
    """
    if g.edges_and_storage()[1]:
        return None
    shard, rows = g.member.shard, g.member.rows("out")
    own = (edges.sources >= shard.low) & (edges.sources < shard.high)
    at, row = np.unique(edges.sources[own] - shard.low, return_inverse=True)
    ends = np.where(edges.inserted[own], 1, -1)
    more = np.bincount(row, ends, minlength=len(at)).astype("int64")
    others = np.setdiff1d(np.flatnonzero(gained), at, assume_unique=True)
    at, more = np.concatenate([at, others]), np.concatenate([more, np.zeros_like(others)])
    after = triangle_changes_kernels.of(at).neighbors(rows, at)
    return at, after - more, after
