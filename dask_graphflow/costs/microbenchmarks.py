"""Microbenchmarks: the kernels and operators, timed in this process on R-MAT graphs of several sizes."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from dask_graphflow.graph.device_shard import let_go
from dask_graphflow.kernels import no_room
from dask_graphflow.kernels.memory import free_bytes
from dask_graphflow.scheduling import placement
from dask_graphflow.showing.bar import Kind, Shown, Step

from .curves import SERIAL, Rates
from .model import SORTED
from .workloads import EDGE_FACTOR, NUMBERED, Workloads

__all__ = [
    "KERNELS",
    "STEPS",
    "forest_seconds",
    "is_busy",
    "kernels_on",
    "measure",
    "room_of",
    "wait",
]

SCALES = (12, 16, 18, 20, 22)
# On a device, a launch takes as long as many thousand edges, so small graphs say nothing about large ones.
DEVICE_SCALES = (16, 18, 20, 22, 24)
# On the host, a graph is left out if its kernels are expected to take longer than this many seconds,
PATIENCE = 20.0
# or if it takes more than 1 / PARTS of the memory, at EDGE bytes per edge.
PARTS, EDGE = 4, 100
# In the order of measurement. The kernels from "pulls" on share the rows of one graph.
KERNELS = (*SERIAL, "hooks", "merges", "builds", "deals", "pulls", "searches", "paths", "labels")
# The units per vertex that a rate counts. Other rates count twice the edges.
WORK = {"hooks": EDGE_FACTOR, "merges": 1, **dict.fromkeys(SERIAL, 2 * NUMBERED + SORTED)}
TURNS = 3  # number of turns of a slow kernel
REPEAT = 3
LONG = 0.3  # seconds: a turn that takes longer is repeated once only
ENOUGH = 0.06  # seconds: shorter turns are repeated for this long
COPIED = 1 << 26  # bytes
SPIN = (
    0.05  # seconds in which threads do nothing but compute, to measure each one's share of a core
)
UNDISTURBED = 0.8  # with a smaller share than this, other programs use the cores


def _shown(step: Step) -> Shown:
    how = f"{step['kernel']} of {step['vertices']:,} vertices"
    return Shown(step["done"], step["total"], how)


# Steps that `tell` of :func:`measure` receives; a progress bar adds "done", the number of steps so far.
STEPS = Kind("kernels", _shown)


def measure(
    device: bool = False,
    threads: int = 1,
    *,
    scales: Sequence[int] | None = None,
    only: Collection[str] = KERNELS,
    tell: Callable[[Step], object] | None = None,
) -> Rates:
    """Time the kernels. This takes a few seconds, and up to a minute if kernels must be compiled first.

    Parameters
    ----------
    device : bool
        Whether to use this process' GPU; otherwise the host.
    threads : int
        Host threads to use.
    scales : sequence of int, optional
        Binary logarithms of the graphs' numbers of vertices, ascending. If there is no room for a graph, it
        and all larger ones are left out. The default also leaves out graphs that would take long.
    only : collection of str
        Names in :data:`KERNELS` to measure.
    tell : callable, optional
        Called with a dict each time a kernel was timed on a graph: "kernel" is its name, "vertices" the
        number of vertices, and "total" the number of calls if there is room and time for all graphs. The
        first graph comes twice, because the first time compiles the kernels.

    Raises
    ------
    BackendError
        No GPU can be used.
    GraphMemoryError
        There is no room for the smallest graph.
    """
    kernels, asked = kernels_on(device), bool(scales)
    if device:  # on a device cuDF frames number the ids, and there is no workload for that yet
        only = [name for name in only if name not in SERIAL]
    scales = scales or (DEVICE_SCALES if device else SCALES)
    total = len(only) * (len(scales) + 1)

    def told(scale: int, kernel: str) -> None:
        if tell is not None:
            tell({"kernel": kernel, "vertices": 1 << scale, "total": total})

    if device:
        let_go()  # frees the copies of graphs, which are made again when they are next needed
    found: dict[int, dict[str, float]] = {}
    for scale in (scales[0], *scales):  # the first time compiles the kernels
        if found and not (asked or device) and not (_fits(scale) and _soon(scale, found)):
            break
        try:
            found[1 << scale] = _timed(kernels, scale, threads, only, partial(told, scale))
        except MemoryError as error:
            if not found:
                size = 1 << scale
                needed = 24 * EDGE_FACTOR * size
                raise no_room(kernels, vertices=size, needed=needed, held=0) from error
            break
    names = found[1 << scales[0]]
    curves: dict[str, Any] = {name: tuple(one[name] for one in found.values()) for name in names}
    copies = math.inf
    if device:
        copies = _copies(kernels)
        kernels.namespace.get_default_memory_pool().free_all_blocks()  # other libraries need the room
    return Rates(tuple(found), **curves, copies=copies)


def is_busy(threads: int) -> bool:
    """Return whether other programs use the cores that `threads` threads of this process would get."""
    data = bytes(1 << 18)

    def share(_: int) -> float:
        began, used = time.perf_counter(), time.thread_time()
        while time.perf_counter() - began < SPIN:
            hashlib.sha256(data)  # releases the GIL
        return (time.thread_time() - used) / (time.perf_counter() - began)

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(share, range(threads))) / threads < UNDISTURBED


def _fits(scale: int) -> bool:
    """Return whether a graph takes only a small part of the memory that this process may use."""
    limits = placement.memory_limit(), room_of(False)
    room = min((limit for limit in limits if limit is not None), default=math.inf)
    return PARTS * EDGE * EDGE_FACTOR << scale <= room


def _soon(scale: int, found: dict[int, dict[str, float]]) -> bool:
    """Return whether the kernels of a graph are expected to take at most :data:`PATIENCE`.

    The expectation uses the rates of the graph before it. The time spent on that graph would mislead: small
    graphs are timed for a minimum time, and part of that time compiles kernels.
    """
    rates = found[max(found)]
    turn = sum(WORK.get(name, 2 * EDGE_FACTOR) / rate for name, rate in rates.items())
    return TURNS * turn * (1 << scale) <= PATIENCE


def forest_seconds(device: bool = False, threads: int = 1, scale: int = 18) -> float:
    """Return the seconds per vertex that a forest takes, however few edges are hooked into it.

    N forests take this time N times, since work is O(E + N·V) (Groute). It is measured as the difference in
    time between the first V edges and the V edges after them.
    """
    graph, size = Workloads(kernels_on(device), scale, threads), 1 << scale
    parts = partial(slice, size), partial(slice, None)
    first, whole = (_seconds(graph.kernels, graph.forest, part) for part in parts)
    each = max(whole - first, 0.0) / (EDGE_FACTOR - 1)
    return max(first - each, 0.0) / size


def kernels_on(device: bool) -> ModuleType:
    """Return the kernels of this process' GPU, or of the host."""
    if device:
        from dask_graphflow.kernels import device as there

        return there
    from dask_graphflow.kernels import host

    return host


def room_of(device: bool) -> int | None:
    """Return the free bytes of this process' GPU or host; None if the system does not report them."""
    return free_bytes(kernels_on(device))


def _timed(
    kernels: ModuleType,
    scale: int,
    threads: int,
    only: Collection[str],
    told: Callable[[str], object],
) -> dict[str, float]:
    """Return the rates on one graph by their names in :class:`.Rates`; `told` is called after each."""
    graph, found = Workloads(kernels, scale, threads), {}
    for name in KERNELS:
        if name in only:
            count, *work = getattr(graph, name)()
            found[name] = count / _seconds(kernels, *work)
            del work  # frees the arrays that only this kernel needs
            told(name)
    return found


def _seconds(
    kernels: ModuleType, work: Callable[[Any], object], fresh: Callable[[], Any] = lambda: None
) -> float:
    """Return the mean seconds per turn. `fresh` makes the argument of a turn, which is not timed.

    The mean is used, because a process that shares a core has all of it for short times, and the minimum
    would show only those. The first turn is not counted, since it may compile kernels.
    """
    work(fresh())
    taken: list[float] = []
    while len(taken) < REPEAT or sum(taken) < ENOUGH:
        if len(taken) > 1 and min(taken) > LONG:
            break
        given = fresh()
        wait(kernels)
        began = time.perf_counter()
        work(given)
        wait(kernels)
        taken.append(time.perf_counter() - began)
    return max(sum(taken) / len(taken), 1e-9)


def wait(kernels: ModuleType) -> None:
    """Wait for the queued work of a device, by a copy to the host that comes after it."""
    kernels.to_host(kernels.namespace.zeros(1))


def _copies(kernels: ModuleType) -> float:
    """Return bytes per second from the host's memory to the device."""
    data = np.ones(COPIED, "uint8")
    return COPIED / _seconds(kernels, lambda _: kernels.namespace.asarray(data))
