"""Groups of neighbors on the device; :mod:`.host_groups` has the host version."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import joined
from .csr import Rows
from .device import namespace as cupy
from .launching import NULL, attribute, gang_blocks, launch, launch_blocks, launch_gang
from .sources import THREADS, instance

# As in cuda/groups.cu: the maximum edges of a row without a table, and with a table in shared memory.
SOME, MANY = 32, 1 << 10
# Maximum bytes of all tables in global memory. There is at least one table, whatever its size.
ROOM = 1 << 31

# As in cuda/sweep.cu: the numbers of a sweep's progress; and the edges that keep a block busy.
PROGRESS, BUSY = 2 + 3 * 32, 1 << 12
# The most entries in the table of cuda/between.cu, if no group needs more. The table then stays in L2.
SLICE = 1 << 19
EACH = 8  # edges per thread of a launch
# The most pairs of groups that have room before they are copied to their rows.
PAIRS = 1 << 27

_GROUPS = np.dtype([("arrays", "u8", 13), ("factor", "f8")])
_SWEEP = np.dtype(
    [("ranks", "u8"), ("vertices", "u8"), ("draw", "u8"), ("arrays", "u8", 9), ("tables", "u8", 2)]
)
_MEMBERS = np.dtype([("arrays", "u8", 10), ("sizes", "u8", 2)])
_BETWEEN = np.dtype([("arrays", "u8", 16), ("groups", "u8"), ("width", "u4"), ("slots", "u4")])


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


def sweep(
    rows: Rows,
    labels: Any,
    masses: tuple[Any, Any, float],
    draw: tuple[Any, int],
    awake: Any,
    within: Any = None,
    *,
    room: dict[Any, Any],
    threads: int = 1,
) -> int:
    """Move vertices to the labels with the best scores, class after class; see :func:`.host_groups.sweep`.

    All classes take one launch, and the host reads one number.
    """
    count, dtype, (mass, load, factor) = len(labels), labels.dtype, masses
    if not count:
        return 0
    kernel = instance("sweep", dtype, "false" if within is None else "true")
    blocks = min(gang_blocks(kernel), -(-(count + len(rows.ends)) // BUSY))
    order, best, movers, alone = _lists(room, count, dtype)
    tables, slots, keys, sums, used = _empty_tables(room, rows, blocks, dtype)
    ends, weights = rows.ends.astype(dtype, copy=False), rows.weights
    ranks, seed = draw[0].astype(dtype, copy=False), draw[1] % 2**64
    sides = rows.offsets, ends, weights, None, None, None
    groups = np.array(
        (_pointers(*sides, order, labels, mass, load, within, alone, best), factor), _GROUPS
    )
    arrays = _pointers(awake, labels, load, order, movers, alone, keys, sums, used)
    about = np.array((*_pointers(ranks), count, seed, arrays, (tables, slots)), _SWEEP)
    progress = cupy.zeros(PROGRESS, "int64")
    launch_gang(kernel, groups, about, progress, blocks=blocks)
    return int(progress[0])


def _lists(room: dict[Any, Any], count: int, dtype: Any) -> list[Any]:
    """Return three arrays with an item per vertex, and one of bytes that are 0."""
    if ("lists", dtype) not in room or len(room["lists", dtype][0]) < count:
        room["lists", dtype] = [*cupy.empty((3, count), dtype), cupy.zeros(count, "uint8")]
    return room["lists", dtype]  # type: ignore[no-any-return]


def _empty_tables(room: dict[Any, Any], rows: Rows, blocks: int, dtype: Any) -> tuple[Any, ...]:
    """Return tables of blocks for the rows that are too long for shared memory.

    Return the number of tables, their slots, and their arrays, which are empty.
    """
    if room.get("offsets") is not rows.offsets:
        room["offsets"], room["longest"] = rows.offsets, int(cupy.diff(rows.offsets).max())
    if room["longest"] <= MANY:
        return 0, 0, None, None, None
    slots = 2 << (room["longest"] - 1).bit_length()
    held = room.get(("tables", dtype), ([],))
    if len(held[0]) < slots:
        dtypes = dtype, np.dtype("int64"), np.dtype("uint32")
        fitting = ROOM // (slots * sum(one.itemsize for one in dtypes))
        room.pop(("tables", dtype), None)
        _, held = _tables(max(1, min(blocks, fitting)), slots, dtypes)
        held[0].fill(-1)
        held[1].fill(0)
        room["tables", dtype] = held
    return min(blocks, len(held[0]) // slots), slots, *held


def _pointers(*arrays: Any) -> list[int]:
    return [0 if array is None else array.data.ptr for array in arrays]


def sums_between(rows: Rows, number: Any, count: int, *, threads: int = 1) -> Rows:
    """Return rows of groups of vertices; see :func:`.host_groups.sums_between`."""
    dtype, offsets = number.dtype, cupy.zeros(count + 1, "int64")
    members, total, largest = _members(rows, number, count)
    if not total:
        return Rows(offsets, cupy.empty(0, dtype), cupy.empty(0, "int64"), 0)
    slots = 2 << (max(min(total, SLICE), largest) - 1).bit_length()
    kernel = instance("sum_between", dtype)
    blocks = min(gang_blocks(kernel), -(-total // BUSY))
    cuts = [0, count]
    if total > PAIRS:
        inner = cupy.searchsorted(members[-1], cupy.arange(PAIRS, total, PAIRS)).tolist()
        cuts = sorted({0, *inner, count})
    into = cupy.empty(min(total, PAIRS + largest), dtype)
    weights = cupy.empty(len(into), "int64")
    work = (
        cupy.full(slots, -1, "int64"),
        cupy.zeros(slots, "int64"),
        cupy.empty(slots, "uint32"),
        offsets,
        cupy.empty(blocks, "int64"),
        into,
        weights,
        cupy.zeros(1, "uint32"),
    )
    ends = rows.ends.astype(dtype, copy=False)
    arrays = _pointers(rows.offsets, ends, rows.weights, number, *members, *work)
    between = np.array((arrays, count, count.bit_length(), slots), _BETWEEN)
    into_rows, sums, done = [], [], 0
    for low, high in itertools.pairwise(cuts):
        launch_gang(kernel, between, np.uint64(low), np.uint64(high), blocks=blocks)
        size, done = int(offsets[high]) - done, int(offsets[high])
        into_rows.append(into[:size].copy())
        sums.append(weights[:size].copy())
    del into, weights, work
    return Rows(offsets, joined(into_rows), joined(sums), 0)


def _members(rows: Rows, number: Any, count: int) -> tuple[list[Any], int, int]:
    """List the vertices by group, as cuda/between.cu describes.

    Return the arrays, and the largest possible number of pairs of groups, of all groups and of a group.
    """
    vertices, dtype = len(rows.offsets) - 1, number.dtype
    kernel = instance("list_members", dtype)
    blocks = min(gang_blocks(kernel), -(-(vertices + count) // BUSY))
    places, members = cupy.empty((2, vertices), dtype)
    first, begins = cupy.zeros(count + 1, "int64"), cupy.empty(vertices + 1, "int64")
    # The last item is the largest number, beside the total of all.
    bounds, totals = cupy.empty(count + 2, "int64"), cupy.empty(blocks, "int64")
    bounds[count + 1 :] = 0
    arrived = cupy.zeros(1, "uint32")
    arrays = (
        rows.offsets,
        number,
        places,
        members,
        first,
        begins,
        bounds,
        totals,
        bounds[count + 1 :],
        arrived,
    )
    launch_gang(kernel, np.array((_pointers(*arrays), (vertices, count)), _MEMBERS), blocks=blocks)
    total, largest = bounds[count:].tolist()
    return [members, first, begins, bounds[: count + 1]], total, largest


def weight_between(rows: Rows, labels: Any, *, threads: int = 1) -> int:
    """Return the weight of the edges between labels; see :func:`.host_groups.weight_between`."""
    total, ends = cupy.zeros(1, "int64"), rows.ends.astype(labels.dtype, copy=False)
    if len(ends):
        weights = NULL if rows.weights is None else rows.weights
        size = np.uint64(len(rows.offsets) - 1)
        kernel = instance("weight_between", labels.dtype)
        launch(kernel, len(ends) // EACH, rows.offsets, ends, weights, size, labels, total)
    return int(total[0])


def edges_inside(rows: Rows, labels: Any) -> tuple[Any, Any]:
    """Return the edges inside groups; see :func:`.host_groups.edges_inside`."""
    dtype, count = labels.dtype, cupy.zeros(1, "int64")
    ends = rows.ends.astype(dtype, copy=False)
    source, target = cupy.empty((2, len(ends)), dtype)
    if len(ends):
        size, first = np.uint64(len(rows.offsets) - 1), dtype.type(rows.first)
        kernel = instance("edges_inside", dtype)
        launch(
            kernel,
            len(ends) // EACH,
            rows.offsets,
            ends,
            size,
            first,
            labels,
            source,
            target,
            count,
        )
    return source[: int(count[0])], target[: int(count[0])]
