"""Groups of neighbors on the device."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphflow.kernels import index_dtype, joined
from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.device_peers import MEETINGS, MEMBERS, address, gang, pointers_of
from dask_graphflow.kernels.launching import (
    attribute,
    gang_blocks,
    launch,
    launch_blocks,
    launch_gang,
    launch_resident,
    read,
)
from dask_graphflow.kernels.sources import THREADS, instance

# As in groups.cu: the maximum edges of a row without a table, and with a table in shared memory.
SOME, MANY = 32, 1 << 10
# Maximum bytes of all tables in global memory. There is at least one table, whatever its size.
ROOM = 1 << 31

PER_TABLE = 1 << 14  # as in tables.cuh: the maximum edges of an item without a joint table
PARTS = 64  # maximum parts of an item with a joint table
# As in sweep.cu and between.cu: numbers of a sweep's progress after its meetings, and of a sum's.
PROGRESS, SUMMING = 2 + 2 * 8 * 5, 1 + 2 * 4
BLOCKS, FIXED = 2, 1 << 12  # blocks per multiprocessor, and bytes that each uses beside its tables
BUSY = 1 << 12  # edges that keep a block of a gang busy
EACH = 8  # edges per thread of other launches
PAIRS = 1 << 27  # maximum pairs of groups that have room before they are copied to their rows

_GROUPS = np.dtype([("arrays", "u8", 15), ("factor", "f8")])
_ROOM = np.dtype([("arrays", "u8", 11), ("parts", "u4"), ("slots", "u4")])
_SWEEP = np.dtype(
    [
        *((name, "u8") for name in ("ranks", "draw", "order", "movers")),
        ("columns", "u8", (5, MEMBERS)),
        ("room", _ROOM),
    ]
)
_LISTED = np.dtype([("arrays", "u8", 10), ("sizes", "u8", 2)])
_BETWEEN = np.dtype([("arrays", "u8", 13), ("room", _ROOM)])


def best_groups(
    sides, labels, vertices=None, masses=None, limits=None, skew=None, *, tables, threads=1
):
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
    arrays += vertices, labels, mass, load, *(skew or (None, None)), within, closed, best_labels
    groups = np.array((_pointers(*arrays), factor), _GROUPS)
    weighted = any(rows.weights is not None for rows in sides)
    rule = "SCORE" if masses else "SUM" if weighted else "COUNT"

    edges = sum(len(rows.ends) for rows in sides)
    some, many = (cupy.empty(min(count, edges // least) + 1, dtype) for least in (SOME, MANY))
    sizes = cupy.zeros(4, "int64")
    kernel = instance("few_groups", dtype, rule)
    launch(kernel, count, groups, count, some, many, sizes)
    in_shared, in_memory, largest, _ = read(sizes).tolist()
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
        launch_blocks(kernel, blocks, THREADS, 0, groups, many, room, *hash_tables, sizes)
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


# All classes take one launch, and the host reads a few numbers.
def sweep(
    rows, labels, masses, draw, awake, within=None, skew=None, *, room, threads=1, shared=None
):
    count, dtype, (mass, load, factor) = len(rows.offsets) - 1, labels.dtype, masses
    if not count and shared is None:
        return 0
    kernel = instance("sweep", dtype, "false" if within is None else "true")
    nbytes = _slots(dtype) * _slot_bytes(dtype)
    blocks = max(1, min(gang_blocks(kernel, nbytes), -(-(count + len(rows.ends)) // BUSY)))
    if room.get("offsets") is not rows.offsets:
        longest = int(read(cupy.diff(rows.offsets).max())) if count else 0
        room["offsets"], room["longest"] = rows.offsets, longest
    tables = _tables_for(room, room["longest"], len(labels), blocks, dtype)
    order, best, movers, alone = _lists(room, count, dtype)
    turn, turns = skew or (None, None)
    if shared is None:
        members, columns = gang(0, 1, [0, count]), (awake, labels, load, turns, alone)
    else:
        members, columns, alone = shared.memory.gang, shared[1:], shared.alone.own
    ranks, seed = draw[0].astype(dtype, copy=False), draw[1] % 2**64
    ends = rows.ends.astype(dtype, copy=False)
    # The kernel indexes arrays of this member's vertices by numbers.
    by_number = [
        0 if array is None else (address(array) - rows.first * array.itemsize) % 2**64
        for array in (rows.offsets, mass, turn, ranks)
    ]
    closed = None if within is None else alone
    arrays = by_number[0], *_pointers(ends, rows.weights), 0, 0, 0, *_pointers(order, labels)
    arrays = *arrays, by_number[1], *_pointers(load), by_number[2], *_pointers(turns)
    groups = np.array(((*arrays, *_pointers(within, closed, best)), factor), _GROUPS)
    lists, pointers = _pointers(order, movers), [pointers_of(column) for column in columns]
    about = np.array((by_number[3], seed, *lists, pointers, tables), _SWEEP)
    progress = cupy.zeros(MEETINGS.itemsize // 8 + PROGRESS, "int64")
    launch_gang(kernel, members, groups, about, progress, blocks=blocks, shared=nbytes)
    after = read(progress[: MEETINGS.itemsize // 8]).view(MEETINGS)[0]
    if shared is not None:
        shared.memory.check(after["failed"])
    return int(after["told"]["everywhere"])


def _lists(room: dict[Any, Any], count: int, dtype: Any) -> list[Any]:
    """Return three arrays with an item per vertex, and one of bytes that are 0."""
    if ("lists", dtype) not in room or len(room["lists", dtype][0]) < count:
        room["lists", dtype] = [*cupy.empty((3, count), dtype), cupy.zeros(count, "uint8")]
    return room["lists", dtype]  # type: ignore[no-any-return]


def _tables_for(
    room: dict[Any, Any], longest: int, labels: int, blocks: int, dtype: Any
) -> tuple[list[int], int, int]:
    """Return tables in global memory as tables.cuh takes them, if the longest item needs them."""
    own, joint, slots = (0, 0), (0, 0), _slots(dtype)
    parts = min(-(-longest // PER_TABLE), PARTS)
    if longest > slots // 2:
        own = blocks, 2 << (min(longest, PER_TABLE) - 1).bit_length()
    if longest > PER_TABLE:
        # While the last parts of some items are summed, the next ones begin.
        joint = max(1, 2 * blocks // parts), 2 << (min(longest, labels) - 1).bit_length()
    arrays = [*_empty(room, "own", *own, dtype), *_empty(room, "joint", *joint, dtype)]
    return arrays, parts, slots


def _slots(dtype: Any) -> int:
    """Return how many slots the tables of a block have in shared memory."""
    each = attribute("MaxSharedMemoryPerMultiprocessor") // BLOCKS
    most = min(each, attribute("MaxSharedMemoryPerBlockOptin")) - FIXED
    return 1 << (most // _slot_bytes(dtype)).bit_length() - 1


def _slot_bytes(dtype: Any) -> int:
    return int(dtype.itemsize + np.dtype("int64").itemsize)


def _empty(room: dict[Any, Any], name: str, count: int, slots: int, dtype: Any) -> list[int]:
    """Return up to `count` empty tables, kept in `room`; for joint ones, also their turns."""
    if not slots:
        return [0] * (6 if name == "joint" else 5)
    dtypes = dtype, np.dtype("int64"), np.dtype("uint32")
    count = max(1, min(count, ROOM // (slots * sum(one.itemsize for one in dtypes))))
    if (name, dtype) not in room or len(room[name, dtype][0]) < count * slots:
        room.pop((name, dtype), None)  # before the new ones take memory
        _, (keys, sums, used) = _tables(count, slots, dtypes)
        keys.fill(-1)
        sums.fill(0)
        room[name, dtype] = keys, sums, used
    count = min(count, len(room[name, dtype][0]) // slots)
    made = [*_pointers(*room[name, dtype]), count, slots]
    if name == "joint":
        room["turns"] = cupy.zeros((count, 3), "uint32")
        made += _pointers(room["turns"])
    return made


def _pointers(*arrays: Any) -> list[int]:
    return [0 if array is None else array.data.ptr for array in arrays]


def numbered(labels, load):
    kernel = instance("number_groups", labels.dtype)
    size, groups = len(labels), len(load)
    blocks = max(1, min(gang_blocks(kernel), -(-(size + groups) // BUSY)))
    numbers, mass, totals = (cupy.empty(n, "int64") for n in (groups + 1, groups, blocks))
    holder, arrived = cupy.empty_like(labels), cupy.zeros(1, "uint32")
    arrays = numbers, holder, mass, totals, arrived
    launch_gang(kernel, labels, size, load, groups, *arrays, blocks=blocks)
    count = int(read(numbers[groups:])[0])
    return holder.astype(index_dtype(count), copy=False), mass[:count].copy()


def sums_between(rows, number, count, *, threads=1):
    dtype, offsets = number.dtype, cupy.zeros(count + 1, "int64")
    members, total, longest = _members(rows, number, count)
    if not total:
        return Rows(offsets, cupy.empty(0, dtype), cupy.empty(0, "int64"), 0)
    kernel = instance("sum_between", dtype)
    shared = _slots(dtype) * _slot_bytes(dtype)
    blocks = min(gang_blocks(kernel, shared), -(-len(rows.ends) // BUSY))
    cuts = [0, count]
    if total > PAIRS:
        inner = cupy.searchsorted(members[-1], cupy.arange(PAIRS, total, PAIRS)).tolist()
        cuts = sorted({0, *inner, count})
    work = [cupy.empty(count, dtype), offsets, cupy.empty(blocks, "int64")]
    most = min(total, PAIRS + min(longest, count))
    work += cupy.empty(most, dtype), cupy.empty(most, "int64")
    ends = rows.ends.astype(dtype, copy=False)
    room: dict[Any, Any] = {}
    arrays = _pointers(rows.offsets, ends, rows.weights, number, *members, *work)
    new_ends, new_weights, done = [], [], 0
    for low, high in itertools.pairwise(cuts):
        between = np.array((arrays, _tables_for(room, longest, count, blocks, dtype)), _BETWEEN)
        part = between, low, high
        launch_gang(kernel, *part, cupy.zeros(SUMMING, "int64"), blocks=blocks, shared=shared)
        size = int(read(offsets[high : high + 1])[0]) - done
        done += size
        new_ends.append(cupy.empty(size, dtype))
        new_weights.append(cupy.empty(size, "int64"))
        launch(instance("copy_rows", dtype), size // EACH, *part, new_ends[-1], new_weights[-1])
    del work, room
    return Rows(offsets, joined(new_ends), joined(new_weights), 0)


def _members(rows: Rows, number: Any, count: int) -> tuple[list[Any], int, int]:
    """List the vertices by group, as between.cu describes.

    Return the arrays, the largest possible number of pairs of groups, and the most edges of a group.
    """
    vertices, dtype = len(rows.offsets) - 1, number.dtype
    kernel = instance("list_members", dtype)
    blocks = min(gang_blocks(kernel), -(-(vertices + count) // BUSY))
    places, members = cupy.empty((2, vertices), dtype)
    first, begins = cupy.zeros(count + 1, "int64"), cupy.empty(vertices + 1, "int64")
    # The last item is the largest number of edges of a group; the item before it is the total.
    bounds, totals = cupy.empty(count + 2, "int64"), cupy.empty(blocks, "int64")
    largest, arrived = bounds[count + 1 :], cupy.zeros(1, "uint32")
    largest[:] = 0
    made = places, members, first, begins, bounds, totals, largest, arrived
    arrays = _pointers(rows.offsets, number, *made)
    launch_gang(kernel, np.array((arrays, (vertices, count)), _LISTED), blocks=blocks)
    total, longest = read(bounds[count:]).tolist()
    return [members, first, begins, bounds[: count + 1]], total, longest


def weight_between(rows, labels, *, threads=1):
    total, ends = cupy.zeros(1, "int64"), rows.ends.astype(labels.dtype, copy=False)
    if len(ends):
        weights = rows.weights
        size = len(rows.offsets) - 1
        kernel = instance("weight_between", labels.dtype)
        launch_resident(kernel, len(ends) // EACH, rows.offsets, ends, weights, size, labels, total)
    return int(read(total)[0])


def edges_inside(rows, labels):
    dtype, count = labels.dtype, cupy.zeros(1, "int64")
    ends = rows.ends.astype(dtype, copy=False)
    source, target = cupy.empty((2, len(ends)), dtype)
    if len(ends):
        size, first = len(rows.offsets) - 1, dtype.type(rows.first)
        kernel = instance("edges_inside", dtype)
        into = source, target, count
        launch(kernel, len(ends) // EACH, rows.offsets, ends, size, first, labels, *into)
    found = int(read(count)[0])
    return source[:found], target[:found]
