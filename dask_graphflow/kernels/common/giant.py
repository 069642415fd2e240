"""Skip the edges inside the giant, the tree that contains most edges once a sample has been hooked.

``giant.cu`` describes the method.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any, NamedTuple

import cupy
import numpy as np

from dask_graphflow.kernels.launching import attribute, blocks_for, launch, launch_blocks
from dask_graphflow.kernels.sources import FILTER_THREADS, THREADS, instance

COUNTED = 1 << 22  # maximum number of edges whose ends are counted to find hubs
ROOM = 1 << 22  # minimum capacity of a list, in edges; an eighth of the vertices if that is more
TURNS = 6  # maximum turns of the filter; its list is hooked while the next turn runs
TURN = 1 << 25  # edges for which another turn is worthwhile
FILTERED = 256  # a filter takes a multiple of this number of edges

_DIVISOR = np.dtype([("by", "u4"), ("magic", "u4"), ("shift", "u4")])


def worth_it(parent: Any, source: Any, target: Any, base: int) -> bool:
    """Return whether the filter can take these edges, and whether they are enough to look for a giant."""
    limits = np.iinfo(np.int32)
    # The filter subtracts the base from int32 ids in 32 bits, so the ids of all vertices have to fit int32.
    ids_fit = source.dtype == np.int64 or limits.min <= base <= limits.max + 1 - len(parent)
    aligned = (source.data.ptr - target.data.ptr) % 16 == 0
    return bool(
        parent.dtype == np.int32 and ids_fit and aligned and len(source) >= max(len(parent), ROOM)
    )


class Giant(NamedTuple):
    """The giant of a forest, as arrays on the device. They stay valid when more edges are hooked."""

    # Array of int64, shape (2,). The root of the giant, or -1 if there is none, and the number of edges to
    # hook without the filter: 0 if there is a giant, else all.
    description: Any
    # Array of uint32. One bit per vertex, which is set if edges that are hooked or listed connect it with
    # the giant.
    members: Any
    # Divisor, array of uint8. The number of slots of the table of hubs, and the table.
    slots: Any
    hubs: Any

    def exists(self) -> bool:
        """Return whether there is a giant. This waits for the device."""
        return int(self.description[0]) >= 0


def find_giant(parent: Any, source: Any, target: Any, base: int) -> Giant:
    """Find the giant of a forest of flat trees by the ends of some edges."""
    size = len(parent)
    description = cupy.empty(2, "int64")
    kernel, edges = instance("choose_giant", source.dtype), (source, target, len(source))
    # One block, in which all threads vote.
    launch(kernel, 1, parent, size, *edges, np.int64(base), description)
    members = cupy.empty(-(-size // 32), "uint32")
    launch("mark_giant", size, parent, size, description, members)
    return Giant(description, members, *_hubs(description, members, size, source, target, base))


def hook_outside(
    parent: Any, seen: Any, source: Any, target: Any, base: int, report: Any, giant: Giant
) -> None:
    """Hook the edges that are not inside the giant, or all edges if there is no giant.

    The parameters are those of :meth:`.CommonKernels.hook`; kernels write to `report`. The host does not
    wait, because the description of the giant stays on the device.
    """
    size = len(parent)
    # The filter reads words of 16 bytes, and whole warps of them.
    head = -source.data.ptr % 16 // source.itemsize
    turns = max(1, min(TURNS, len(source) // TURN)) if size > ROOM else 1
    bounds = _turns(head, (len(source) - head) // FILTERED, turns)
    length = cupy.zeros(len(bounds) - 1, "uint64")
    capacity = max(size // 8, ROOM)
    lists = [(cupy.empty(capacity, "int32"), cupy.empty(capacity, "int32")) for _ in bounds[1:3]]
    multiprocessors = attribute("MultiProcessorCount")
    filtering = cupy.cuda.get_current_stream()
    hooking = _beside(cupy.cuda.runtime.getDevice())
    hooked: list[Any] = []
    try:
        for turn, (start, stop) in enumerate(itertools.pairwise(bounds)):
            pairs = lists[turn % 2]
            if turn > 1:
                filtering.wait_event(hooked[turn - 2])
            forest = parent, seen, np.uint32(size)
            edges = source[start:stop], target[start:stop], stop - start, np.int64(base)
            about = giant.description, giant.members, giant.hubs, giant.slots
            into = *pairs, capacity, length[turn:], report
            how = instance("filter", source.dtype), multiprocessors, FILTER_THREADS, len(giant.hubs)
            launch_blocks(*how, *forest, *edges, *about, *into)
            hooking.wait_event(filtering.record())
            with hooking:
                # While the next filter runs, there is room for one block per multiprocessor. More blocks
                # would keep the filter from starting.
                blocks = multiprocessors if stop < bounds[-1] else blocks_for(capacity)
                queue_hook(parent, None, *pairs, 0, report, length=length[turn:], blocks=blocks)
                hooked.append(hooking.record())
    finally:  # after this event, the lists are free and the forest contains all hooked edges
        filtering.wait_event(hooking.record())
    for rest in (slice(0, head), slice(bounds[-1], None)):
        if len(source[rest]):
            queue_hook(parent, seen, source[rest], target[rest], base, report)
    queue_hook(parent, seen, source, target, base, report, length=giant.description[1:])


def _turns(first: int, units: int, turns: int) -> list[int]:
    """Return the bounds of the parts of the edges for each turn; their sizes are multiples of FILTERED.

    The first parts are small: nearly all of their edges are listed, and the list has to have room for them.
    """
    return [first + units * turn**2 // turns**2 * FILTERED for turn in range(turns + 1)]


@cache
def _beside(device: int) -> Any:
    """Return a stream of the device that runs concurrently with the others."""
    return cupy.cuda.Stream(non_blocking=True)


def queue_hook(
    parent: Any,
    seen: Any,
    source: Any,
    target: Any,
    base: int,
    report: Any,
    *,
    step: int = 1,
    length: Any = None,
    blocks: int | None = None,
) -> None:
    """Queue a kernel that hooks all edges, a sample, or as many as the device array `length` says."""
    kernel = instance("hook", parent.dtype, source.dtype)
    blocks = blocks or blocks_for(max(len(source) // step, 1))
    edges = source, target, len(source), length, np.int64(base), step
    launch_blocks(kernel, blocks, THREADS, 0, parent, seen, len(parent), *edges, report)


def _hubs(
    giant: Any, members: Any, size: int, source: Any, target: Any, base: int
) -> tuple[Any, Any]:
    """Return the number of slots of the table of hubs, as a divisor, and the table."""
    # Not all of the shared memory: with almost no L1 left, loads would queue for its few sets.
    slots = _divisor(attribute("MaxSharedMemoryPerBlockOptin") * 13 // 16 // 16 * 16)
    hubs = cupy.empty(int(slots["by"]), "uint8")
    counts = cupy.zeros(size, "uint8")
    counted = min(max(size // 16, 1 << 20), COUNTED)
    step = max(1, len(source) // counted)
    kernel, edges = instance("count_ends", source.dtype), (source, target, len(source))
    items, first = min(len(source), counted), np.int64(base)
    launch(kernel, items, counts, size, *edges, first, step, giant)
    launch("pick_hubs", len(hubs), counts, size, giant, members, slots, hubs)
    return slots, hubs


def _divisor(by: int) -> Any:
    """Return a divisor for kernels: floor(x / by) is the high half of a product, shifted."""
    shift = (by - 1).bit_length() - 1
    return np.array((by, -(-(1 << (32 + shift)) // by), shift), _DIVISOR)
