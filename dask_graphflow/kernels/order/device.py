"""Vertices that take values one after another on the device.

All vertices do it in one launch. A vertex waits for the neighbors before it, and not for all vertices.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels import count_true
from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.csr import most_values
from dask_graphflow.kernels.launching import blocks_for, launch_blocks
from dask_graphflow.kernels.sources import THREADS, instance

WARP, BITS = 32, 32  # threads of a warp, and bits of a word
HUB = WARP * BITS  # edges from which on a block takes a vertex; a warp has a word per thread


def first_free(rows, order):
    count, dtype = len(order), rows.ends.dtype
    values = cupy.empty(count, dtype)
    # A vertex without a value has a negative number, which says where it is in the order.
    values[order] = cupy.arange(-1, -count - 1, -1, dtype=dtype)
    hubs = count_true(cupy.diff(rows.offsets) >= HUB)  # hubs come first
    words = most_values(rows) // BITS + 1
    for group, threads, begin, end, size in (
        ("BLOCK", THREADS, 0, hubs, words),
        ("WARP", WARP, hubs, count, min(words, WARP)),
    ):
        if begin < end:
            turn, blocks = cupy.full(1, begin, "uint64"), blocks_for(threads * (end - begin))
            given = rows.offsets, rows.ends, order, end, values, turn, np.uint32(size)
            shared = THREADS // threads * size * BITS // 8
            launch_blocks(instance("first_free", dtype, group), blocks, THREADS, shared, *given)
    return values.astype("int32")
