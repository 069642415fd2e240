"""Measuring: the library's own kernels, timed in this process on R-MAT graphs of a few sizes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from dask_graphflow.components.forest import Forest
from dask_graphflow.graph import generate
from dask_graphflow.graph.device_shard import let_go
from dask_graphflow.graph.hubs import has_hubs, inverse
from dask_graphflow.graph.partition import GRAIN
from dask_graphflow.kernels import index_dtype, kernels_for, kernels_of, no_room
from dask_graphflow.kernels.memory import free_bytes
from dask_graphflow.operators.direction import DENSE
from dask_graphflow.operators.vertex_set import VertexSet
from dask_graphflow.scheduling import placement
from dask_graphflow.showing.bar import Kind, Shown, Step

from .curves import Rates

__all__ = ["KERNELS", "STEPS", "forest_seconds", "kernels_on", "measure", "room_of"]

EDGE_FACTOR = 16
DRAWN = 18  # the largest scale that is drawn edge by edge on the host
SCALES = (12, 16, 18, 20, 22)
# On a device a launch takes as long as many thousand edges: what is small says nothing of what is large.
DEVICE_SCALES = (16, 18, 20, 22, 24)
# On the host a graph is left out whose kernels are expected to take longer than so many seconds,
PATIENCE = 20.0
# and one that takes more than one part in so many of the memory, at so many bytes an edge.
PARTS, EDGE = 4, 100
KERNELS = ("hooks", "builds", "pulls", "searches", "paths", "labels", "merges", "deals")
WORK = {"hooks": EDGE_FACTOR, "merges": 1}  # what a rate counts, a vertex; else twice its edges
TURNS = 3  # of a kernel that takes long
REPEAT = 3
LONG = 0.3  # seconds: what takes longer is timed twice,
ENOUGH = 0.06  # and what is shorter for so long
COPIED = 1 << 26  # bytes


def _shown(step: Step) -> Shown:
    how = f"{step['kernel']} of {step['vertices']:,} vertices"
    return Shown(step["done"], step["total"], how)


STEPS = Kind("kernels", _shown)  # as `tell` of :func:`measure` has them, with "done", their number


def measure(
    device: bool = False,
    threads: int = 1,
    *,
    scales: Sequence[int] | None = None,
    only: Collection[str] = KERNELS,
    tell: Callable[[Step], object] | None = None,
) -> Rates:
    """Time the kernels: a few seconds, once they are compiled, which may take a minute for all of them.

    Parameters
    ----------
    device : bool
        On this process' GPU; else on the host.
    threads : int
        Host threads to use.
    scales : sequence of int, optional
        Logarithms of the graphs' numbers of vertices, ascending. Where there is no room for a large one, it
        and those after it are left out; by default also what would take long.
    only : collection of str
        Of :data:`KERNELS`, those to measure.
    tell : callable, optional
        Takes a dict when a kernel was run on a graph: "kernel", its name; "vertices" of the graph; and
        "total", how often it will be called, if there is room and time for all graphs. The first graph
        comes twice, and kernels are compiled for the first of them.

    Raises
    ------
    BackendError
        There is no GPU that can be used.
    GraphMemoryError
        There is no room for the smallest graph.
    """
    kernels, asked = kernels_on(device), bool(scales)
    scales = scales or (DEVICE_SCALES if device else SCALES)
    total = len(only) * (len(scales) + 1)

    def told(scale: int, kernel: str) -> None:
        if tell is not None:
            tell({"kernel": kernel, "vertices": 1 << scale, "total": total})

    if device:
        let_go()  # copies of graphs: they come again when they are next asked for
    found: dict[int, dict[str, float]] = {}
    for scale in (scales[0], *scales):  # the first time compiles them
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
        kernels.namespace.get_default_memory_pool().free_all_blocks()  # others want that room
    return Rates(tuple(found), **curves, copies=copies)


def _fits(scale: int) -> bool:
    """Say whether a graph takes a small part only of the memory that this process may have."""
    limits = placement.memory_limit(), room_of(False)
    room = min((limit for limit in limits if limit is not None), default=math.inf)
    return PARTS * EDGE * EDGE_FACTOR << scale <= room


def _soon(scale: int, found: dict[int, dict[str, float]]) -> bool:
    """Say whether a graph's kernels are expected to take no longer than one waits for them.

    By the rates of the graph before it, not by the time that it took: small ones are timed for as long as
    makes them last, or compiled.
    """
    rates = found[max(found)]
    turn = sum(WORK.get(name, 2 * EDGE_FACTOR) / rate for name, rate in rates.items()) * (
        1 << scale
    )
    return TURNS * turn <= PATIENCE


def forest_seconds(device: bool = False, threads: int = 1, scale: int = 18) -> float:
    """Return the seconds a vertex that a forest takes whatever its share of the edges: N of them, N times.

    Work is O(E + N·V) (Groute): the first V edges take longer than each V after them.
    """
    kernels, size = kernels_on(device), 1 << scale
    source, target = _edges(kernels.namespace, scale)

    def hooked(edges: int, _: Any = None) -> None:
        forest = Forest(source, size=size)
        forest.hook(source[:edges], target[:edges], threads=threads)
        forest.compress(threads=threads)

    hooked(size)
    first, whole = (_seconds(kernels, partial(hooked, n)) for n in (size, len(source)))
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
    """Return the bytes free on this process' GPU, or in its host's memory; None where nothing says."""
    return free_bytes(kernels_on(device))


def _timed(
    kernels: ModuleType,
    scale: int,
    threads: int,
    only: Collection[str],
    told: Callable[[str], object],
) -> dict[str, float]:
    """Return the rates on one graph, by the names that they have in :class:`.Rates`; each is told of."""
    size, (source, target) = 1 << scale, _edges(kernels.namespace, scale)
    seconds = partial(_seconds, kernels)
    found: dict[str, float] = {}
    if not {"hooks", "merges"}.isdisjoint(only):
        found |= _forests(source, target, size, threads, seconds)
        for name in [name for name in found if name in only]:
            told(name)
    make = partial(kernels_of("rows", source).rows, count=size, undirected=True, threads=threads)
    if "builds" in only:
        found["builds"] = 2 * len(source) / seconds(lambda _: make(source, target))
        told("builds")
    if "deals" in only:
        found["deals"] = 2 * len(source) / seconds(_dealing(source, target, size, threads))
        told("deals")
    if not {"pulls", "searches", "paths", "labels"}.isdisjoint(only):
        found |= _rows(make(source, target), threads, seconds, only, told)
    return {name: rate for name, rate in found.items() if name in only}


def _forests(
    source: Any, target: Any, size: int, threads: int, seconds: Callable[..., float]
) -> dict[str, float]:
    def forest(part: slice) -> Forest:
        made = Forest(source, size=size)
        made.hook(source[part], target[part], threads=threads)
        made.compress(threads=threads)
        return made

    half = len(source) // 2
    own, other = partial(forest, slice(half)), forest(slice(half, None))
    merging = seconds(lambda fresh: fresh.absorb(other, threads=threads), own)
    return {"hooks": len(source) / seconds(lambda _: forest(slice(None))), "merges": size / merging}


def _dealing(source: Any, target: Any, size: int, threads: int) -> Callable[[Any], None]:
    """Return what deals edges to two members, as a gang does that builds a graph without direction."""
    kernels, shift = kernels_of("partition", source), GRAIN.bit_length() - 1
    grains = -(-size // GRAIN)
    owners = np.asarray(np.arange(grains) * 2 // grains, "int16", like=source)
    source, target = (side.astype(index_dtype(size)) for side in (source, target))

    def deal(_: Any) -> None:
        for side in source, target:
            kernels.count_grains(side, grains, shift=shift, threads=threads)
        ends = (source, target), source, target
        for parts in kernels.parted(*ends, owners, 2, shift=shift, threads=threads):
            np.concatenate(parts)

    return deal


def _rows(
    rows: Any,
    threads: int,
    seconds: Callable[..., float],
    only: Collection[str],
    told: Callable[[str], object],
) -> dict[str, float]:
    size, degrees = len(rows.offsets) - 1, np.diff(rows.offsets)
    vertices = np.arange(size, dtype=index_dtype(size), like=rows.ends)
    start = vertices[degrees == degrees.max()][:1]
    by_labels, labels = rows, vertices
    if has_hubs(degrees):
        labels = kernels_of("rows", rows.ends).degree_labels(degrees)
        by_labels = kernels_of("rows", rows.ends).relabelled(rows, labels, threads=threads)
    ordered = degrees[inverse(labels)]
    following, frequent = np.empty_like(vertices), kernels_of("labels", vertices).most_frequent
    # What makes something first, and what then is timed.
    work: dict[str, Callable[[], Callable[[], object]]] = {
        "pulls": lambda: _Ranks(by_labels, ordered, threads).iterate,
        "searches": lambda: partial(_search, rows, degrees, start, threads),
        "paths": lambda: _Paths(by_labels, labels[start], threads).find,
        "labels": lambda: partial(frequent, rows, None, vertices, following, threads=threads),
    }
    found = {}
    for name in work.keys() & only:
        one = work[name]()
        found[name] = len(rows.ends) / seconds(lambda _, one=one: one())
        told(name)
    return found


def _seconds(
    kernels: ModuleType, work: Callable[[Any], object], fresh: Callable[[], Any] = lambda: None
) -> float:
    """Return the mean seconds of some turns; each is given something `fresh`, which is not timed.

    Not the least: who has a part of a core's time has all of it for a while. The first is not counted, in
    which something may be compiled.
    """
    work(fresh())
    taken: list[float] = []
    while len(taken) < REPEAT or sum(taken) < ENOUGH:
        if len(taken) > 1 and min(taken) > LONG:
            break
        given = fresh()
        _wait(kernels)
        began = time.perf_counter()
        work(given)
        _wait(kernels)
        taken.append(time.perf_counter() - began)
    return max(sum(taken) / len(taken), 1e-9)


def _wait(kernels: ModuleType) -> None:
    """Wait for what was queued on a device: what comes to the host next is copied after it."""
    kernels.to_host(kernels.namespace.zeros(1))


def _edges(library: Any, scale: int) -> tuple[Any, Any]:
    """Return the ends of an R-MAT graph's edges as arrays of a library."""
    drawn = scale if scale <= DRAWN else DRAWN - (scale - DRAWN) % 2
    frame = generate.rmat(drawn, edge_factor=EDGE_FACTOR, npartitions=1)
    frame = frame.compute(scheduler="synchronous")
    ends = [library.asarray(np.ascontiguousarray(frame[name])) for name in ("src", "dst")]
    for _ in range(drawn, scale, 2):
        ends = _grown(library, *ends)
    return ends[0], ends[1]


def _grown(library: Any, source: Any, target: Any) -> list[Any]:
    """Return a graph of four times the vertices and edges: R-MAT's next two levels, drawn for each edge.

    Where the kernels run, and of nothing but whole numbers: a host would take a minute to draw the largest.
    """
    chances = np.outer(generate.QUADRANTS, generate.QUADRANTS).ravel()
    cuts = np.rint(np.cumsum(chances) * 65536).astype(int)
    both = np.repeat(np.arange(16), np.diff(cuts, prepend=0))  # two quadrants of two bits each
    places = _random(library, 4 * len(source))
    grown = []
    for ends, shift in ((source, 1), (target, 0)):
        bits = (both >> shift + 2 & 1) << 1 | both >> shift & 1
        grown.append(ends.repeat(4) * 4 + library.asarray(bits)[places])
    return grown


def _random(library: Any, count: int) -> Any:
    """Return numbers from 0 to 65535 that look like random ones, the same each time."""
    numbers = library.arange(count, dtype="uint64") * np.uint64(0x9E3779B97F4A7C15)
    numbers ^= numbers >> np.uint64(32)
    numbers *= np.uint64(0xBF58476D1CE4E5B9)
    return (numbers >> np.uint64(48)).astype("int64")


class _Ranks:
    """An iteration of PageRank."""

    def __init__(self, rows: Any, degrees: Any, threads: int) -> None:
        self._kernels, self._rows, self._threads = kernels_of("pull", degrees), rows, threads
        self._rank = np.full_like(degrees, 1 / len(degrees), "float64")
        self._shares = self._kernels.ONE / np.maximum(degrees, 1)
        self._shares[degrees == 0] = 0
        self._contribution = self._rank * self._shares
        self._sums = np.zeros_like(degrees, "int64")
        self._restart = np.full_like(self._rank, 0.15 / len(degrees), shape=1)

    def iterate(self) -> None:
        contribution = self._contribution
        self._kernels.sum_contributions(self._rows, contribution, self._sums, threads=self._threads)
        arrays = self._sums, self._rank, self._shares, contribution, self._restart
        self._kernels.apply_sums(*arrays, 0.85, threads=self._threads)


class _Paths:
    """Shortest paths from a vertex, along edges of random lengths."""

    def __init__(self, rows: Any, start: Any, threads: int) -> None:
        self._kernels, self._start, self._threads = kernels_of("buckets", start), start, threads
        weights = (_random(kernels_for(start).namespace, len(rows.ends)) / 65536).astype("float32")
        self._size = len(rows.offsets) - 1
        self._delta = self._kernels.bucket_width(0.5, max(len(rows.ends) / self._size, 1.0))
        self._light = self._kernels.light_first(rows._replace(weights=weights), self._delta)

    def find(self) -> None:
        distance = np.full_like(self._start, np.inf, "float64", shape=self._size)
        distance[self._start] = 0
        kernels, start, threads = self._kernels, self._start, self._threads
        buckets = kernels.Buckets(distance, start, self._delta, threads=threads)
        while len(frontier := buckets.take()):
            kernels.relax(self._light, buckets, frontier)
        kernels.predecessors(self._light.rows, distance, start, names=None, threads=threads)


def _search(rows: Any, degrees: Any, start: Any, threads: int) -> None:
    """Search breadth first: pull where many edges leave the frontier, as Gemini does."""
    size, kernels = len(degrees), kernels_of("search", start)
    level = np.full_like(start, kernels.UNSEEN, "int32", shape=size)
    predecessor = np.full_like(start, np.iinfo(start.dtype).max, shape=size)
    seen = np.zeros_like(start, "uint64", shape=-(-size // 64))
    level[start], predecessor[start] = 0, -1
    kernels.mark_seen(seen, start)
    frontier, depth = VertexSet(size, vertices=start), 0
    while len(frontier):
        depth += 1
        state = seen, predecessor, level, depth
        if frontier.edges(degrees) * DENSE > len(rows.ends):
            following = np.zeros_like(seen)
            kernels.bfs_pull(rows, frontier.words, following, *state, threads=threads)
            frontier = VertexSet(size, words=following)
        else:
            found = kernels.bfs_push(rows, frontier.vertices, *state, threads=threads)
            kernels.mark_seen(seen, found)
            frontier = VertexSet(size, vertices=found)


def _copies(kernels: ModuleType) -> float:
    """Return bytes a second from the host's memory to the device."""
    data = np.ones(COPIED, "uint8")
    return COPIED / _seconds(kernels, lambda _: kernels.namespace.asarray(data))
