"""Peeling on the device. All steps run in one launch."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.launching import launch_gang, read
from dask_graphflow.kernels.sources import instance

# The struct in peel.cu: begin, count, three sets, three minima, and the number of arrived blocks.
STATE = 9


def peel(rows, counts, limit, frontier, room, *, threads=1):
    count, queue = len(frontier), room[1]
    queue[:count] = frontier
    state = cupy.zeros(STATE, "int64")
    state[1] = count
    kernel = instance("peel_run", rows.ends.dtype)
    launch_gang(kernel, rows.offsets, rows.ends, counts, np.int64(limit), queue, state)
    return queue[count : int(read(state)[0])]


def peel_all(rows: Rows, counts: Any, removed: Any, room: Any) -> None:
    state = cupy.zeros(STATE, "int64")
    state[5:8] = np.iinfo("int64").max
    kernel = instance("peel_all", rows.ends.dtype)
    size = len(removed)
    launch_gang(kernel, rows.offsets, rows.ends, counts, size, removed, room[1], state)
