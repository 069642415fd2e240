"""Compare graphs that are split as the build chooses, kept on one worker, and split between all workers."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd

import dask_graphflow as gf

from . import machine, report
from .errors import BenchmarkError
from .forgetting import forgotten, known_tasks
from .graphs.edges import Edges
from .timing import ratios

PARTITIONS = 8
ITERATIONS = 20
CALLS: dict[str, Callable[[gf.Graph, int], Any]] = {
    "bfs": lambda graph, start: graph.bfs([start]),
    "sssp": lambda graph, start: graph.sssp([start]),
    "pagerank": lambda graph, start: graph.pagerank(max_iter=ITERATIONS, tol=None),
    "connected_components": lambda graph, start: graph.connected_components(),
    "label_propagation": lambda graph, start: graph.label_propagation(max_iter=5),
}
NOTES = """\
Milliseconds of a whole call on a persisted graph, from the construction of the lazy frame to the computed
frame; the build is Graph(...).persist() until all shards are there. The best round of each. "default /
best" is the median over the rounds of the default's time divided by the smaller of the other two."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument(
        "--gpu", action="store_true", help="measure cuDF frames, one worker per GPU"
    )
    parser.add_argument(
        "--processes", type=int, default=2, help="number of Dask workers, or of GPUs (default 2)"
    )
    parser.add_argument(
        "--scales", type=int, nargs="+", default=[12, 14, 16, 18, 20],
        help="R-MAT graphs of 2**scale ids (default 12 14 16 18 20)",
    )  # fmt: skip
    parser.add_argument("--repeat", type=int, default=3, help="rounds, after one to warm up")


def run(options: argparse.Namespace) -> int:
    """Measure, print the table and store the results."""
    rows, kept = [], []
    split = {"default": {}, "one": {"shards": 1}, "all": {"shards": options.processes}}
    with cluster(options) as client:
        for name, frame in graphs(options.scales):
            edges = Edges.of(frame.reset_index(drop=True), 0)
            lazy = loaded(edges.frame, client, gpu=options.gpu)
            found, chosen = measured(lazy, edges.start, split, options.repeat, client)
            for what, seconds in found.items():
                best = [min(pair) for pair in zip(seconds["one"], seconds["all"], strict=True)]
                ratio = ratios(seconds["default"], best)
                shown = (f"{min(seconds[side]) * 1e3:.0f}" for side in split)
                rows.append([name, what, *shown, report.times(ratio)])
                kept.append({"graph": name, "edges": len(edges.frame), "chosen": chosen,
                             "call": what, "seconds": seconds})  # fmt: skip
                print("  ".join(rows[-1]), flush=True)
            print(f"{name}: {chosen}", flush=True)
            del lazy, edges
    print()
    print(report.table(["graph", "call", *split, "default / best"], rows))
    print(f"\n{NOTES}\n{report.machine_line(machine.describe())}")
    kind = "gpus" if options.gpu else "workers"
    path = report.keep(options.json, f"splits-{options.processes}-{kind}", {"rows": kept})
    if path is not None:
        print(f"kept in {path}")
    return 0


@contextmanager
def cluster(options: argparse.Namespace) -> Iterator[Any]:
    """Start the workers, with one thread each on the host."""
    from distributed import Client, LocalCluster

    if options.gpu:
        from dask_cuda import LocalCUDACluster

        started = LocalCUDACluster(n_workers=options.processes, dashboard_address=None)
    else:
        started = LocalCluster(
            n_workers=options.processes, threads_per_worker=1, dashboard_address=None
        )
    with started as workers, Client(workers) as client:
        client.wait_for_workers(options.processes)
        yield client


def graphs(scales: list[int]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield names and edge lists: the graphs in the folder GRAPHFLOW_DATA, and generated ones."""
    folder = os.environ.get("GRAPHFLOW_DATA", "")
    if not folder:
        raise BenchmarkError(
            "set GRAPHFLOW_DATA to a folder of Parquet files with columns src and dst"
        )
    for file in sorted(Path(folder).glob("*.parquet")):
        frame = pd.read_parquet(file)
        if {"src", "dst"} <= set(frame.columns):
            numbers, _ = pd.factorize(pd.concat([frame["src"], frame["dst"]]))
            ends = np.split(numbers, 2)
            yield file.stem, pd.DataFrame(dict(zip(("src", "dst"), ends, strict=True)))
    yield "path 10,000", gf.generate.path(10_000).compute(scheduler="threads")
    yield "grid 1,000", gf.generate.grid(1000, 1000).compute(scheduler="threads")
    for scale in scales:
        yield f"R-MAT {scale}", gf.generate.rmat(scale).compute(scheduler="threads")


def loaded(frame: pd.DataFrame, client: Any, *, gpu: bool) -> Any:
    """Return the edges as a persisted frame that is distributed over the workers."""
    from distributed import wait

    lazy = dd.from_pandas(frame, npartitions=PARTITIONS)
    lazy = (lazy.to_backend("cudf") if gpu else lazy).persist()
    wait(lazy)
    client.rebalance(lazy)
    return lazy


def measured(
    edges: Any, start: Any, split: dict[str, dict[str, int]], repeat: int, client: Any
) -> tuple[dict[str, dict[str, list[float]]], str]:
    """Return the seconds of the build and of each call, by split, and the default's choice."""
    from distributed import wait

    found: dict[str, dict[str, list[float]]] = {
        call: {side: [] for side in split} for call in ("build", *CALLS)
    }

    def build(side: str) -> gf.Graph:
        ends = {"source": "src", "target": "dst", "weight": "weight"}
        built = gf.Graph(edges, **ends, directed=False, **split[side]).persist()
        wait(built._shards.built)
        return built

    def timed(call: str, side: str, work: Callable[[], Any]) -> None:
        held = known_tasks(client)
        for turn in range(repeat + 1):
            began = perf_counter()
            made = work()
            seconds = perf_counter() - began
            if turn:
                found[call][side].append(seconds)
            del made
            gc.collect()
            forgotten(client, held)

    for side in split:
        timed("build", side, lambda side=side: build(side))
    built = {side: build(side) for side in split}
    for call, ask in CALLS.items():
        for side, graph in built.items():
            timed(call, side, lambda ask=ask, graph=graph: ask(graph, start).compute())
    chosen = next(line for line in repr(built["default"]).splitlines() if line.startswith("shards"))
    return found, chosen.removeprefix("shards").strip()
