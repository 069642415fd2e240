"""Groups of neighbors on the device; :mod:`.host_groups` has the host version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .csr import Rows
from .device import namespace as cupy
from .device_rows import owners as row_owners
from .launching import attribute, launch, launch_blocks
from .sources import THREADS, instance

# As in cuda/groups.cu: the maximum edges of a row without a table, and with a table in shared memory.
SOME, MANY = 32, 1 << 10
# Maximum bytes of all tables in global memory. There is at least one table, whatever its size.
ROOM = 1 << 31

_GROUPS = np.dtype([("arrays", "u8", 13), ("factor", "f8")])


def best_groups(
    sides: Sequence[Rows],
    labels: Any,
    vertices: Any = None,
    masses: tuple[Any, Any, float] | None = None,
    limits: tuple[Any, Any] | None = None,
    *,
    tables: dict[int, Any],
    threads: int = 1,
) -> Any:
    """Return the best label for each of some vertices; see :func:`.host_groups.best_groups`."""
    dtype = labels.dtype
    count = len(sides[0].offsets) - 1 if vertices is None else len(vertices)
    best_labels = cupy.empty(count, dtype)
    if not count:
        return best_labels
    arrays: list[Any] = []
    for rows in sides:
        # The dtype of a member's positions may be narrower than that of numbers.
        arrays += rows.offsets, rows.ends.astype(dtype, copy=False), rows.weights
    arrays += [None] * (6 - len(arrays))
    vertices = None if vertices is None else vertices.astype(dtype, copy=False)
    mass, load, factor = masses or (None, None, 0.0)
    within, closed = limits or (None, None)
    within = None if within is None else within.astype(dtype, copy=False)
    arrays += vertices, labels, mass, load, within, closed, best_labels
    groups = np.array(
        ([0 if array is None else array.data.ptr for array in arrays], factor), _GROUPS
    )
    weighted = any(rows.weights is not None for rows in sides)
    rule = "SCORE" if masses else "SUM" if weighted else "COUNT"

    edges = sum(len(rows.ends) for rows in sides)
    some, many = (cupy.empty(min(count, edges // least) + 1, dtype) for least in (SOME, MANY))
    sizes = cupy.zeros(4, "int64")
    kernel = instance("few_groups", dtype, rule)
    launch(kernel, count, groups, np.uint64(count), some, many, sizes)
    in_shared, in_memory, largest, _ = sizes.get().tolist()
    if in_shared:
        blocks = min(in_shared, 8 * attribute("MultiProcessorCount"))
        kernel = instance("some_groups", dtype, rule)
        launch_blocks(kernel, blocks, THREADS, 0, groups, some, sizes)
    if in_memory:
        room = 2 << (largest - 1).bit_length()
        dtypes = dtype, np.dtype("uint32" if rule == "COUNT" else "int64")
        fitting = ROOM // (room * sum(one.itemsize for one in dtypes))
        blocks = max(1, min(in_memory, fitting, 4 * attribute("MultiProcessorCount")))
        blocks, hash_tables = _tables(blocks, room, dtypes)
        kernel = instance("many_groups", dtype, rule)
        launch_blocks(
            kernel, blocks, THREADS, 0, groups, many, np.uint64(room), *hash_tables, sizes
        )
    return best_labels


def _tables(blocks: int, room: int, dtypes: Sequence[Any]) -> tuple[int, list[Any]]:
    """Allocate tables for at most `blocks` blocks; return the number of blocks that fit, and the tables."""
    while True:
        try:
            return blocks, [cupy.empty(blocks * room, dtype) for dtype in dtypes]
        except MemoryError:
            if blocks == 1:
                raise
            blocks //= 2


def sums_between(rows: Rows, number: Any, count: int, *, threads: int = 1) -> Rows:
    """Return rows of groups of vertices; see :func:`.host_groups.sums_between`."""
    source, target = number[row_owners(rows._replace(first=0), rows.ends.dtype)], number[rows.ends]
    between = source != target
    if rows.weights is not None:
        between &= rows.weights != 0
    source, target = source[between], target[between]
    if not len(source):
        return Rows(cupy.zeros(count + 1, "int64"), target, target.astype("int64"), 0)
    pairs = source.astype("int64") * count + target
    # Running sums of whole numbers are exact, so their differences are exact too.
    order, before = cupy.argsort(pairs), cupy.arange(len(pairs) + 1)
    if rows.weights is not None:
        cupy.cumsum(rows.weights[between][order], out=before[1:])
    pairs = pairs[order]
    first = cupy.flatnonzero(cupy.concatenate([pairs[:1] >= 0, pairs[1:] != pairs[:-1]]))
    last = cupy.concatenate([first[1:], cupy.array([len(pairs)])])
    offsets = cupy.searchsorted(source[order[first]], cupy.arange(count + 1)).astype("int64")
    return Rows(offsets, target[order[first]], before[last] - before[first], 0)


def weight_between(rows: Rows, labels: Any, *, threads: int = 1) -> int:
    """Return the weight of the edges between labels; see :func:`.host_groups.weight_between`."""
    owners = row_owners(rows._replace(first=0), rows.ends.dtype)
    between = labels[owners] != labels[rows.ends]
    return int((between if rows.weights is None else rows.weights[between]).sum())


def edges_inside(rows: Rows, labels: Any) -> tuple[Any, Any]:
    """Return the edges of some rows whose ends have the same label; see :mod:`.host_groups`."""
    owners = row_owners(rows, rows.ends.dtype)
    inside = (owners < rows.ends) & (labels[owners] == labels[rows.ends])
    return owners[inside], rows.ends[inside]
