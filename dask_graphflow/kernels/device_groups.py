"""Groups of neighbors on the device; :mod:`.host_groups` has the twin."""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import namespace as cupy
from .device_rows import owners as row_owners
from .host_rows import Rows
from .launching import attribute, launch, launch_blocks
from .sources import THREADS, instance

__all__ = ["best_groups", "sums_between"]

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
    known: dict[int, Any],
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


def sums_between(rows: Rows, number: Any, place: Any, *, threads: int = 1) -> tuple[Any, Any, Any]:
    """Return the sums of the weights of edges between groups of vertices; each pair of groups once."""
    owners = row_owners(rows._replace(first=0), rows.ends.dtype)
    source, target = number[owners], number[rows.ends]
    inside = (source == target) & (place[owners] <= place[rows.ends])
    once = inside | (source < target)
    if rows.weights is not None:
        once &= rows.weights != 0
    del owners, inside
    source, target = source[once], target[once]
    if not len(source):
        return source, target, source.astype("int64")
    pairs = source.astype("int64") * (int(number.max()) + 1) + target
    # The sums of whole numbers up to each edge are exact, so their differences are too.
    order, before = cupy.argsort(pairs), cupy.arange(len(pairs) + 1)
    if rows.weights is not None:
        cupy.cumsum(rows.weights[once][order], out=before[1:])
    pairs = pairs[order]
    first = cupy.flatnonzero(cupy.concatenate([pairs[:1] >= 0, pairs[1:] != pairs[:-1]]))
    last = cupy.concatenate([first[1:], cupy.array([len(pairs)])])
    return source[order[first]], target[order[first]], before[last] - before[first]
