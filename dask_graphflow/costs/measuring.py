"""Measurement of the rates: kernels and algorithms are timed in this process on R-MAT graphs."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from dask_graphflow.algorithms.bfs import bfs
from dask_graphflow.algorithms.label_propagation import label_propagation
from dask_graphflow.algorithms.pagerank import pagerank
from dask_graphflow.algorithms.sssp import sssp
from dask_graphflow.comm.channel import in_process
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.components.forest import Forest
from dask_graphflow.graph import generate
from dask_graphflow.graph.device_shard import let_go
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import kernels_of, no_room
from dask_graphflow.kernels.memory import free_bytes
from dask_graphflow.operators.view import GraphView
from dask_graphflow.scheduling import placement
from dask_graphflow.showing.bar import Kind, Shown, Step

from .rates import KERNELS, Rates

SCALES = (12, 16, 18, 20, 22)
# On a device, a launch takes as long as many thousand edges, so small graphs say nothing about large ones.
DEVICE_SCALES = (16, 18, 20, 22, 24)
LONGEST = 4.0  # seconds: on the host, no larger graph is measured if a graph takes longer than this
EDGE_FACTOR = 16  # edges per vertex
# On the host, a graph may take up to 1 / PARTS of the memory, at EDGE bytes per edge.
PARTS, EDGE = 4, 100
REPEAT = 3
LONG = 0.3  # seconds: a turn that takes longer is repeated once only
ENOUGH = 0.06  # seconds: shorter turns are repeated for this long
SPIN = (
    0.05  # seconds in which threads only compute, to measure the share of a core that each one gets
)
UNDISTURBED = 0.8  # with a smaller share than this, other programs use the cores
ITERATIONS = 10  # of PageRank
DRAWN = 18  # largest scale that is drawn edge by edge on the host

# The number of units that a rate counts, the work of one turn, and what makes the argument of a turn.
Work = tuple[int, Callable[[Any], object], Callable[[], Any]]


def _shown(step: Step) -> Shown:
    text = f"{step['kernel']} of {step['vertices']:,} vertices"
    return Shown(step["done"], step["total"], text)


# Steps that `tell` of :func:`measure` receives; a progress bar adds "done", the number of steps so far.
STEPS = Kind("kernels", _shown)


def measure(
    device: bool = False,
    threads: int = 1,
    *,
    scales: Sequence[int] | None = None,
    only: Collection[str] = tuple(KERNELS),
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
        Names in :data:`.rates.KERNELS` to measure.
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
    kernels, limited = kernels_on(device), not (device or scales)
    if device:
        let_go()  # frees the copies of graphs, which are made again when they are next needed
    scales = scales or (DEVICE_SCALES if device else SCALES)
    total = len(only) * (len(scales) + 1)

    def report(kernel: str, size: int) -> None:
        if tell is not None:
            tell({"kernel": kernel, "vertices": size, "total": total})

    rates: dict[int, dict[str, float]] = {}
    taken = 0.0
    for turn, scale in enumerate((scales[0], *scales)):  # the first turn compiles the kernels
        size = 1 << scale
        if limited and turn > 1 and (taken > LONGEST or not _fits(size)):
            break
        began = time.perf_counter()
        try:
            rates[size] = _timed(kernels, scale, threads, only, report)
        except MemoryError as error:
            if turn < 2:
                needed = 24 * EDGE_FACTOR * size
                raise no_room(kernels, vertices=size, needed=needed, held=0) from error
            break
        taken = time.perf_counter() - began
    curves: dict[str, Any] = {name: tuple(one[name] for one in rates.values()) for name in only}
    if device:
        kernels.namespace.get_default_memory_pool().free_all_blocks()  # other libraries need the room
    return Rates(tuple(rates), **curves)


def _timed(
    kernels: ModuleType,
    scale: int,
    threads: int,
    only: Collection[str],
    report: Callable[[str, int], None],
) -> dict[str, float]:
    """Return the rates on one graph."""
    graph, rates = Workloads(kernels, scale, threads), {}
    for name in only:
        units, work, prepare = getattr(graph, name)()
        rates[name] = units / _seconds(kernels, work, prepare)
        del work, prepare  # frees the arrays that only this kernel needs
        report(name, graph.size)
    return rates


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


def kernels_on(device: bool) -> ModuleType:
    """Return the kernels of this process' GPU, or of the host."""
    if device:
        from dask_graphflow.kernels import device as on_device

        return on_device
    from dask_graphflow.kernels import host

    return host


def room_of(device: bool) -> int | None:
    """Return the free bytes of this process' GPU or host; None if the system does not report them."""
    return free_bytes(kernels_on(device))


def _fits(size: int) -> bool:
    """Return whether a graph takes only a small part of the memory that this process may use."""
    limits = placement.memory_limit(), room_of(False)
    room = min((limit for limit in limits if limit is not None), default=math.inf)
    return PARTS * EDGE * EDGE_FACTOR * size <= room


def _seconds(
    kernels: ModuleType, work: Callable[[Any], object], prepare: Callable[[], Any] = lambda: None
) -> float:
    """Return the mean seconds per turn. `prepare` makes the argument of a turn, which is not timed.

    The mean is used, because a process that shares a core has the whole core for short times, and the
    minimum would show only these times. The first turn is not counted, since it may compile kernels.
    """

    def wait() -> None:
        # This copy comes after all queued work of a device.
        kernels.to_host(kernels.namespace.zeros(1))

    work(prepare())
    taken: list[float] = []
    while len(taken) < REPEAT or sum(taken) < ENOUGH:
        if len(taken) > 1 and min(taken) > LONG:
            break
        argument = prepare()
        wait()
        began = time.perf_counter()
        work(argument)
        wait()
        taken.append(time.perf_counter() - began)
    return max(sum(taken) / len(taken), 1e-9)


class Workloads:
    """An undirected R-MAT graph, and the work on it that is timed, in a gang with one member.

    A method has the name of the rate that its work measures.

    Parameters
    ----------
    kernels : module
        Kernels of the host or of the device.
    scale : int
        Binary logarithm of the number of vertices.
    threads : int
        Host threads to use.
    """

    def __init__(self, kernels: ModuleType, scale: int, threads: int) -> None:
        self.library, self.size, self.threads = kernels.namespace, 1 << scale, threads
        self.source, self.target = _edges(self.library, scale)

    def hooks(self) -> Work:
        """Return the work of making a forest of all edges."""
        return len(self.source), lambda _: self._forest(slice(None)), lambda: None

    def merges(self) -> Work:
        """Return the work of merging the forests of two halves of the edges."""
        half = len(self.source) // 2
        other = self._forest(slice(half, None))

        def merge(forest: Forest) -> None:
            forest.absorb(other, threads=self.threads)

        return self.size, merge, lambda: self._forest(slice(half))

    def builds(self) -> Work:
        """Return the work of making the rows of all edges; each edge counts twice."""
        return 2 * len(self.source), lambda _: self._make_rows(), lambda: None

    def pulls(self) -> Work:
        """Return the work of some iterations of PageRank."""
        g, options = self._view(), {"tol": None, "max_iter": ITERATIONS}
        return ITERATIONS * g.edges, lambda _: pagerank(g, **options), lambda: None

    def searches(self) -> Work:
        """Return the work of a breadth-first search from the vertex with the most edges."""
        g = self._view()
        hub = _hub(g)
        return g.edges, lambda _: bfs(g, hub), lambda: None

    def paths(self) -> Work:
        """Return the work of shortest paths from the vertex with the most edges, with random weights."""
        numbers = _random(self.library, len(self._rows.ends))
        g = self._view((numbers / 65536).astype("float32"))
        hub = _hub(g)
        return g.edges, lambda _: sssp(g, hub), lambda: None

    def labels(self) -> Work:
        """Return the work of the first iteration of label propagation, in which all labels differ."""
        g = self._view()
        return g.edges, lambda _: label_propagation(g, max_iter=1), lambda: None

    def _forest(self, part: slice) -> Forest:
        """Return the forest of some of the edges."""
        forest = Forest(self.source, size=self.size)
        forest.hook(self.source[part], self.target[part], threads=self.threads)
        forest.compress(threads=self.threads)
        return forest

    def _make_rows(self) -> Any:
        make = kernels_of("rows", self.source).rows
        ends = self.source, self.target
        return make(*ends, count=self.size, undirected=True, threads=self.threads)

    _rows = cached_property(_make_rows)

    def _view(self, weights: Any = None) -> GraphView:
        """Return a view of the graph. Nothing is cached in its shard yet."""
        rows = self._rows._replace(weights=weights)
        shard = Shard(self.source[:0], [0, self.size], 0, rows, directed=False)
        exchange = Exchange(in_process(1)[0], device=shard.on_device)
        return GraphView(shard, exchange, self.threads)


def _hub(g: GraphView) -> Any:
    """Return the position of the vertex with the most edges."""
    return np.flatnonzero(g.degrees == g.degrees.max())[:1]


def _edges(library: Any, scale: int) -> tuple[Any, Any]:
    """Return the ends of an R-MAT graph's edges, as arrays of `library`."""
    drawn = scale if scale <= DRAWN else DRAWN - (scale - DRAWN) % 2
    frame = generate.rmat(drawn, edge_factor=EDGE_FACTOR, npartitions=1)
    frame = frame.compute(scheduler="synchronous")
    ends = [library.asarray(np.ascontiguousarray(frame[name])) for name in ("src", "dst")]
    for _ in range(drawn, scale, 2):
        ends = _grown(library, *ends)
    return ends[0], ends[1]


def _grown(library: Any, source: Any, target: Any) -> list[Any]:
    """Return a graph of four times the vertices and edges: R-MAT's next two levels, drawn for each edge.

    They are drawn from integers only, where the kernels run. A host takes a minute for the largest graph.
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
    """Return pseudo-random numbers from 0 to 65535, the same each time."""
    numbers = library.arange(count, dtype="uint64") * np.uint64(0x9E3779B97F4A7C15)
    numbers ^= numbers >> np.uint64(32)
    numbers *= np.uint64(0xBF58476D1CE4E5B9)
    return (numbers >> np.uint64(48)).astype("int64")
