"""One side of a comparison: a process that measures the library it imports, through its public API only.

``benchmarks.compare`` starts one such process per side and sends it one JSON object per line. The process
answers each line with one line. The library may be older or newer than the benchmarks.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import pandas as pd

import dask_graphflow as gf

from . import rss
from .forgetting import forgotten, known_tasks

ENDS = {"source": "src", "target": "dst"}
BUILDS: dict[str, dict[str, Any]] = {
    "undirected": {"directed": False},
    "directed": {"directed": True},
    "weighted": {"directed": False, "weight": "weight"},
}
HOPS = gf.EdgeOp("hops", target="hop", signal="hop[src] + 1", slot="min")
UNREACHED = 1 << 30
ITERATIONS = 20  # iterations of PageRank

ENOUGH = 0.1  # seconds for which a fast call is repeated in one measurement
MOST = 20  # maximum number of calls in one measurement
# A GPU's memory pool starts with 1 / POOL or 1 / WORKERS_POOL of its memory. Each side has one pool in its
# own process, and one in a worker on the same GPU.
POOL, WORKERS_POOL = 4, 8
ALIGNMENT = 256  # bytes, required by RMM


def _hops(graph: gf.Graph, start: int, **how: Any) -> Any:
    begin = pd.DataFrame({"vertex": [start], "hop": [0]})
    return graph.run(HOPS, columns={"hop": UNREACHED}, start=begin, **how)


#: The build that each algorithm needs, and its call.
TRACED: dict[str, tuple[str, Callable[..., Any]]] = {
    "bfs": ("undirected", lambda graph, start, **how: graph.bfs([start], **how)),
    "sssp": ("weighted", lambda graph, start, **how: graph.sssp([start], **how)),
    "pagerank": (
        "directed",
        lambda graph, start, **how: graph.pagerank(tol=None, max_iter=ITERATIONS, **how),
    ),
    "label_propagation": ("undirected", lambda graph, start, **how: graph.label_propagation(**how)),
    "connected_components": (
        "undirected",
        lambda graph, start, **how: graph.connected_components(**how),
    ),
    "run": ("undirected", _hops),
}
DEGREES = "degrees"
STREAMED = "gf.connected_components"  # on the edges, without a graph
CALLS = (*TRACED, DEGREES, STREAMED)


def main() -> None:
    """Answer each line of standard input until it ends."""
    # Send the output of libraries to stderr, so that it does not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    options = json.loads(sys.argv[1])
    with ExitStack() as stack:
        side = Side(options["workers"], gpu=options["gpu"], stack=stack)
        for line in sys.stdin:
            command = json.loads(line)
            try:
                answer = getattr(side, command.pop("do"))(**command)
            except Exception as error:  # only this row fails
                answer = {"failed": f"{type(error).__name__}: {' '.join(str(error).split())}"}
            print(json.dumps(answer), file=answers, flush=True)


class Side:
    """Edges, and the graphs that are built from them.

    Parameters
    ----------
    workers : int
        Number of threads of the threaded scheduler.
    gpu : bool
        Whether the edges are in GPU memory.
    stack : ExitStack
        Closes the clusters at the end.
    """

    def __init__(self, workers: int, *, gpu: bool, stack: ExitStack) -> None:
        self._workers, self._gpu, self._stack = workers, gpu, stack
        self._clients: dict[int, Any] = {}
        if gpu:
            _start_pool()

    def load(
        self, few: str, files: list[str], start: int, tasks: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Compile the kernels of the tasks with a file of a few edges, then load the edges of all files."""
        self._start = start
        self._take([few])
        for task in tasks:
            with contextlib.suppress(Exception):  # the row will report the error
                getattr(self, task["do"])(**{key: task[key] for key in task if key != "do"})
        self._take(files)
        return {"package": str(Path(gf.__file__).resolve().parent)}

    def _take(self, files: list[str]) -> None:
        self._files = files
        self._edges: dict[Any, Any] = {}
        self._graphs: dict[Any, Any] = {}
        self._held: dict[Any, int] = {}
        gc.collect()

    def build(self, name: str, members: int, *, processes: bool, first: bool) -> dict[str, Any]:
        """Build a graph; return the seconds and the peak memory of the build in this process.

        Counting every allocation of a GPU takes time. So on a GPU, the first build measures the bytes and
        the others measure the seconds. On the host, the first build is a warm-up.
        """
        client = self._client(members) if processes else None
        self._load_edges(client)
        measures: dict[str, float] = {}

        def build() -> None:
            graph = self._build(name, members, client)
            self._waited(graph, client)

        if self._gpu and first and client is None:
            measures["peak"] = _device_peak(build)
            return {"measures": measures}
        rss.reset_peak()
        before = rss.peak()
        seconds = self._timed(build, client)
        if not first:
            measures["build"] = seconds
            if not self._gpu and client is None:
                measures["peak"] = rss.peak() - before
        return {"measures": measures}

    def call(self, name: str, members: int, *, processes: bool, first: bool) -> dict[str, Any]:
        """Call an algorithm on a persisted graph; return seconds, or the first time a hash of the result.

        There are separate seconds for the whole call, for making the lazy frame, and for the supersteps.
        """
        client = self._client(members) if processes else None
        ask, traced = self._asked(name, members, client)
        whole, lazy, steps = [], [], []
        found: list[Any] = []

        def compute() -> None:
            began = time.perf_counter()
            frame = ask()
            lazy.append(time.perf_counter() - began)
            found.append(frame.compute())

        # Collect garbage once instead of before each call, because it takes longer than a small call.
        gc.collect()
        while sum(whole) < ENOUGH and len(whole) < MOST:
            found.clear()
            whole.append(self._timed(compute, client))
        while traced is not None and len(steps) < len(whole):
            steps.append(self._steps(traced, client))
        if first:
            return {"measures": {}, "bits": digest(found[0])}
        measures = {"call": min(whole), "lazy": min(lazy)}
        return {"measures": measures | ({"supersteps": min(steps)} if steps else {})}

    def _asked(self, name: str, members: int, client: Any) -> tuple[Any, Any]:
        """Return a function that makes the lazy frame, and one that also makes its supersteps, or None."""
        if name == STREAMED:
            self._load_edges(client)
            edges = self._edges[client]
            return lambda: gf.connected_components(edges, **ENDS), None
        if name == DEGREES:
            return self._kept("directed", members, client).degrees, None
        build, ask = TRACED[name]
        graph = self._kept(build, members, client)
        return (
            lambda: ask(graph, self._start),
            lambda: ask(graph, self._start, trace=True),
        )

    def _steps(self, traced: Any, client: Any) -> float:
        """Return the seconds of the supersteps; if there are several members, those of the slowest."""
        self._rest(client)
        with self._scheduler(client):
            steps = traced()[1].compute()
        if "member" in steps:
            return float(steps.groupby("member")["seconds"].sum().max())
        return float(steps["seconds"].sum())

    def _kept(self, build: str, members: int, client: Any) -> Any:
        key = build, members, client
        if key not in self._graphs:
            self._load_edges(client)
            with self._scheduler(client):
                self._graphs[key] = self._build(build, members, client)
                self._waited(self._graphs[key], client)
            self._hold(client)
        return self._graphs[key]

    def _build(self, name: str, members: int, client: Any) -> Any:
        return gf.Graph(self._edges[client], **ENDS, **BUILDS[name], shards=members).persist()

    def _load_edges(self, client: Any) -> None:
        """Persist the edges in this process or on a cluster, unless that was done before."""
        if client in self._edges:
            return
        with self._scheduler(client):
            meta = pd.read_parquet(self._files[0]).head(0)
            edges = self._placed(dd.from_map(pd.read_parquet, self._files, meta=meta)).persist()
            self._edges[client] = edges
            len(edges)  # waits for the edges
        self._hold(client)

    def _placed(self, edges: Any) -> Any:
        return edges.to_backend("cudf") if self._gpu else edges

    def _waited(self, graph: Any, client: Any) -> None:
        """Wait for a graph that a cluster builds, because persist() returns at once there."""
        if client is not None:
            _ = graph.num_edges

    def _timed(self, work: Callable[[], Any], client: Any) -> float:
        self._rest(client)
        with self._scheduler(client):
            began = time.perf_counter()
            work()
            self._synchronize()
            return time.perf_counter() - began

    def _synchronize(self) -> None:
        if self._gpu:
            import cupy

            cupy.cuda.Device().synchronize()

    @contextmanager
    def _scheduler(self, client: Any) -> Iterator[None]:
        if client is None:
            with dask.config.set(scheduler="threads", num_workers=self._workers):
                yield
        else:
            with client.as_current(), dask.config.set(scheduler="dask.distributed"):
                yield

    def _client(self, members: int) -> Any:
        if members not in self._clients:
            from distributed import Client

            enter = self._stack.enter_context
            cluster = enter(_cluster(members, gpu=self._gpu))
            self._clients[members] = enter(Client(cluster, set_as_default=False))
        return self._clients[members]

    def _hold(self, client: Any) -> None:
        """Record the number of tasks that a cluster's scheduler has between calls."""
        if client is not None:
            self._held[client] = known_tasks(client)

    def _rest(self, client: Any) -> None:
        """Wait until the scheduler has forgotten the last call, because it would reuse a known result."""
        if client is not None:
            forgotten(client, self._held[client])


def digest(frame: Any) -> str:
    """Return a hash of a frame's columns, dtypes and values, bit for bit and in order."""
    dtypes = [(str(name), str(dtype)) for name, dtype in frame.dtypes.items()]
    host = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    floats = host.select_dtypes(["float32", "float64"])
    # Hash the bits of floats, because pandas gives 0.0 and -0.0 the same hash.
    bits = {
        name: floats[name].to_numpy().view(f"u{floats[name].dtype.itemsize}") for name in floats
    }
    hashes = pd.util.hash_pandas_object(host.assign(**bits), index=False).to_numpy()
    return hashlib.sha256(repr(dtypes).encode() + hashes.tobytes()).hexdigest()


def _cluster(workers: int, *, gpu: bool) -> Any:
    """Return a cluster of workers with one thread each; if `gpu`, each worker has its own GPU."""
    how = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    if not gpu:
        from distributed import LocalCluster

        return LocalCluster(**how)
    from dask_cuda import LocalCUDACluster

    return LocalCUDACluster(
        rmm_pool_size=1 / WORKERS_POOL, rmm_allocator_external_lib_list=["cupy"], **how
    )


def _start_pool() -> None:
    """Let cuDF and CuPy share one memory pool, which leaves room for the pool of the other side."""
    import cupy
    import rmm
    from rmm.allocators.cupy import rmm_cupy_allocator

    _, total = cupy.cuda.runtime.memGetInfo()
    rmm.reinitialize(pool_allocator=True, initial_pool_size=total // POOL // ALIGNMENT * ALIGNMENT)
    cupy.cuda.set_allocator(rmm_cupy_allocator)


def _device_peak(work: Callable[[], Any]) -> int:
    import rmm.statistics

    gc.collect()
    with rmm.statistics.statistics():
        work()
        counted = rmm.statistics.get_statistics()
    gc.collect()
    return int(counted.peak_bytes)


if __name__ == "__main__":
    main()
