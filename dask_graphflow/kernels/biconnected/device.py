"""Blocks of a spanning tree on the device."""

from __future__ import annotations

from dask_graphflow.kernels.launching import launch
from dask_graphflow.kernels.sources import instance

EACH = 4  # edges per thread


def join_cycles(rows, label, above, block, *, threads=1):
    if not len(rows.ends):
        return
    dtype, size = label.dtype, len(rows.offsets) - 1
    ends, first = rows.ends.astype(dtype, copy=False), rows.first
    kernel = instance("join_cycles", dtype)
    launch(kernel, len(ends) // EACH, rows.offsets, ends, size, first, label, above, block)
