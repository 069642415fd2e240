"""Predicted and measured time of whole calls on frames of edges."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter, process_time
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

import dask_graphflow as gf
from dask_graphflow.algorithms.algorithm import ALGORITHMS

from . import machine, report
from .forgetting import forgotten, known_tasks
from .graphs.edges import Edges
from .required import options_for

PARTITIONS = 8
SPREAD = 0x9E3779B97F4A7C15  # odd, so that all products differ
IDS: dict[str, Callable[[Any], Any]] = {
    "dense": lambda ids: ids,
    "far": lambda ids: ids.astype("uint64") * np.uint64(SPREAD) >> np.uint64(1),
    "text": lambda ids: np.char.add("vertex-", ids.astype(str)),
}
SOURCES = 16  # number of sampled sources
# Neither grids nor R-MAT graphs converge in the default number of iterations.
DIVERGING = ("eigenvector_centrality", "hits")
PLACES = ("process", "cluster")
NOTES = """\
Milliseconds from the call on a persisted frame of edges to its persisted result, the best of the rounds;
with --cpu, of the processor of this process, which runs one thread. The prediction uses the stored rates
of this machine, or those of a typical one. R-MAT graphs are directed, except for algorithms of undirected
graphs; grids are undirected. Algorithms that sample sources take 16."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument(
        "--scales", type=int, nargs="*", default=[16, 18, 20],
        help="R-MAT graphs of 2**scale ids (default 16 18 20)",
    )  # fmt: skip
    parser.add_argument(
        "--grids", type=int, nargs="*", default=[1000], help="sides of square grids (default 1000)"
    )
    parser.add_argument(
        "--ids", nargs="+", choices=list(IDS), default=list(IDS), help="kinds of ids"
    )
    parser.add_argument("--calls", nargs="+", choices=list(ALGORITHMS), default=list(ALGORITHMS))
    parser.add_argument(
        "--places", nargs="+", choices=PLACES, default=list(PLACES),
        help="this process with the threaded scheduler, or a local cluster",
    )  # fmt: skip
    parser.add_argument("--processes", type=int, default=2, help="workers of the cluster")
    parser.add_argument(
        "--cpu", action="store_true",
        help="one thread in this process, and CPU seconds: on a machine that others use too",
    )  # fmt: skip
    parser.add_argument("--repeat", type=int, default=3, help="rounds, after one to warm up")
    parser.add_argument("--parts", action="store_true", help="print the parts of each prediction")


def run(options: argparse.Namespace) -> int:
    """Measure, print the table and store the results."""
    kept: list[dict[str, Any]] = []
    for place in options.places:
        with workers(place, options) as client:
            for graph, frame, directed in graphs(options.scales, options.grids):
                for ids in options.ids:
                    for row in measured(client, frame, ids, directed, options):
                        kept.append({"place": place, "graph": graph, "ids": ids, **row})
                        print(_line(kept[-1], parts=options.parts), flush=True)
    heads = ["place", "graph", "ids", "call", "measured", "predicted", "predicted / measured"]
    print(f"\n{report.table(heads, [_cells(row) for row in kept])}")
    print(f"\n{NOTES}\n{report.machine_line(machine.describe())}")
    path = report.keep(options.json, "estimates", {"rows": kept})
    if path is not None:
        print(f"kept in {path}")
    return 0


@contextmanager
def workers(place: str, options: argparse.Namespace) -> Iterator[Any]:
    """Start a cluster of workers with one thread each, or use this process."""
    if place == "process":
        threads = {"num_workers": 1} if options.cpu else {}
        with dask.config.set(scheduler="threads", **threads):
            yield None
        return
    count = options.processes
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(count)
        yield client


def graphs(scales: list[int], grids: list[int]) -> Iterator[tuple[str, pd.DataFrame, bool]]:
    """Yield names, edge lists, and whether the edges are directed."""
    for scale in scales:
        yield f"R-MAT {scale}", gf.generate.rmat(scale).compute(scheduler="threads"), True
    for side in grids:
        yield f"grid {side:,}", gf.generate.grid(side, side).compute(scheduler="threads"), False


def measured(
    client: Any, frame: pd.DataFrame, ids: str, directed: bool, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Yield the prediction and the measured seconds of each call."""
    edges = Edges.of(frame.reset_index(drop=True), 0)
    bound = edges.bound
    names = pd.Series(IDS[ids](np.arange(bound)))
    if ids == "text":
        names = names.astype("str")
    taken = {
        end: names.take(edges.frame[end].to_numpy()).reset_index(drop=True)
        for end in ("src", "dst")
    }
    vertices = np.unique(frame[["src", "dst"]])
    count = bound if ids == "dense" else len(vertices)
    vertices = np.append(edges.start, vertices[vertices != edges.start])
    needed = options_for(names.take(vertices).reset_index(drop=True))
    lazy = dd.from_pandas(edges.frame.assign(**taken), npartitions=PARTITIONS).persist()
    del taken, edges
    if client is not None:
        from distributed import wait

        wait(lazy)
        client.rebalance(lazy)
    ends = {"source": "src", "target": "dst"}
    sizes = {"num_edges": len(frame), "num_vertices": count}
    for name in options.calls:
        declared = ALGORITHMS[name]
        about: dict[str, Any] = {"directed": directed and declared.directed}
        how = dict(needed.get(name, {}))
        if name in DIVERGING:
            how["fail_on_nonconvergence"] = False
        if name != "connected_components":
            how["directed"] = about["directed"]
        if declared.weights == "required":
            how["weight"] = about["weight"] = "weight"
        if name == "personalized_pagerank":
            about["k"] = len(how["sources"])
        elif declared.cost.sources is not None:
            how["k"] = about["k"] = SOURCES
        about["dense_ids"] = ids == "dense"
        found = gf.estimate(lazy, name, **ends, **about, **sizes)
        call = partial(getattr(gf, name), lazy, **ends, **how)
        seconds = timed(client, call, options)
        yield {
            "call": name,
            "seconds": seconds,
            "predicted": found.seconds,
            "parts": found.parts,
            "plan": found.plan,
        }


def timed(client: Any, work: Callable[[], Any], options: argparse.Namespace) -> list[float]:
    """Return the seconds of each round of a call, after a round to warm up."""
    taken: list[float] = []
    held = known_tasks(client) if client is not None else 0
    clock = process_time if options.cpu else perf_counter
    for turn in range(options.repeat + 1):
        began = clock()
        made = work().persist()
        if client is not None:
            from distributed import wait

            wait(made)
        seconds = clock() - began
        if turn:
            taken.append(seconds)
        del made
        gc.collect()
        if client is not None:
            forgotten(client, held)
    return taken


def _cells(row: dict[str, Any]) -> list[str]:
    best = min(row["seconds"])
    return [
        row["place"], row["graph"], row["ids"], row["call"], f"{best * 1e3:.0f}",
        f"{row['predicted'] * 1e3:.0f}", f"{row['predicted'] / best:.2f}",
    ]  # fmt: skip


def _line(row: dict[str, Any], *, parts: bool) -> str:
    cells = "  ".join(_cells(row))
    if not parts:
        return cells
    return (
        f"{cells}  {', '.join(f'{k} {v * 1e3:.0f}' for k, v in row['parts'].items())} {row['plan']}"
    )
