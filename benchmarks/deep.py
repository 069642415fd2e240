"""Compare BFS and SSSP of deep graphs on several members, as threads and as processes, with one member."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd

import dask_graphflow as gf

from . import machine, report
from .device import needs
from .device.two import cluster
from .errors import UnusableInputError
from .inputs import Recipe
from .members import Question, Side, in_turn
from .timing import Spread, ratios

CALLS: dict[str, Question] = {
    "bfs": lambda graph, start, **how: graph.bfs([start], **how),
    "sssp": lambda graph, start, **how: graph.sssp([start], **how),
}
MOST = 255  # weights are whole numbers from 1 to MOST
NOTES = """\
Median time of the whole call on a persisted graph, from the lazy frame to the computed frame.
"supersteps" are the rows of the trace of another call, and "us each" is their mean time. Several members
run more than one level of a search in a superstep. "/ one" is the time of the call divided by the time with
one member, round by round: median (min to max). A smaller number is better. All contenders take turns,
after one round to warm up, and return the same bits."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--members", type=int, default=2, help="number of members (default 2)")
    parser.add_argument("--gpu", action="store_true", help="measure cuDF frames")
    parser.add_argument(
        "--one-gpu", action="store_true", help="all worker processes share the first GPU"
    )
    parser.add_argument(
        "--side", type=int, default=1000, help="the grid has side * side vertices (default 1000)"
    )
    parser.add_argument(
        "--length", type=int, default=9000, help="vertices of the permuted path (default 9000)"
    )
    parser.add_argument(
        "--graph", metavar="PATH", help="a Parquet file or folder to add, such as a road network"
    )
    parser.add_argument("--source", default="src", help="column of the file (default src)")
    parser.add_argument("--target", default="dst", help="column of the file (default dst)")
    parser.add_argument("--repeat", type=int, default=3, help="rounds, after one to warm up")


def run(options: argparse.Namespace) -> int:
    """Measure, print the table and store the results."""
    if options.members < 2 or options.repeat < 1 or min(options.side, options.length) < 2:
        raise UnusableInputError("give --members, --side and --length 2, and --repeat 1, or more")
    if options.one_gpu and not options.gpu:
        raise UnusableInputError("--one-gpu needs --gpu")
    if options.gpu:
        needs.check("cupy", "cudf", "dask_cudf", *([] if options.one_gpu else ["dask_cuda"]))
    rows = []
    with sides(options) as contenders:
        for name, frame in graphs(options):
            rows += measured(name, frame, contenders, options)
    where = "the host"
    if options.gpu:
        where = "one GPU" if options.one_gpu else f"{options.members} GPUs"
    results = {"benchmark": "deep", "members": options.members, "where": where, "rows": rows}
    print(show(results))
    kind = {"the host": "workers", "one GPU": "workers-one-gpu"}.get(where, "gpus")
    path = report.keep(options.json, f"deep-{options.members}-{kind}", results)
    if path is not None:
        print(f"kept in {path}")
    return 0


@contextmanager
def sides(options: argparse.Namespace) -> Iterator[list[Side]]:
    """Return one member, several in threads of this process, and several in worker processes."""
    from distributed import Client, LocalCluster

    count = options.members
    if options.gpu:
        started = cluster(count, "tcp", peer=False, one_gpu=options.one_gpu)
    else:
        started = LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=":0")
    with started as made, nullcontext(made) if options.gpu else Client(made) as client:
        yield [
            Side("one member", 1, count, weight="weight"),
            Side(f"{count} members, threads", count, count, weight="weight"),
            Side(f"{count} members, processes", count, count, client, weight="weight"),
        ]


def graphs(options: argparse.Namespace) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield names and edges with whole numbers as float32 weights."""
    grid = gf.generate.grid(options.side, options.side).compute(scheduler="threads")
    yield f"grid {options.side} x {options.side}", weighted(grid)
    names = np.random.default_rng(0).permutation(options.length)
    path = pd.DataFrame({"src": names[:-1], "dst": names[1:]})
    yield f"permuted path {options.length:,}", weighted(path)
    if options.graph is not None:
        ends = Recipe(path=options.graph, source=options.source, target=options.target)
        file = ends.load().frame.set_axis(["src", "dst"], axis=1)
        yield Path(options.graph).stem, weighted(file)


def weighted(edges: pd.DataFrame) -> pd.DataFrame:
    """Return the edges with random weights."""
    random = np.random.default_rng(1).integers(1, MOST + 1, len(edges))
    return edges.reset_index(drop=True).assign(weight=random.astype("float32"))


def measured(
    name: str, frame: pd.DataFrame, contenders: Sequence[Side], options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return the seconds and the supersteps of each call on one graph."""
    edges = dd.from_pandas(frame, npartitions=options.members)
    for side in contenders:
        side.load(edges.to_backend("cudf") if options.gpu else edges)
        side.keep()
    rows = []
    for call, question in CALLS.items():
        seconds = in_turn(contenders, partial(Side.call, question=question), options.repeat)
        row: dict[str, Any] = {"graph": name, "edges": len(frame), "call": call}
        traced = partial(question, trace=True)
        row["contenders"] = {
            side.name: {"seconds": seconds[side.name], **supersteps(side.trace(traced))}
            for side in contenders
        }
        rows.append(row)
    for side in contenders:
        side.clear()
    return rows


def supersteps(trace: Any) -> dict[str, float]:
    """Return the number of supersteps of a call and the seconds of all of them."""
    return {"supersteps": len(trace), "superstep_seconds": float(trace["seconds"].sum())}


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    laid = []
    for row in results["rows"]:
        one, *_ = row["contenders"].values()
        for name, found in row["contenders"].items():
            count = found["supersteps"]
            laid.append([
                f"{row['graph']}, {row['call']}, {name}",
                report.milliseconds(Spread.of(found["seconds"]))[1],
                f"{count:,}",
                f"{found['superstep_seconds'] / count * 1e6:.1f}",
                "1" if found is one else report.times(ratios(found["seconds"], one["seconds"])),
            ])  # fmt: skip
    rounds = round(median(len(one["seconds"]) for one in row["contenders"].values()))
    header = ["graph, call", "ms", "supersteps", "us each", "/ one"]
    return f"""\
Deep graphs without direction, {results["members"]} members on {results["where"]}
{report.machine_line(machine.describe())}

{report.table(header, laid)}

{rounds} rounds. {NOTES}"""
