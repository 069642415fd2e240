"""Whether the edges of a graph are stored in memory or on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from dask.utils import format_bytes

from dask_graphflow.costs.choose_members import ROOM
from dask_graphflow.declarations.option import Choice
from dask_graphflow.exceptions import OptionError
from dask_graphflow.graph.memory_model import build_bytes
from dask_graphflow.kernels.memory import machine_bytes
from dask_graphflow.tasks import placement

from .types import Storage


def is_on_disk(
    storage: Any,
    rows: Callable[[], float | None],
    *,
    in_memory: bool,
    directed: bool,
    weight_bytes: int,
    room: float | None = None,
) -> tuple[bool, str]:
    """Return whether the edges of a graph are stored on disk, and why if "auto" decides.

    For "auto", `rows` returns the number of edges, or None if it is not known yet. `in_memory`: the graph
    can only be built in memory, because GPUs build it. `room` has the bytes of memory of all workers; by
    default, of the current workers, or of this machine. It raises :class:`.OptionError` if `storage` is
    invalid, or asks for files of a graph that is built in memory.
    """
    Choice(get_args(Storage)).check("storage", storage, None)
    if storage == "disk" and in_memory:
        raise OptionError(
            "storage='disk' was given with edges of cuDF or with hybrid=; such graphs are built in memory. "
            "Give edges.to_backend('pandas') and device='gpu', without hybrid=, or leave storage= out"
        )
    if storage != "auto" or in_memory:
        return storage == "disk", ""
    count = rows()
    if count is None:
        return False, "the number of edges is not known before they are read"
    needed = build_bytes(count, directed=directed, weight_bytes=weight_bytes)
    room = _all_room() if room is None else room
    if needed <= ROOM * room:
        return False, ""
    return True, (
        f"to build it in memory may take {format_bytes(needed)}, and there are {format_bytes(room)}"
    )


def _all_room() -> int:
    """Return the bytes of memory that all workers may use together, or those of this machine."""
    least = placement.least_room()
    return machine_bytes() if least is None else least[0] * least[2]
