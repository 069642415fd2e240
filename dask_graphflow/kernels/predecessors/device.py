"""Predecessors of the vertices of a level on the device."""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.launching import launch
from dask_graphflow.kernels.sources import instance

WARP = 32  # threads per vertex


def set_predecessors(rows, seen, vertices, bits, at, depth, level, predecessor, *, threads=1):
    count = len(vertices)
    if not count:
        return
    kernel, vertices = (
        instance("set_predecessors", rows.ends.dtype),
        vertices.astype("int64", copy=False),
    )
    given = seen, vertices, bits, at, count, level.shape[1], np.int32(depth)
    launch(kernel, WARP * count, *rows[:2], *given, level, predecessor)
