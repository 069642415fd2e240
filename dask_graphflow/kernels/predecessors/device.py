"""Predecessors of the vertices of a level on the device; :mod:`.predecessors.host` has the host version."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.launching import launch
from dask_graphflow.kernels.sources import instance

WARP = 32  # threads per vertex


def set_predecessors(
    rows: Rows,
    seen: Any,
    vertices: Any,
    bits: Any,
    at: Any,
    depth: int,
    level: Any,
    predecessor: Any,
    *,
    threads: int = 1,
) -> None:
    """Set the level of vertices in some searches, and the first neighbor that these searches had seen."""
    count = len(vertices)
    if not count:
        return
    launch(
        instance("set_predecessors", rows.ends.dtype),
        WARP * count,
        rows.offsets,
        rows.ends,
        seen,
        vertices.astype("int64", copy=False),
        bits,
        at,
        np.uint64(count),
        np.uint64(level.shape[1]),
        np.int32(depth),
        level,
        predecessor,
    )
