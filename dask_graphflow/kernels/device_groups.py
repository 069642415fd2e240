"""Groups of neighbors on the device; :mod:`.host_groups` has the twin."""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import namespace as cupy
from .host_rows import Rows
from .launching import attribute, launch, launch_blocks
from .sources import THREADS, instance

__all__ = ["best_groups"]

# Of cuda/groups.cu: the most edges of a row without a table, and with a table in shared memory.
SOME, MANY = 32, 1 << 10
# Slots of all tables in global memory, at most; there is one for the longest row in any case.
ROOM = 1 << 27

_GROUPS = np.dtype([("arrays", "u8", 10), ("factor", "f8")])


def best_groups(
    rows: Rows,
    vertices: Any,
    labels: Any,
    mass: Any,
    load: Any,
    factor: float,
    within: Any = None,
    closed: Any = None,
    *,
    threads: int = 1,
) -> Any:
    """Return the best label for each of some vertices, among those of its neighbors and its own."""
    count, dtype = len(vertices), labels.dtype
    found = cupy.empty(count, dtype)
    if not count:
        return found
    ends = rows.ends.astype(dtype, copy=False)  # a member's positions may be narrower than numbers
    vertices = vertices.astype(dtype)
    within = None if within is None else within.astype(dtype, copy=False)
    arrays = [rows.offsets, ends, rows.weights, vertices, labels, mass, load, within, closed, found]
    pointers = [0 if array is None else array.data.ptr for array in arrays]
    groups = np.array((pointers, factor), _GROUPS)
    some, many = cupy.empty(count, dtype), cupy.empty(count, dtype)
    sizes = cupy.zeros(4, "int64")
    launch(instance("few_groups", dtype), count, groups, np.uint64(count), some, many, sizes)
    in_shared, in_memory, largest, _ = sizes.get().tolist()
    if in_shared:
        blocks = min(in_shared, 8 * attribute("MultiProcessorCount"))
        kernel = instance("some_groups", dtype)
        launch_blocks(kernel, blocks, THREADS, 0, groups, some, sizes)
    if in_memory:
        room = 2 << (largest - 1).bit_length()
        blocks = max(1, min(in_memory, ROOM // room, 4 * attribute("MultiProcessorCount")))
        tables = cupy.empty(blocks * room, dtype), cupy.empty(blocks * room, "int64")
        kernel = instance("many_groups", dtype)
        launch_blocks(kernel, blocks, THREADS, 0, groups, many, np.uint64(room), *tables, sizes)
    return found
