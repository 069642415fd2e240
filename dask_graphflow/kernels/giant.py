"""Skipping the edges inside the giant, the tree that most edges lie in once a sample was hooked.

See ``cuda/giant.cu`` for how.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from .launching import NULL, attribute, launch, launch_blocks
from .sources import FILTER_THREADS, instance

__all__ = ["hook_outside", "queue_hook", "worth_it"]

COUNTED = 1 << 22  # edges whose ends are counted to find hubs, at most
ROOM = 1 << 22  # edges that the list has room for, and at least a quarter of the vertices
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


def hook_outside(parent: Any, seen: Any, source: Any, target: Any, base: int, report: Any) -> None:
    """Hook the edges that do not lie inside the giant; all, if there is none.

    The parameters are those of :func:`.device.hook`; `report` is the kernel's. Nothing waits: what
    was found of the giant stays on the device.
    """
    size = len(parent)
    giant = cupy.empty(2, "int64")
    launch(
        instance("choose_giant", source.dtype),
        1,  # one block
        parent,
        np.uint64(size),
        source,
        target,
        np.uint64(len(source)),
        np.int64(base),
        giant,
    )
    members = cupy.empty(-(-size // 32), "uint32")
    launch("mark_giant", size, parent, np.uint64(size), giant, members)
    slots, hubs = _hubs(giant, members, size, source, target, base)

    capacity = max(size // 4, ROOM)
    pairs = cupy.empty(capacity, "int32"), cupy.empty(capacity, "int32")
    # The filter wants 16-byte words, and whole warps of them.
    head = -source.data.ptr % 16 // source.itemsize
    body = (len(source) - head) // FILTERED * FILTERED
    turns = max(1, min(4, size // ROOM))
    bounds = [head + body // FILTERED * turn // turns * FILTERED for turn in range(turns + 1)]
    length = cupy.zeros(turns, "uint64")
    for turn in range(turns):
        start, stop = bounds[turn : turn + 2]
        launch_blocks(
            instance("filter", source.dtype),
            attribute("MultiProcessorCount"),
            FILTER_THREADS,
            len(hubs),
            parent,
            seen,
            np.uint32(size),
            source[start:stop],
            target[start:stop],
            np.uint64(stop - start),
            np.int64(base),
            giant,
            members,
            hubs,
            slots,
            *pairs,
            np.uint64(capacity),
            length[turn:],
            report,
        )
        queue_hook(parent, NULL, *pairs, 0, report, length=length[turn:])
    for rest in (slice(0, head), slice(bounds[-1], None)):
        if len(source[rest]):
            queue_hook(parent, seen, source[rest], target[rest], base, report)
    queue_hook(parent, seen, source, target, base, report, length=giant[1:])


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
) -> None:
    """Hook every edge, or a sample, or as many as `length` says on the device."""
    launch(
        instance("hook", parent.dtype, source.dtype),
        max(len(source) // step, 1),
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
    slots = _divisor(attribute("MaxSharedMemoryPerBlockOptin") * 6 // 7 // 16 * 16)
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
