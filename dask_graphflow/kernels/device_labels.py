"""Label propagation on the device; :mod:`.host_labels` has the twin."""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import namespace as cupy
from .host_rows import Rows
from .launching import attribute, launch, launch_blocks
from .sources import THREADS, instance

__all__ = ["most_frequent"]

# Of cuda/labels.cu: the most labels without a table, and for one in shared memory.
SOME, MANY = 32, 1 << 10
# Slots of all tables in memory, at most; there is one for the longest row in any case.
ROOM = 1 << 28

_NEIGHBOURS = np.dtype([("arrays", "u8", 4)])


def most_frequent(
    out: Rows, into: Rows | None, labels: Any, found: Any, *, threads: int = 1
) -> int:
    """Give each vertex of a range the label that most of its neighbours have, the smallest of several."""
    count = len(out.offsets) - 1
    if not count:
        return 0
    if out.ends.dtype != labels.dtype:  # a member's own numbers may be narrower than all vertices'
        out = out._replace(ends=out.ends.astype(labels.dtype))
    given: list[Any] = [out.offsets, out.ends]
    if into is not None:
        given += into.offsets, into.ends
    edges = sum(len(ends) for ends in given[1::2])
    pointers = [array.data.ptr for array in given] + [0, 0]
    neighbours = np.array((pointers[:4],), _NEIGHBOURS)
    some, many = (
        cupy.empty(min(count, edges // least) + 1, labels.dtype) for least in (SOME, MANY)
    )
    sizes = cupy.zeros(5, "int64")
    state = np.uint64(out.first), labels, found
    kernel = instance("few_labels", labels.dtype)
    launch(kernel, count, neighbours, np.uint64(count), *state, some, many, sizes)
    changed, in_shared, in_memory, largest, _ = sizes.get().tolist()
    if in_shared:
        blocks = min(in_shared, 8 * attribute("MultiProcessorCount"))
        kernel = instance("some_labels", labels.dtype)
        launch_blocks(kernel, blocks, THREADS, 0, neighbours, *state, some, sizes)
    if in_memory:
        room = 2 << (largest - 1).bit_length()
        blocks = max(1, min(in_memory, ROOM // room, 4 * attribute("MultiProcessorCount")))
        blocks, *tables = _tables(blocks, room, labels.dtype)
        kernel = instance("many_labels", labels.dtype)
        of_tables = np.uint64(room), *tables
        launch_blocks(kernel, blocks, THREADS, 0, neighbours, *state, many, *of_tables, sizes)
    if in_shared or in_memory:
        changed = int(sizes[0])
    return int(changed)


def _tables(blocks: int, room: int, dtype: Any) -> tuple[int, Any, Any]:
    """Return for how many blocks there is memory, at most so many, and their tables of slots."""
    while True:
        try:
            slots = blocks * room
            return blocks, cupy.empty(slots, dtype), cupy.empty(slots, "uint32")
        except MemoryError:
            if blocks == 1:
                raise
            blocks //= 2
