"""Compare PageRank and breadth-first search on a graph split between CPU and GPUs with the CPU alone.

The CPU alone is one worker with all threads. It needs no messages, so it is the fastest way to use the CPU.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask_graphflow as gf
from benchmarks.lib import report
from benchmarks.lib.errors import DisagreementError, UnusableInputError
from benchmarks.lib.harness import Outcome, Spread, take_turns, timed
from dask_graphflow.graph.load_balance import makespan
from dask_graphflow.graph.shares import HybridSize
from dask_graphflow.kernels import device_link

ITERATIONS = 20
EDGE_FACTOR = 16
ALONE = "CPU alone"
ALGORITHMS = {"pagerank": "pagerank", "bfs": "distance"}  # and the columns that are compared
END = 4  # bytes of an edge's end
ALIGNED = 1 << 20  # the size of a pool is a multiple of this many bytes
THIRD = 3  # a capped GPU has room for 1 / THIRD of the graph
NOTES = f"""\
Times of whole calls on persisted graphs, in turn, after one round to warm up; all results are equal. A
ratio below 1 is faster than the {ALONE}. "loop": milliseconds of the supersteps of the slowest member.
"predicted": the ratio of the supersteps that the model predicts from the measured rates and links, the
shares, and the bytes of the cut. It predicts no search that reads edges over the link."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=22, help="2**scale ids (default 22)")
    parser.add_argument("--gpus", type=int, default=1, help="workers with a GPU (default 1)")
    parser.add_argument(
        "--threads", type=int, default=14, help="threads of the CPU's worker (default 14)"
    )
    parser.add_argument(
        "--shares", nargs="+", default=["auto", "0.33"], help="shares of the GPUs: numbers, or auto"
    )
    parser.add_argument("--placements", nargs="+", default=["auto"], help="see gf.Hybrid")
    parser.add_argument("--only", nargs="+", choices=[*ALGORITHMS], default=[*ALGORITHMS])
    parser.add_argument(
        "--capped", action="store_true", help="let GPUs use a third of the graph's bytes"
    )
    parser.add_argument("--repeat", type=int, default=3, help="rounds, after one to warm up")


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    if options.repeat < 1 or options.gpus < 0:
        raise UnusableInputError("give --repeat 1 or more, and --gpus 0 or more")
    rows = {}
    for name in options.only:
        limit = room(name, options) if options.capped and options.gpus else None
        with (
            workers(0, options.threads) as alone,
            workers(options.gpus, options.threads, limit, cpus=1 if options.gpus else 2) as both,
        ):
            rows[name] = {"limit": limit, **Question(name, alone, both, options).answer()}
        print(f"\n{name}\n{show(rows[name])}", flush=True)
    results = {
        "benchmark": "hybrid",
        "gpus": options.gpus,
        "threads": options.threads,
        "edges": EDGE_FACTOR << options.scale,
        "capped": options.capped,
        "questions": rows,
    }
    capped = ", capped" if options.capped else ""
    text = (
        f"\nR-MAT scale {options.scale}, {options.gpus} GPUs and {options.threads} threads{capped}"
    )
    name = f"hybrid-{options.gpus}-scale{options.scale}{'-capped' * options.capped}"
    report.show(f"{text}\n{NOTES}", results, name, options)
    return 0


def room(name: str, options: argparse.Namespace) -> int:
    """Return a third of the bytes that the whole graph would take on a GPU."""
    edges = 2 * EDGE_FACTOR << options.scale
    size = HybridSize(1 << options.scale, edges, 4 if name == "pagerank" else 8)
    return size.bytes() // THIRD // ALIGNED * ALIGNED


@contextmanager
def workers(gpus: int, threads: int, limit: int | None = None, cpus: int = 1) -> Iterator[Any]:
    """Start workers for the CPU, and one for each GPU with a memory limit in bytes."""
    from distributed import Client

    options: dict[str, Any] = {}
    if gpus:
        # All members build their parts on the host, even those for a GPU.
        options["gpu_options"] = {"threads_per_worker": max(1, threads // 2)}
    if limit is not None:
        pool = {"rmm_pool_size": limit, "rmm_maximum_pool_size": limit}
        options["gpu_options"] |= {**pool, "rmm_allocator_external_lib_list": ["cupy"]}
    options |= {"dashboard_address": ":0", "memory_limit": None}
    with (
        gf.hybrid_cluster(gpus, cpu_workers=cpus, threads=threads, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(gpus + cpus)
        yield client


class Question:
    """One algorithm on one graph, built by each cluster."""

    def __init__(self, name: str, alone: Any, both: Any, options: argparse.Namespace) -> None:
        self.name, self.alone, self.both, self.options = name, alone, both, options
        self.directed = name == "pagerank"
        # Measure the GPUs before they have copies of graphs, while there is room.
        self.calibrations = {client: self._calibrated(client) for client in (alone, both)}
        link = both.submit(device_link, resources={"GPU": 1}) if options.gpus else None
        # Bytes per second that a GPU reads from the host.
        self.link = link.result() if link else 0.0
        self.edges = {client: self._generated(client) for client in (alone, both)}
        with alone.as_current():
            self.start = int(self.edges[alone].partitions[0].head(1)["src"].iloc[0])

    def answer(self) -> dict[str, Any]:
        """Return the measurements."""
        graphs = {ALONE: (self.alone, self._built(self.alone, {"shards": 1}))}
        for share, placement in itertools.product(self.options.shares, self.options.placements):
            part = share if share == "auto" else float(share)
            shares = part if part == "auto" else {"gpu": part, "cpu": 1 - part}
            split: dict[str, Any] = {"hybrid": gf.Hybrid(shares, placement)}
            if not self.options.gpus:  # for a test of the command without a GPU
                shares = part if part == "auto" else [part, 1 - part]
                split = {"hybrid": gf.Hybrid(shares, placement), "shards": 2}
            graphs[f"{share} on GPUs, {placement}"] = self.both, self._built(self.both, split)
        traces: dict[str, list[Any]] = {name: [] for name in graphs}
        contenders = {name: self._work(*graphs[name], traces[name]) for name in graphs}
        values: list[Any] = []

        def check(name: str, answer: Any) -> None:
            values.append(answer) if not values else None
            if answer != values[0]:
                raise DisagreementError(f"{self.name}: {name} found other values than {ALONE}")

        seconds = take_turns(contenders, self.options.repeat, check)
        loops = {name: [_slowest(one) for one in traces[name][1:]] for name in graphs}
        split_graphs = {name: one for name, one in graphs.items() if name != ALONE}
        layouts = {name: self._layout(*one) for name, one in split_graphs.items()}
        predicted = {name: self._predicted(layouts[name], traces[name][-1]) for name in layouts}
        return {
            "seconds": seconds, "loops": loops, "layouts": layouts, "predicted": predicted,
            "traces": {name: one[-1].to_dict("records") for name, one in traces.items()},
        }  # fmt: skip

    def _built(self, client: Any, split: dict[str, Any]) -> Any:
        with client.as_current():
            ends = {"source": "src", "target": "dst", "directed": self.directed}
            graph = gf.Graph(self.edges[client], **ends, **split).persist()
            _ = graph.num_edges  # waits for the build
        return graph

    def _calibrated(self, client: Any) -> Any:
        with client.as_current():
            return gf.calibrate(fresh=False, progress=False)

    def _generated(self, client: Any) -> Any:
        from distributed import wait

        with client.as_current():
            edges = gf.generate.rmat(self.options.scale, npartitions=16, dtype="int32").persist()
            wait(edges)
        return edges

    def _work(self, client: Any, graph: Any, traces: list[Any]) -> Callable[[], Outcome]:
        numbers = itertools.count()

        def work() -> Outcome:
            from distributed import wait

            def call() -> Any:
                kept = self._call(graph, next(numbers)).persist()
                wait(kept)
                return kept

            with client.as_current():
                outcome = timed(call)
                traces.append(self._call(graph, next(numbers), trace=True)[1].compute())
                values = outcome.answer[ALGORITHMS[self.name]].compute().to_numpy()
            return Outcome(outcome.seconds, (len(values), hash(values.tobytes())))

        return work

    def _call(self, graph: Any, number: int, *, trace: bool = False) -> Any:
        # Each call is a little different, so that no stored result is reused.
        if self.name == "bfs":
            return graph.bfs(self.start, trace=trace, depth_limit=1000 + number)
        alpha = 0.85 + number // 2 * 1e-9
        return graph.pagerank(trace=trace, tol=None, max_iter=ITERATIONS, alpha=alpha)

    def _layout(self, client: Any, graph: Any) -> dict[str, list[float]]:
        with client.as_current():
            layout = graph.layout().compute()
        return {"shares": layout.share.tolist(), "cut": layout.beta.tolist()}

    def _predicted(self, layout: dict[str, list[float]], trace: Any) -> float | None:
        """Return the predicted time of the supersteps, divided by that of the CPU alone."""
        vertices, kernel = 1 << self.options.scale, "pulls" if self.directed else "searches"
        edges = (EDGE_FACTOR << self.options.scale) * (1 if self.directed else 2)
        (cpu,), both = self.calibrations[self.alone].kinds, self.calibrations[self.both]
        members = [kind for kind in sorted(both.kinds, key=lambda kind: not kind.device)
                   for _ in range(kind.workers)]  # fmt: skip
        by_member = trace.groupby("member")
        linked = by_member["linked"].last()
        if not self.directed and linked.any():
            return None  # the number of edges that it reads is not known in advance
        rates = [
            min(
                member.rates.rate(kernel, vertices),
                self.link / END if linked[rank] else float("inf"),
            )
            for rank, member in enumerate(members)
        ]
        sweeps = ITERATIONS if self.directed else 1
        work = [sweeps * edges * share for share in layout["shares"]]
        seconds = makespan(work, rates, by_member["bytes"].sum().to_list(), c=both.links.c)
        seconds += (len(members) > 1) * 2 * int(by_member.size().max()) * both.links.latency
        return float(seconds * cpu.rates.rate(kernel, vertices) / (sweeps * edges))


def _slowest(trace: Any) -> float:
    """Return the seconds of the supersteps of the slowest member."""
    by = trace.groupby("member").seconds.sum() if "member" in trace else trace.seconds.sum()
    return float(by.max())


def show(row: dict[str, Any]) -> str:
    """Format the measurements of one algorithm as text."""
    loops = {name: f"{Spread.of(one).median * 1e3:.1f}" for name, one in row["loops"].items()}
    predicted = {name: f"{one:.2f}" for name, one in row["predicted"].items() if one is not None}
    shares = {
        name: " ".join(f"{share:.4f}" for share in one["shares"])
        for name, one in row["layouts"].items()
    }
    columns = {"loop": loops, "predicted": predicted, "shares": shares}
    limit = f"\nGPUs may use {row['limit']:,} bytes" if row["limit"] else ""
    return report.comparison(row["seconds"], ALONE, columns) + limit
