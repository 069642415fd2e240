"""Breadth-first search on the device.

In a pull, one lane takes a vertex and its first neighbors, a warp takes the rest of a long row, and a block
the rest of a very long row. In a push, all warps have the same number of edges. :func:`bfs_levels` pushes
one level after another in a single launch. One block does small levels, and all blocks do larger levels,
with a barrier between them. The host waits once per call, and after many levels also for their sizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.advance.device import gather_degrees
from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.csr import Reached, Rows
from dask_graphflow.kernels.device_bitmap import COUNTS, LEAVING, OWNED, add_words, of_owned
from dask_graphflow.kernels.device_peers import (
    MEETINGS,
    MEMBERS,
    TELLING,
    address,
    align,
    gang,
    meet,
    meetings,
    pointers_of,
    spread,
)
from dask_graphflow.kernels.launching import launch, launch_gang, read
from dask_graphflow.kernels.sources import instance

UNSEEN = -1  # the level of a vertex that was not reached
SMALL_FRONTIER = 1 << 18  # maximum edges that leave a frontier in a launch of many levels
FUSED = {"push": SMALL_FRONTIER, "pull": -1}  # a launch of many levels only pushes
LONG = 1 << 11  # maximum edges of a row in such a launch, where a single warp takes a long row
SPAN = 1 << 14  # maximum levels of such a launch, since other work may wait for it to end
FEW = 100  # levels whose numbers are read together with the state
EVERY = None, None  # the condition on edges if there is none
GIVEN_UP = 1 << 11  # edges of a row after which search.cu leaves the rest to a block

# The structs in search.cu.
_GOING = np.dtype(
    [
        ("meetings", MEETINGS),
        *((name, "i8") for name in ("depth", "steps", "most_steps", "most_edges", "longest")),
        *((name, "i8") for name in ("dense", "left", "shrinking")),
    ]
)
_SEARCHING = np.dtype(
    [
        *((name, "u8") for name in ("offsets", "ends")),
        *((name, "u8", MEMBERS) for name in ("lists", "predecessors", "levels", "degrees")),
    ]
)


def bfs_pull(rows, frontier, following, reached, depth, degrees, *, threads=1, shared=None):
    if shared is not None:
        spread(shared.memory.gang, frontier, shared.front)
        frontier = shared.front.own
        align(shared.memory)
    count, report = len(rows.offsets) - 1, cupy.zeros(COUNTS, "uint64")
    rests = cupy.empty((min(count, len(rows.ends) // GIVEN_UP + 1), 2), "int64")
    state = frontier, following, *reached, np.int32(depth), of_owned(degrees), rests, report
    if count:
        kernel = instance("bfs_pull", rows.ends.dtype)
        launch(kernel, count, *rows[:2], count, rows.first, *state)
        kernel = instance("bfs_pull_rest", rows.ends.dtype)
        launch(kernel, len(rests) * 256, *rows[:2], rows.first, *state)
    if shared is not None:
        told = meet(shared.memory, report=report)
        return int(told["here"]), (int(told["everywhere"]), int(told["edges"]))
    counts = read(report).tolist()
    return counts[OWNED], counts[LEAVING]


def bfs_push(rows, frontier, reached, depth, *, threads=1):
    return _push(EVERY, rows, frontier, reached, depth)


def _push(
    condition: tuple[Any, Any], rows: Rows, frontier: Any, reached: Reached, depth: int
) -> Any:
    """Push along some edges; see :func:`bfs_push`, and :func:`near` for the condition."""
    fresh, count = cupy.empty(len(reached.level), rows.ends.dtype), cupy.zeros(1, "int64")
    if not len(frontier):
        return fresh[:0]
    costs = gather_degrees(rows.offsets, frontier - rows.first if rows.first else frontier)
    kernel = instance("bfs_push", rows.ends.dtype, getattr(condition[1], "dtype", None))
    given = frontier, costs, len(frontier), *reached, np.int32(depth), fresh, count
    launch(kernel, len(rows.ends) // 8, *condition, *rows[:2], rows.first, *given)
    return fresh[: int(read(count)[0])]


def bfs_levels(sides, frontier, reached, depth, plan, *, threads=1, shared=None):
    how = {"levels": plan.levels, "dense": plan.rule[:3], "shared": shared}
    *found, sizes, edges = near(EVERY, sides[0], frontier, reached, depth, **how)
    return *found, sizes, edges, np.zeros(len(sizes), bool)


def bfs_push_to_all(
    rows: Rows, frontier: Any, reached: Reached, depth: int, *, shared: Any
) -> tuple[Any, tuple[int, int]]:
    """Push one level to the vertices of all members; see :func:`bfs_levels`."""
    if shared.list(frontier):
        align(shared.memory, tail=shared.end)
    sent, kernel = (
        cupy.zeros(TELLING.itemsize // 8, "int64"),
        instance("bfs_push_to_all", rows.ends.dtype),
    )
    if len(frontier):
        search = _searching(rows, shared.lists, shared.predecessors, shared.levels, shared.degrees)
        costs = gather_degrees(rows.offsets, frontier)
        given = frontier, costs, len(frontier), np.int32(depth), sent
        launch(kernel, len(rows.ends) // 8, shared.memory.gang, search, *given)
    told = meet(shared.memory, sent=sent)
    found = shared.found(shared.end, int(told["here"]))
    mark_seen(reached.seen, found)
    return found, (int(told["everywhere"]), int(told["edges"]))


def _searching(rows: Rows, *columns: Any) -> np.ndarray:
    pointers = address(rows.offsets), address(rows.ends), *map(pointers_of, columns)
    return np.array(pointers, _SEARCHING)


def near(
    condition: tuple[Any, Any],
    rows: Rows,
    frontier: Any,
    reached: Reached,
    depth: int,
    *,
    levels: int,
    dense: tuple[int, int, bool],
    shared: Any = None,
) -> tuple[Any, tuple[int, int] | None, np.ndarray, np.ndarray]:
    """Continue a search along some edges; see :func:`bfs_levels`.

    The condition is :data:`EVERY`, or a distance per vertex and a weight per edge: only edges between two
    vertices at the same distance count, and only if the weight does not change it.
    """
    count, levels = len(frontier), min(levels, SPAN)
    if shared is None:
        members, begin = gang(0, 1, [0, len(reached.level)]), 0
        queue = cupy.empty(count + len(reached.level), rows.ends.dtype)
        queue[:count] = frontier
        columns = queue, reached.predecessor, reached.level, rows.offsets
    else:
        shared.list(frontier)
        members, begin, queue = shared.memory.gang, shared.end - count, shared.lists.own
        columns = shared.lists, shared.predecessors, shared.levels, shared.degrees
    going = np.zeros(1, _GOING)
    state = going["meetings"]
    state[:], state["begin"] = meetings(), begin
    state["telling"]["sent"][0, 0, members["rank"]] = count
    for name, value in {
        "depth": depth - 1, "most_steps": levels, "most_edges": SMALL_FRONTIER,
        "longest": LONG, "dense": dense[0], "left": dense[1], "shrinking": dense[2],
    }.items():  # fmt: skip
        going[name] = value
    # The state of the launch, followed by the sizes and edges of its levels.
    words = _GOING.itemsize // 8
    there = cupy.zeros(words + 2 * levels, "int64")
    there[:words].set(going.view("i8"))
    kernel = instance("bfs_run", rows.ends.dtype, getattr(condition[1], "dtype", None))
    launch_gang(kernel, *condition, members, _searching(rows, *columns), there, there[words:])
    numbers = read(there[: words + 2 * min(levels, FEW)])
    done = numbers[:words].view(_GOING)[0]
    state, steps = done["meetings"], int(done["steps"])
    total = int(state["told"]["everywhere"]), int(state["told"]["edges"])
    if shared is not None:
        shared.memory.check(state["failed"])
    if not steps:  # a large level or a long row
        level = np.array([total[0]]), np.array([total[1]])
        if shared is not None:
            return *bfs_push_to_all(rows, frontier, reached, depth, shared=shared), *level
        fresh = _push(condition, rows, frontier, reached, depth)
        mark_seen(reached.seen, fresh)
        return fresh, None, *level
    mark_seen(reached.seen, queue[begin + count : int(state["end"])])
    begin, end = int(state["begin"]), int(state["end"])
    trace = numbers[words : words + 2 * steps]
    if steps > FEW:
        trace = there[words : words + 2 * steps].get()
    sizes, edges = trace.reshape(-1, 2).T
    fresh = queue[begin:end].copy() if shared is None else shared.found(begin, end - begin)
    return fresh, total, sizes, edges


def mark_seen(seen, vertices):
    add_words(seen, vertices)


# A superstep with few vertices takes as long as its launches, so one launch counts everything that the host
# needs.
def reach(rows, frontier, reached, depth, degrees, *, edges, low, names=None, threads=1):
    if not edges:
        return frontier[:0], 0, frontier[:0]
    dtype, owned = rows.ends.dtype, len(degrees)
    (seen, predecessor, level), most = reached, min(edges, len(reached.level))
    fresh, own, mirrors = cupy.empty((3, most), dtype)
    counts = cupy.zeros(4, "uint64")
    items, costs = len(rows.ends) // 8, gather_degrees(rows.offsets, frontier)
    given = frontier, costs, len(frontier), *reached, np.int32(depth), fresh, counts
    kernel = instance("bfs_push", dtype, None)
    launch(kernel, items if edges > len(level) else edges, *EVERY, *rows[:2], 0, *given)
    first = dtype.type(low if names is None else 0)
    given = fresh, counts, owned, first, rows.offsets, seen, predecessor
    launch(instance("part_found", dtype), most, *given, own, mirrors)
    count, mine, away, leaving = read(counts).tolist()
    if names is not None:
        predecessor[fresh[:count]] = names[predecessor[fresh[:count]]]
    mirrors = mirrors[:away]
    if away:
        mirrors.sort()
    return own[:mine], leaving, mirrors


def take_offers(rows, vertices, offers, reached, depth, degrees):
    dtype = reached.predecessor.dtype
    fresh, counts = cupy.empty(len(vertices), dtype), cupy.zeros(2, "uint64")
    kernel, count = instance("take_offers", dtype), len(vertices)
    given = vertices.astype(dtype, copy=False), offers, count, np.int32(depth), rows.offsets
    launch(kernel, count, *given, *reached, fresh, counts)
    count, edges = read(counts).tolist()
    return fresh[:count], edges
