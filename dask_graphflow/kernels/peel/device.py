"""Peeling on the device. All steps of all members run in one launch."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.device_peers import (
    MEETINGS,
    MEMBERS,
    Column,
    address,
    gang,
    meetings,
    pointers_of,
)
from dask_graphflow.kernels.launching import launch_gang, read
from dask_graphflow.kernels.sources import instance

# The struct in peel.cu.
PEELING = np.dtype(
    [
        ("offsets", "u8"),
        ("ends", "u8"),
        ("counts", "u8", MEMBERS),
        ("lists", "u8", MEMBERS),
    ]
)


def peel(rows, counts, limit, frontier, room, *, threads=1, memory=None):
    state, count = meetings(), len(frontier)
    members, peeling, queue = _state(rows, counts, room, memory)
    queue[:count] = frontier
    state["telling"]["sent"][0, 0, members["rank"]] = count
    there = _run(
        instance("peel_run", rows.ends.dtype),
        memory,
        members,
        peeling,
        np.int64(limit),
        state=state,
    )
    return queue[count : int(there["end"])]


def peel_all(rows: Rows, counts: Any, removed: Any, room: Any, *, memory: Any = None) -> None:
    members, peeling, _ = _state(rows, counts, room, memory)
    size = len(removed)
    _run(
        instance("peel_all", rows.ends.dtype),
        memory,
        members,
        peeling,
        size,
        removed,
        state=meetings(),
    )


def _state(rows: Rows, counts: Any, room: Any, memory: Any) -> tuple[Any, Any, Any]:
    own = len(rows.offsets) - 1
    members = gang(0, 1, [0, own]) if memory is None else memory.gang
    lists = room if isinstance(room, Column) else room[1]
    peeling = np.array(
        (address(rows.offsets), address(rows.ends), pointers_of(counts), pointers_of(lists)),
        PEELING,
    )
    return members, peeling, lists.own if isinstance(room, Column) else lists


def _run(kernel: str, memory: Any, *arguments: Any, state: Any) -> Any:
    there = cupy.asarray(state.view("i8"))
    launch_gang(kernel, *arguments, there)
    after = read(there).view(MEETINGS)[0]
    if memory is not None:
        memory.check(after["failed"])
    return after
