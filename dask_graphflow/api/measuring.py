"""The measured rates of TOTEM's model: edges per second of a worker, and bytes per second between two."""

from __future__ import annotations

import hashlib
import math
import statistics
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dask
import numpy as np

from dask_graphflow.algorithms.pagerank import pagerank
from dask_graphflow.comm.channel import Channel, in_process
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.costs.links import Links
from dask_graphflow.costs.rates import Rates, typical_rates
from dask_graphflow.graph.device_shard import let_go
from dask_graphflow.graph.shard import Shard
from dask_graphflow.inputs import generate
from dask_graphflow.kernels import no_room_on_device
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.common import CommonKernels
from dask_graphflow.kernels.memory import free_bytes
from dask_graphflow.operators.view import GraphView
from dask_graphflow.showing.bar import Kind, Shown, Step
from dask_graphflow.tasks import gang
from dask_graphflow.tasks.names import unique

# Binary logarithm of the number of vertices of the measured graph. On a device, a launch takes as long as
# many thousand edges, so small graphs say nothing about large ones. They are measured only if a device has
# no room for a larger graph.
SCALE, DEVICE_SCALE, LEAST_DEVICE_SCALE = 18, 20, 16
TURNS, ITERATIONS = 4, 10  # runs of PageRank that count, and iterations of each
# Threads only compute for SPIN seconds. If each one gets a smaller share of a core than UNDISTURBED, other
# programs use the cores.
SPIN, UNDISTURBED = 0.05, 0.8
ROUNDS, BYTES = 200, 1 << 23  # all-reduces, and bytes of an all-to-all, between two members
REPEAT = 5
# Seconds of a further level of tasks, and of a further task: in this process, and on a cluster.
LEVEL, TASK = (4e-4, 2e-3), (1e-4, 6e-4)


def _shown(step: Step) -> Shown:
    text = f"{step['kernel']} of {step['vertices']:,} vertices"
    return Shown(step["done"], step["total"], text)


# Steps that `tell` of :func:`measure` receives; a progress bar adds "done", the number of steps so far.
STEPS = Kind("kernels", _shown)


def measure(
    device: bool = False, threads: int = 1, *, tell: Callable[[Step], object] | None = None
) -> Rates:
    """Time PageRank on an R-MAT graph in this process.

    This takes a few seconds, and more if kernels must be compiled first. The other rates are those of a
    typical machine, which is as much faster or slower.

    Parameters
    ----------
    device : bool
        Whether to use this process' GPU; otherwise the host.
    threads : int
        Host threads to use.
    tell : callable, optional
        Called with a dict after each run: "kernel" is "pulls", "vertices" the number of vertices, and
        "total" the number of runs. The first run compiles the kernels.

    Raises
    ------
    BackendError
        No GPU can be used.
    GraphMemoryError
        The GPU has no room for the smallest graph.
    """
    kernels, scale = _kernels_on(device), DEVICE_SCALE if device else SCALE
    if device:
        let_go()  # frees the copies of graphs, which are made again when they are next needed
    rate = 0.0
    while not rate:
        try:
            rate = _pulled_per_second(kernels, 1 << scale, threads, tell)
        except MemoryError as error:
            if not device:
                raise
            if scale <= LEAST_DEVICE_SCALE:
                raise no_room_on_device() from error
            scale -= 2
    if device:
        kernels.namespace.get_default_memory_pool().free_all_blocks()  # other libraries need the room
    typical = typical_rates(device, 1)
    return typical.over(typical.rate("pulls", 1 << scale) / rate)


def _pulled_per_second(
    kernels: CommonKernels, size: int, threads: int, tell: Callable[[Step], object] | None
) -> float:
    """Return how many edges per second PageRank pulls on a graph with `size` vertices."""
    g, taken = _view(kernels, size, threads), []
    for _ in range(1 + TURNS):
        began = time.perf_counter()
        pagerank(g, tol=None, max_iter=ITERATIONS)
        # This copy comes after all queued work of a device.
        kernels.to_host(kernels.namespace.zeros(1))
        taken.append(time.perf_counter() - began)
        if tell is not None:
            tell({"kernel": "pulls", "vertices": size, "total": 1 + TURNS})
    # The mean, because a process that shares a core has the whole core for short times.
    return float(ITERATIONS * g.edges / max(statistics.mean(taken[1:]), 1e-9))


def measure_links(client: Any = None, *, device: bool = False) -> Links:
    """Measure the links between two workers of a cluster, or two threads of this process.

    This takes less than a second. Levels of tasks and further tasks take as long as on a typical machine.
    """
    shards: list[Any] = [dask.delayed(rank, name=unique("calibrate")) for rank in range(2)]
    if client is not None:
        workers = enumerate(sorted(client.nthreads())[:2])
        shards = [
            dask.delayed(client.submit(_same, rank, workers=[address], key=unique("calibrate")))
            for rank, address in workers
        ]
    call = statistics.median(
        _seconds(lambda: dask.compute(dask.delayed(_same)(0, dask_key_name=unique("calibrate"))))
        for _ in range(REPEAT)
    )
    # As for a persisted graph, later runs use the connections of the first one.
    _, *empty = (_seconds(lambda: _gang(shards, 0, device)) for _ in range(4))
    times = _gang(shards, ROUNDS, device)
    latency, dealing = (max(one) for one in zip(*times, strict=True))
    c = math.inf if len(shards) == 1 else BYTES / max(dealing - latency, 1e-9)
    here = client is None
    level, task = LEVEL[not here], TASK[not here]
    return Links(c, math.inf if here else c, latency, call, level, statistics.median(empty), task)


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


def room_of(device: bool) -> int | None:
    """Return the free bytes of this process' GPU or host; None if the system does not report them."""
    return free_bytes(_kernels_on(device))


def _kernels_on(device: bool) -> CommonKernels:
    """Return the kernels of this process' GPU, or of the host."""
    if device:
        from dask_graphflow.kernels.common import device as on_device

        return on_device
    from dask_graphflow.kernels.common import host

    return host


def _view(kernels: CommonKernels, size: int, threads: int) -> GraphView:
    """Return an undirected R-MAT graph as the only member of a gang sees it."""
    frame = generate.rmat(size.bit_length() - 1, npartitions=1).compute(scheduler="synchronous")
    asarray = kernels.namespace.asarray
    ends = [asarray(np.ascontiguousarray(frame[name])) for name in ("src", "dst")]
    make = rows_kernels.of(ends[0]).rows
    rows = make(*ends, count=size, undirected=True, threads=threads)
    shard = Shard(ends[0][:0], [0, size], 0, rows, directed=False)
    return GraphView(shard, Exchange(in_process(1)[0], device=shard.on_device), threads)


def _same(value: Any) -> Any:
    return value


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _gang(shards: Sequence[Any], rounds: int, device: bool) -> Any:
    """Return the times that the members of a gang measure; see :func:`_exchange`."""
    name = f"calibrate-{uuid.uuid4().hex}"
    return dask.compute(*gang.run(shards, _exchange, None, rounds, device, name=name, alone=device))


def _exchange(
    channel: Channel, shard: Any, rank: int, rounds: int, device: bool
) -> tuple[float, float]:
    """Return the seconds of an all-reduce, and of an all-to-all that sends `BYTES` to each member."""
    if channel.size == 1 or not rounds:
        return 0.0, 0.0
    exchange, library = Exchange(channel, device=device), _kernels_on(device).namespace
    boxes = [library.zeros(BYTES, "uint8")] * channel.size

    def seconds(count: int, exchange_once: Callable[[], object]) -> float:
        def work() -> None:
            for _ in range(count):
                exchange_once()
            if device:
                library.cuda.get_current_stream().synchronize()

        return statistics.median(_seconds(work) for _ in range(REPEAT)) / count

    latency = seconds(rounds, lambda: exchange.all_reduce(sums=(1,)))
    return latency, seconds(REPEAT, lambda: exchange.all_to_all(boxes))
