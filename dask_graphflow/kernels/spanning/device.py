"""Minimum spanning forests on the device.

All rounds run in one launch, whose blocks wait for each other.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.launching import attribute, gang_blocks, launch_gang, struct_of
from dask_graphflow.kernels.sources import GANG, instance

_BETWEEN = struct_of("one other key at")
ROUNDS = 7  # the struct in spanning.cu: three counts, three marks, and the number of arrived blocks


def join_components(component, one, other, key, at, taken):
    count, vertices = len(at), len(component)
    if not count:
        return
    now = [cupy.ascontiguousarray(array) for array in (one, other, key, at)]
    lists = now, [cupy.empty_like(array) for array in now]
    pointers = [np.array(tuple(array.data.ptr for array in one), _BETWEEN) for one in lists]
    least, first = cupy.empty(vertices, key.dtype), cupy.empty(vertices, "int64")
    kernel = instance("join_components", component.dtype, key.dtype)
    # Atomics at random addresses need many threads; few edges need few blocks to wait for.
    blocks = min(gang_blocks(kernel), max(attribute("MultiProcessorCount"), -(-count // GANG)))
    rounds = cupy.zeros(ROUNDS, "int64")
    given = component, vertices, *pointers, count, least, first, taken, rounds
    launch_gang(kernel, *given, blocks=blocks)
