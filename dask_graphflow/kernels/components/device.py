"""Connected components on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.common.device import absorb, compress, identity
from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.device_peers import align, least_told, meet, tell_least
from dask_graphflow.kernels.launching import launch
from dask_graphflow.kernels.sources import instance

FIRST = 2  # edges of each row that are hooked to find the largest tree


def join_rows(rows, *, both=True, threads=1, forests=None):
    count = len(rows.offsets) - 1
    with rows.ends.device:
        if forests is None:
            parent = identity(count, rows.ends.dtype)
        else:
            parent = forests.parents.own
            launch(instance("identity", parent.dtype), len(parent), parent, len(parent))
        if not len(parent):
            return parent
        sent, root = tell_least()
        some = parent, rows.offsets, cupy.ascontiguousarray(rows.ends), np.int64(rows.first), count
        launch(instance("hook_first", parent.dtype), count, *some, FIRST)
        compress(parent)
        # One block, in which all threads vote.
        launch(instance("choose_tree", parent.dtype), 1, parent, len(parent), root)
        if forests is not None:
            # An edge between trees that two members skip would be lost, unless one vertex is in both.
            root = least_told(align(forests.memory, sent=sent))
            if not both:
                _adopt(forests)
        if both:
            launch(instance("hook_rest", parent.dtype), count, *some, root)
        else:
            inside = cupy.empty(-(-len(parent) // 32), "uint32")
            launch(
                instance("mark_tree", parent.dtype), len(parent), parent, len(parent), root, inside
            )
            kernel = instance("hook_outside_tree", parent.dtype)
            launch(kernel, len(rows.ends) // 8, *some, inside)
        compress(parent)
    return parent


def _adopt(forests: Any) -> None:
    """Join each vertex with its parent at the member that has its row, as far as that member is.

    So the largest tree at each member gets vertices of all rows, and more edges are inside it. Another
    member may change the parents meanwhile. Each of them is in the tree of its vertex, old or new.
    """
    gang, parents = forests.memory.gang, forests.parents
    rank, size = int(gang["rank"]), int(gang["size"])
    bounds = gang["bounds"].tolist()
    meet(forests.memory)  # raises if members gave up; see merge
    for other in range(size):
        if other != rank:
            low, high = bounds[other : other + 2]
            absorb(parents.own, parents.of(other)[low:high], first=low)
    compress(parents.own)


def merge(forests: Any, low: int, high: int) -> Any:
    """Merge forests; see :func:`.components.merge`."""
    memory, parents, step = forests.memory, forests.parents, 1
    rank, size = int(memory.gang["rank"]), int(memory.gang["size"])
    while step < size:
        meet(memory)  # raises if members gave up: a forest that is not ready must not be followed
        if rank % (2 * step) == 0 and rank + step < size:
            absorb(parents.own, parents.of(rank + step))
            compress(parents.own)
        step *= 2
    align(memory)
    roots = parents.of(0)[low:high].copy()
    meet(memory)
    return roots
