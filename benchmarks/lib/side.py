"""One side of a comparison: a process that measures the library it imports, through its public API only.

``compare`` starts one such process per side and sends it one JSON object per line. The process
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
from benchmarks.lib import gpu, rss
from benchmarks.lib.harness import known_tasks, wait_until_forgotten

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
# The parts of a GPU's memory with which the pools of a process and of a worker start. Both sides of a
# comparison have both.
POOL, WORKERS_POOL = 0.25, 0.125


def _hops(graph: gf.Graph, start: int, **options: Any) -> Any:
    begin = pd.DataFrame({"vertex": [start], "hop": [0]})
    return graph.run(HOPS, columns={"hop": UNREACHED}, start=begin, **options)


#: The build that each algorithm needs, and its call.
TRACED: dict[str, tuple[str, Callable[..., Any]]] = {
    "bfs": ("undirected", lambda graph, start, **options: graph.bfs([start], **options)),
    "sssp": ("weighted", lambda graph, start, **options: graph.sssp([start], **options)),
    "pagerank": (
        "directed",
        lambda graph, start, **options: graph.pagerank(tol=None, max_iter=ITERATIONS, **options),
    ),
    "label_propagation": (
        "undirected",
        lambda graph, start, **options: graph.label_propagation(**options),
    ),
    "connected_components": (
        "undirected",
        lambda graph, start, **options: graph.connected_components(**options),
    ),
    "run": ("undirected", _hops),
}


def _calls(build: str, **calls: dict[str, Any]) -> dict[str, tuple[str, Callable[..., Any]]]:
    """Return calls of methods with some options, of a graph that is built in one way."""

    def of(name: str, how: dict[str, Any]) -> Callable[..., Any]:
        return lambda graph, start, **options: getattr(graph, name)(**how, **options)

    return {name: (build, of(name, how)) for name, how in calls.items()}


UP_TO = {"max_iter": ITERATIONS, "fail_on_nonconvergence": False}
#: Calls that ``compare`` does not make.
OTHERS = {
    **_calls(
        "undirected",
        core_number={},
        triangle_count={},
        clustering={},
        louvain={},
        leiden={},
        betweenness_centrality={"k": 16},
        closeness_centrality={"k": 16},
        eigenvector_centrality=UP_TO,
        maximal_independent_set={},
        greedy_color={},
        bridges={},
        k_truss={"k": 10},
    ),
    **_calls(
        "directed",
        hits=UP_TO,
        strongly_connected_components={},
        personalized_pagerank={"sources": [gpu.HUB]},
    ),
    **_calls("weighted", minimum_spanning_forest={}),
}
DEGREES = "degrees"
STREAMED = "gf.connected_components"  # on the edges, without a graph
CALLS = (*TRACED, DEGREES, STREAMED)
IDLE = "idle gang"  # members that return an empty frame: what a call takes besides its work
NOTHING = pd.DataFrame({"vertex": pd.Series([], dtype="int64")})

Files = list[str] | dict[str, Any]
"""The Parquet files of an edge list, or the arguments of :func:`benchmarks.lib.gpu.rmat`."""


def _lazy(files: Files) -> Any:
    if isinstance(files, dict):
        return gpu.rmat(**files)
    return dd.from_map(pd.read_parquet, files, meta=pd.read_parquet(files[0]).head(0))


def _idle(channel: Any, shard: Any, rank: int) -> pd.DataFrame:
    return NOTHING


def main() -> None:
    """Answer each line of standard input until it ends."""
    # Send the output of libraries to stderr, so that it does not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    options = json.loads(sys.argv[1])
    with ExitStack() as stack:
        if options["gpu"]:
            gpu.start(gpu.part_of_memory(POOL), fixed=False)
        side = Side(options["workers"], on_gpu=options["gpu"], stack=stack)
        for line in sys.stdin:
            command = json.loads(line)
            try:
                answer = getattr(side, command.pop("do"))(**command)
            except Exception as error:  # only this row fails
                answer = {"failed": f"{type(error).__name__}: {' '.join(str(error).split())}"}
            print(json.dumps(answer), file=answers, flush=True)


class Side:
    """Edges, in host or GPU memory, and the graphs that are built from them.

    `workers` is the number of threads of the threaded scheduler. The stack closes the clusters at the end.
    A cluster for a graph whose build chooses the members has `size` workers; other graphs have a worker per
    member. See :func:`benchmarks.lib.gpu.cluster` for the options of clusters on GPUs.
    """

    def __init__(
        self,
        workers: int,
        *,
        on_gpu: bool,
        stack: ExitStack,
        size: int | None = None,
        **cluster: Any,
    ) -> None:
        self._workers, self._gpu, self._stack = workers, on_gpu, stack
        self._size, self._cluster = size, {"pool": WORKERS_POOL, **cluster}
        self._clients: dict[int, Any] = {}

    def load(
        self, few: Files, files: Files, start: int, tasks: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Compile the kernels of the tasks with a file of a few edges, then load the edges of all files."""
        self._start = start
        self._take(few)
        for task in tasks:
            with contextlib.suppress(Exception):  # the row will report the error
                getattr(self, task["do"])(**{key: task[key] for key in task if key != "do"})
        self._take(files)
        return {"package": str(Path(gf.__file__).resolve().parent)}

    def _take(self, files: Files) -> None:
        self._files = files
        self._edges: dict[Any, Any] = {}
        self._graphs: dict[Any, Any] = {}
        self._held: dict[Any, int] = {}
        gc.collect()

    def build(
        self, name: str, members: int | None, *, processes: bool, first: bool
    ) -> dict[str, Any]:
        """Build a graph; return the seconds and the peak memory of the build in this process.

        Counting every allocation of a GPU takes time. So on a GPU, the first build measures the bytes and
        the others measure the seconds. On the host, the first build is a warm-up.
        """
        client = self.client(members or self._size or 1) if processes else None
        self.edges(client)
        measures: dict[str, float] = {}

        def build() -> None:
            graph = self._build(name, members, client)
            self._waited(graph, client)

        if self._gpu and first and client is None:
            measures["peak"] = gpu.peak(build)
            return {"measures": measures}
        rss.reset_peak()
        before = rss.peak()
        seconds = self._timed(build, client)
        if not first:
            measures["build"] = seconds
            if not self._gpu and client is None:
                measures["peak"] = rss.peak() - before
        return {"measures": measures}

    def call(
        self, name: str, members: int | None, *, processes: bool, first: bool, fetch: bool = True
    ) -> dict[str, Any]:
        """Call an algorithm on a persisted graph; return seconds, or the first time a hash of the result.

        The whole call, the making of the lazy frame and the supersteps have separate seconds. The
        call ends with the computed frame, or without `fetch` with the frame on the workers of a cluster.
        """
        client = self.client(members or self._size or 1) if processes else None
        ask, traced = self._work(name, members, client)
        whole, lazy, steps = [], [], []
        frames: list[Any] = []
        leave = client is not None and not fetch

        def compute() -> None:
            began = time.perf_counter()
            frame = ask()
            lazy.append(time.perf_counter() - began)
            frames.append(_persisted(frame) if leave else frame.compute())

        # Collect garbage once instead of before each call, because it takes longer than a small call.
        gc.collect()
        while sum(whole) < ENOUGH and len(whole) < MOST:
            frames.clear()
            whole.append(self._timed(compute, client))
        if first:
            with self._scheduler(client):
                return {"measures": {}, "bits": (digest if fetch else digest_rows)(frames[0])}
        frames.clear()
        while traced is not None and len(steps) < len(whole):
            steps.append(self._steps(traced, client))
        measures = {"call": min(whole), "lazy": min(lazy)}
        return {"measures": measures | ({"supersteps": min(steps)} if steps else {})}

    def _work(self, name: str, members: int | None, client: Any) -> tuple[Any, Any]:
        """Return a function that makes the lazy frame, and one that also makes its supersteps, or None."""
        if name == STREAMED:
            edges = self.edges(client)
            return lambda: gf.connected_components(edges, **ENDS), None
        if name == DEGREES:
            return self._kept("directed", members, client).degrees, None
        if name == IDLE:
            shards = self._kept("undirected", members, client)._shards
            return lambda: shards.run(_idle, NOTHING, name="idle"), None
        build, ask = (TRACED | OTHERS)[name]
        graph = self._kept(build, members, client)
        return (
            lambda: ask(graph, self._start),
            lambda: ask(graph, self._start, trace=True),
        )

    def _steps(self, traced: Any, client: Any) -> float:
        """Return the seconds of the supersteps; if there are several members, those of the slowest."""
        self.rest(client)
        with self._scheduler(client):
            steps = traced()[1].compute()
        if "member" in steps:
            return float(steps.groupby("member")["seconds"].sum().max())
        return float(steps["seconds"].sum())

    def _kept(self, build: str, members: int | None, client: Any) -> Any:
        key = build, members, client
        if key not in self._graphs:
            self.edges(client)
            with self._scheduler(client):
                self._graphs[key] = self._build(build, members, client)
                self._waited(self._graphs[key], client)
            self.hold(client)
        return self._graphs[key]

    def _build(self, name: str, members: int | None, client: Any) -> Any:
        return gf.Graph(self._edges[client], **ENDS, **BUILDS[name], shards=members).persist()

    def edges(self, client: Any) -> Any:
        """Return the edges. They are persisted in this process or on a cluster at the first use."""
        if client not in self._edges:
            with self._scheduler(client):
                edges = _lazy(self._files)
                edges = (edges.to_backend("cudf") if self._gpu else edges).persist()
                self._edges[client] = edges
                len(edges)  # waits for the edges
            self.hold(client)
        return self._edges[client]

    def _waited(self, graph: Any, client: Any) -> None:
        """Wait for a graph that a cluster builds, because persist() returns at once there."""
        if client is not None:
            _ = graph.num_edges

    def _timed(self, work: Callable[[], Any], client: Any) -> float:
        self.rest(client)
        with self._scheduler(client):
            began = time.perf_counter()
            work()
            self._synchronize()
            return time.perf_counter() - began

    def _synchronize(self) -> None:
        if self._gpu:
            gpu.wait()

    @contextmanager
    def _scheduler(self, client: Any) -> Iterator[None]:
        if client is None:
            with dask.config.set(scheduler="threads", num_workers=self._workers):
                yield
        else:
            with client.as_current(), dask.config.set(scheduler="dask.distributed"):
                yield

    def client(self, workers: int) -> Any:
        """Return a client of a cluster, which is started when it is first used."""
        if workers not in self._clients:
            from distributed import Client

            enter = self._stack.enter_context
            cluster = enter(gpu.cluster(workers, on_gpu=self._gpu, **self._cluster))
            self._clients[workers] = enter(Client(cluster, set_as_default=False))
        return self._clients[workers]

    def hold(self, client: Any) -> None:
        """Record the number of tasks that a cluster's scheduler has between calls."""
        if client is not None:
            self._held[client] = known_tasks(client)

    def rest(self, client: Any) -> None:
        """Wait until the scheduler has forgotten the last call, because it would reuse a known result."""
        if client is not None:
            wait_until_forgotten(client, self._held[client])


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


def digest_rows(frame: Any) -> str:
    """Return a hash of a frame's columns, dtypes and values, bit for bit. Rows may be in any order.

    The frame may be lazy. Workers then compute its hash, because a large frame takes a client seconds.
    """
    parts = frame.to_delayed() if hasattr(frame, "to_delayed") else [frame]
    total = sum(dask.compute(*(dask.delayed(_sum_of_hashes)(part) for part in parts)))
    dtypes = [(str(name), str(dtype)) for name, dtype in frame.dtypes.items()]
    return f"{dtypes} {total % (1 << 64)}"


def _sum_of_hashes(part: Any) -> int:
    floats = part.select_dtypes(["float32", "float64"])
    part = part.assign(
        **{name: floats[name].values.view(f"u{floats[name].dtype.itemsize}") for name in floats}
    )
    if hasattr(part, "hash_values"):
        return int(part.hash_values("xxhash64").values.sum(dtype="uint64"))
    return int(pd.util.hash_pandas_object(part, index=False).to_numpy().sum(dtype="uint64"))


def _persisted(frame: Any) -> Any:
    from distributed import wait

    kept = frame.persist()
    wait(kept)
    return kept


if __name__ == "__main__":
    main()
