"""Blocks of a spanning tree on the device; :mod:`.host_biconnected` has the host version."""

from __future__ import annotations

from typing import Any

import numpy as np

from .csr import Rows
from .launching import launch
from .sources import instance

EACH = 4  # edges per thread


def join_cycles(rows: Rows, label: Any, above: Any, block: Any, *, threads: int = 1) -> None:
    """Join the tree edges of cycles; see :func:`.host_biconnected.join_cycles`."""
    if not len(rows.ends):
        return
    dtype, size = label.dtype, np.uint64(len(rows.offsets) - 1)
    ends, first = rows.ends.astype(dtype, copy=False), np.uint64(rows.first)
    kernel = instance("join_cycles", dtype)
    launch(kernel, len(ends) // EACH, rows.offsets, ends, size, first, label, above, block)
