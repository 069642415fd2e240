"""Time and peak memory of whole calls beside the estimates, for every function on five kinds of graph."""

from __future__ import annotations

import argparse
import itertools
import json
import math
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import dask
import numpy as np
import pandas as pd

import dask_graphflow as gf
from benchmarks.lib import machine, report, rss
from benchmarks.lib.edges import Edges
from benchmarks.lib.required import ORIENTED, edges_for, options_for
from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.api.estimate import PATHS
from dask_graphflow.kernels.memory import PROCESS

ENDS = {"source": "src", "target": "dst"}
CALLS = [*ALGORITHMS, PATHS]
SIZE = 1_000_000
GRAPHS: dict[str, Callable[[int], Any]] = {
    "path": lambda size: gf.generate.path(size).compute(),
    "star": lambda size: pd.DataFrame({"src": 0, "dst": np.arange(1, size)}),
    "grid": lambda size: gf.generate.grid(*[math.isqrt(size)] * 2).compute(),
    "pairs": lambda size: pd.DataFrame(np.arange(2 * size).reshape(-1, 2), columns=["src", "dst"]),
    "R-MAT": lambda size: gf.generate.rmat(max(round(math.log2(size / 8)), 2)).compute(),
}
DIRECTED = ("R-MAT",)
HUBS = "star", "R-MAT"  # too many pairs have a common neighbor there
SEARCHES = (
    *("betweenness_centrality", "closeness_centrality"),
    *("edge_betweenness_centrality", "harmonic_centrality"),
)
# On a path, searches take a level per vertex, so they have one source and a tenth of the vertices.
PATH_SOURCES, SHORTER = 1, 10
MANY = {"personalized_pagerank": 16, "similarity": 1000, PATHS: 20}
# Some graphs do not converge in the default number of iterations.
DIVERGING = "eigenvector_centrality", "hits", "katz_centrality", "personalized_pagerank"
CALIBRATION = "DASK_GRAPHFLOW__CALIBRATION__PATH"
NOTES = """\
Measured / estimated. Each call has a process of its own, and is measured when it is made for the second
time, with one thread. It goes from a pandas frame of edges to a pandas frame. MB: peak of the resident
memory, without the process and its frame of edges. s: seconds of the processor, and "to" the upper bound of
the estimate. Estimates use the rates of a typical machine."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--calls", nargs="+", choices=CALLS, default=CALLS)
    parser.add_argument("--graphs", nargs="+", choices=list(GRAPHS), default=list(GRAPHS))
    parser.add_argument(
        "--size", type=int, default=SIZE,
        help="vertices of the path, the star and the grid, number of pairs, and half of the edges of "
        f"the R-MAT graph (default {SIZE:,})",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", type=float, default=150, help="seconds until a call is stopped (default 150)"
    )
    parser.add_argument(
        "--kept", help="do not measure, but compare the results in this file with current estimates"
    )


def run(options: argparse.Namespace) -> int:
    """Measure, print the table and store the results."""
    with (
        tempfile.TemporaryDirectory(prefix="graphflow-rates-") as folder,
        dask.config.set({"graphflow.calibration.path": folder}),  # no rates are stored there
    ):
        os.environ[CALIBRATION] = folder
        if options.kept is not None:
            results = json.loads(Path(options.kept).read_text("utf-8"))
            for row in results["rows"]:
                frame, _, about, _ = prepared(row["graph"], row["call"], results["size"])
                row |= estimated(frame, about, row["call"])
        else:
            results = {"size": options.size, "rows": list(measure(options))}
            kept = report.keep(options.json, "estimates", results)
            results["machine"] = machine.describe()
            print(f"\nkept in {kept}" if kept is not None else "")
    print(f"{table(results['rows'])}\n\n{NOTES}\n{report.machine_line(results['machine'])}")
    return 1 if any("failed" in row for row in results["rows"]) else 0


def measure(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the row of each call, and print it."""
    for graph, call in itertools.product(options.graphs, options.calls):
        row = {"graph": graph, "call": call}
        row |= alone(graph, call, options.size, options.timeout)
        print(graph, call, row.get("options", ""), cell(row), sep="  ", flush=True)
        yield row


def alone(graph: str, call: str, size: int, timeout: float) -> dict[str, Any]:
    """Return what a call takes in a process of its own, or why it failed."""
    # The server only imports this module, so its children need not import it again.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(sender, graph, call, size))
    process.start()
    sender.close()
    try:
        if not receiver.poll(timeout):
            return {"failed": f"it took more than {timeout:g} s"}
        row: dict[str, Any] = receiver.recv()
        return row
    except EOFError:
        return {"failed": "the process ended"}
    finally:
        process.kill()
        process.join()


def _child(sender: Any, graph: str, call: str, size: int) -> None:
    try:
        row = measured(graph, call, size)
    except Exception as error:
        row = {"failed": f"{type(error).__name__}: {error}"}
    sender.send(row)


def measured(graph: str, call: str, size: int) -> dict[str, Any]:
    """Return the seconds and the peak memory of a call, and both as estimated."""
    with dask.config.set(scheduler="synchronous", num_workers=1):
        frame, work, about, text = prepared(graph, call, size)
        estimate = estimated(frame, about, call)
        work()  # compiles kernels
        rss.reset_peak()
        before, began = rss.current(), process_time()
        work()
        seconds, peak = process_time() - began, rss.peak() - before
    return {"options": text, "seconds": seconds, "peak": peak, **estimate}


def estimated(frame: pd.DataFrame, about: dict[str, Any], call: str) -> dict[str, Any]:
    """Return the estimate of a call, without the process and its frame of edges."""
    with dask.config.set(scheduler="synchronous", num_workers=1):
        estimate = gf.estimate(frame, call, **ENDS, **about)
    # The input of shortest paths is the result of a search.
    given = 0 if call == PATHS else int(frame.memory_usage(index=False).sum())
    return {
        "estimated": estimate.seconds,
        "at_most": estimate.most_seconds,
        "bound": estimate.bytes_per_worker[0] - PROCESS - given,
        "parts": estimate.parts,
    }


def prepared(
    graph: str, call: str, size: int
) -> tuple[pd.DataFrame, Callable[[], Any], dict[str, Any], str]:
    """Return a graph's edges, a call on it, the options of its estimate, and those of the call as text."""
    name = "bfs" if call == PATHS else call
    declared = ALGORITHMS[name]
    if call in SEARCHES and graph == "path":
        size //= SHORTER
    edges = Edges.of(edges_for(name, GRAPHS[graph](size).reset_index(drop=True)), 0)
    vertices = pd.unique(edges.frame[["src", "dst"]].to_numpy().ravel())
    vertices = pd.Series(np.append(edges.start, vertices[vertices != edges.start]))
    options = dict(options_for(vertices).get(name, {}))
    about: dict[str, Any] = {
        "directed": declared.directed and (graph in DIRECTED or name in ORIENTED)
    }
    some = vertices.iloc[-MANY.get(call, 1) :]
    if call == "personalized_pagerank":
        options["sources"] = some.to_list()
    elif call == "similarity" and graph in HUBS:
        options = {
            "pairs": pd.DataFrame({"first": vertices[: len(some)], "second": some.to_numpy()})
        }
    elif call == "similarity":
        about["top_k"] = options["top_k"]
    elif call in SEARCHES and graph == "path":
        options["k"] = PATH_SOURCES
    if name in DIVERGING:
        options["fail_on_nonconvergence"] = False
    if call in MANY and "top_k" not in options:
        about["k"] = len(some)
    elif call in SEARCHES:
        about["k"] = options["k"]
    shown = ", ".join(f"{key}={_short(value)}" for key, value in options.items())
    if call in SEARCHES and graph == "path":
        shown += f", {size:,} vertices"
    frame = edges.frame if declared.weights == "required" else edges.frame[["src", "dst"]].copy()
    if declared.weights == "required":
        options["weight"] = about["weight"] = "weight"
    if name != "connected_components":
        options["directed"] = about["directed"]
    work = getattr(gf, name)(frame, **ENDS, **options)
    if call == PATHS:
        work, shown = (
            gf.shortest_paths(work.compute(), some.to_list()),
            f"targets=[{len(some)} ids]",
        )
    return frame, work.compute, about, shown


def _short(value: Any) -> str:
    if isinstance(value, list) and len(value) > 2:
        return f"[{len(value)} ids]"
    return f"{len(value)} rows" if isinstance(value, pd.DataFrame) else str(value)


def cell(row: Mapping[str, Any]) -> str:
    """Return the measured and the estimated values of a call as text."""
    if "failed" in row:
        return row["failed"][:100]
    most = f" to {row['at_most']:.2g}" if row["at_most"] > 1.5 * row["estimated"] else ""
    return (
        f"{row['peak'] / 1e6:,.0f} / {row['bound'] / 1e6:,.0f} MB, "
        f"{row['seconds']:.2g} / {row['estimated']:.2g}{most} s"
    )


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a Markdown table with a row per function and a column per graph."""
    cells = {(row["call"], row["graph"]): cell(row) for row in rows}
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    lines = [f"| measured / estimated | {' | '.join(graphs)} |", "|---|" + "---:|" * len(graphs)]
    for call in sorted({row["call"] for row in rows}):
        values = " | ".join(cells.get((call, graph), "") for graph in graphs)
        lines.append(f"| `{call}` | {values} |")
    return "\n".join(lines)
