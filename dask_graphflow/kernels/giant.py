"""Skipping the edges inside the giant, the tree that most edges lie in once a sample was hooked.

See ``cuda/giant.cu`` for how.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any, NamedTuple

import cupy
import numpy as np

from .launching import NULL, attribute, blocks_for, launch, launch_blocks
from .sources import FILTER_THREADS, THREADS, instance

__all__ = ["find_giant", "hook_outside", "queue_hook", "worth_it"]

COUNTED = 1 << 22  # edges whose ends are counted to find hubs, at most
ROOM = 1 << 22  # edges that a list has room for, and at least an eighth of the vertices
TURNS = 6  # of the filter, at most, and of hooking beside the next one what it listed
TURN = 1 << 25  # edges that are worth a turn
FILTERED = 256  # a filter takes a multiple of so many edges

_DIVISOR = np.dtype([("by", "u4"), ("magic", "u4"), ("shift", "u4")])


def worth_it(parent: Any, source: Any, target: Any, base: int) -> bool:
    """Say whether the filter can take these edges, and they are enough to look for a giant first."""
    limits = np.iinfo(np.int32)
    # The filter subtracts the base from an int in 32 bits: no vertex may be past what an int holds.
    told = source.dtype == np.int64 or limits.min <= base <= limits.max + 1 - len(parent)
    fits = parent.dtype == np.int32 and told
    aligned = (source.data.ptr - target.data.ptr) % 16 == 0
    return bool(fits and aligned and len(source) >= max(len(parent), ROOM))


class Giant(NamedTuple):
    """What is known of the giant of a forest, on the device; more hooking does not make it wrong.

    Attributes
    ----------
    found : array of int64, shape (2,)
        A vertex of it, -1 if there is no giant, and how many edges are to be hooked without it.
    members : array of uint32
        A bit for each vertex: connected with the giant by what is hooked or listed.
    slots, hubs : divisor, array of uint8
        The table of hubs, and its number of slots.
    """

    found: Any
    members: Any
    slots: Any
    hubs: Any

    def exists(self) -> bool:
        """Say whether there is one, once the device knows."""
        return int(self.found[0]) >= 0


def find_giant(parent: Any, source: Any, target: Any, base: int) -> Giant:
    """Find the giant of flat trees by some edges' ends."""
    size = len(parent)
    found = cupy.empty(2, "int64")
    launch(
        instance("choose_giant", source.dtype),
        1,  # one block
        parent,
        np.uint64(size),
        source,
        target,
        np.uint64(len(source)),
        np.int64(base),
        found,
    )
    members = cupy.empty(-(-size // 32), "uint32")
    launch("mark_giant", size, parent, np.uint64(size), found, members)
    return Giant(found, members, *_hubs(found, members, size, source, target, base))


def hook_outside(
    parent: Any, seen: Any, source: Any, target: Any, base: int, report: Any, giant: Giant
) -> None:
    """Hook the edges that do not lie inside the giant; all, if there is none.

    The parameters are those of :func:`.device.hook`; `report` is the kernel's. Nothing waits: what
    was found of the giant stays on the device.
    """
    size = len(parent)
    # The filter wants 16-byte words, and whole warps of them.
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
            launch_blocks(
                instance("filter", source.dtype),
                multiprocessors,
                FILTER_THREADS,
                len(giant.hubs),
                parent,
                seen,
                np.uint32(size),
                source[start:stop],
                target[start:stop],
                np.uint64(stop - start),
                np.int64(base),
                giant.found,
                giant.members,
                giant.hubs,
                giant.slots,
                *pairs,
                np.uint64(capacity),
                length[turn:],
                report,
            )
            hooking.wait_event(filtering.record())
            with hooking:
                # Beside the next filter there is room for a block a multiprocessor; more would keep it out.
                blocks = multiprocessors if stop < bounds[-1] else blocks_for(capacity)
                queue_hook(parent, NULL, *pairs, 0, report, length=length[turn:], blocks=blocks)
                hooked.append(hooking.record())
    finally:  # the lists are free then, and what is hooked is in the forest
        filtering.wait_event(hooking.record())
    for rest in (slice(0, head), slice(bounds[-1], None)):
        if len(source[rest]):
            queue_hook(parent, seen, source[rest], target[rest], base, report)
    queue_hook(parent, seen, source, target, base, report, length=giant.found[1:])


def _turns(first: int, units: int, turns: int) -> list[int]:
    """Return where the edges are cut that a filter takes at a time, each a multiple of FILTERED.

    The first parts are small: they are listed nearly whole, and the list is to have room for them.
    """
    return [first + units * turn**2 // turns**2 * FILTERED for turn in range(turns + 1)]


@cache
def _beside(device: int) -> Any:
    """Return a stream of the device that runs beside the others."""
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
    length: Any = NULL,
    blocks: int | None = None,
) -> None:
    """Hook every edge, or a sample, or as many as `length` says on the device."""
    launch_blocks(
        instance("hook", parent.dtype, source.dtype),
        blocks or blocks_for(max(len(source) // step, 1)),
        THREADS,
        0,
        parent,
        seen,
        np.uint64(len(parent)),
        source,
        target,
        np.uint64(len(source)),
        length,
        np.int64(base),
        np.uint64(step),
        report,
    )


def _hubs(
    giant: Any, members: Any, size: int, source: Any, target: Any, base: int
) -> tuple[Any, Any]:
    """Return the table of hubs, and its number of slots as a divisor."""
    # Not all that there is: with next to no L1 left, loads would queue for the few sets that it has.
    slots = _divisor(attribute("MaxSharedMemoryPerBlockOptin") * 13 // 16 // 16 * 16)
    hubs = cupy.empty(int(slots["by"]), "uint8")
    counts = cupy.zeros(size, "uint8")
    counted = min(max(size // 16, 1 << 20), COUNTED)
    step = max(1, len(source) // counted)
    launch(
        instance("count_ends", source.dtype),
        min(len(source), counted),
        counts,
        np.uint64(size),
        source,
        target,
        np.uint64(len(source)),
        np.int64(base),
        np.uint64(step),
        giant,
    )
    launch("pick_hubs", len(hubs), counts, np.uint64(size), giant, members, slots, hubs)
    return slots, hubs


def _divisor(by: int) -> Any:
    """Return what the kernels divide by: floor(x / by) is a product's high half, shifted."""
    shift = (by - 1).bit_length() - 1
    return np.array((by, -(-(1 << (32 + shift)) // by), shift), _DIVISOR)
