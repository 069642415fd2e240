"""Time and peak memory of whole calls beside the estimates, for every function on five kinds of graph."""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import dask
import numpy as np
import pandas as pd

import dask_graphflow as gf
from dask_graphflow.algorithms.algorithm import ALGORITHMS
from dask_graphflow.api.estimate import PATHS
from dask_graphflow.scheduling.memory_limits import PROCESS

from . import machine, report, rss
from .inputs import Edges
from .required import options_for

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
SEARCHES = "betweenness_centrality", "closeness_centrality", "harmonic_centrality"
FEW, SHORTER = 1, 10  # on a path, they take a level per vertex: one source, a tenth of the vertices
MANY = {"personalized_pagerank": 16, "similarity": 1000, PATHS: 20}
# Some graphs do not converge in the default number of iterations.
DIVERGING = "eigenvector_centrality", "hits", "katz_centrality", "personalized_pagerank"
CALIBRATION = "DASK_GRAPHFLOW__CALIBRATION__PATH"
PAGE = Path(__file__).parent.parent / "docs" / "internals" / "costs.md"
BEGIN, END = "<!-- measured -->", "<!-- end of what was measured -->"
NOTES = """\
Each call has a process of its own, and is measured when it is made for the second time, with one thread. It
goes from a pandas frame of edges to a pandas frame. s: seconds of the processor. MB: peak of the resident
memory, without the process and its frame of edges. Estimates use the rates of a typical machine."""


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
    parser.add_argument("--kept", help="do not measure, but print the results in this file")
    parser.add_argument("--docs", action="store_true", help=f"write the table into {PAGE.name}")


def run(options: argparse.Namespace) -> int:
    """Measure, print the table and store the results."""
    if options.kept is not None:
        found = json.loads(Path(options.kept).read_text("utf-8"))
    else:
        found = {"size": options.size, "rows": list(measure(options))}
        kept = report.keep(options.json, "estimates", found)
        found["machine"] = machine.describe()
        print(f"\nkept in {kept}" if kept is not None else "")
    rows = found["rows"]
    print(report.table(HEADS, [cells(row) for row in rows]))
    print(f"\n{NOTES}\n{report.machine_line(found['machine'])}")
    if options.docs:
        PAGE.write_text(replaced(PAGE.read_text("utf-8"), markdown(rows)), "utf-8")
        print(f"written into {PAGE}")
    return 1 if any("failed" in row for row in rows) else 0


def measure(options: argparse.Namespace) -> Any:
    """Yield the row of each call, and print it."""
    with tempfile.TemporaryDirectory(prefix="graphflow-rates-") as folder:
        os.environ[CALIBRATION] = folder  # earlier calls must not correct the rates
        for graph in options.graphs:
            for call in options.calls:
                row = {"graph": graph, "call": call}
                row |= alone(graph, call, options.size, options.timeout)
                print("  ".join(cells(row)), flush=True)
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
        found: dict[str, Any] = receiver.recv()
        return found
    except EOFError:
        return {"failed": "the process ended"}
    finally:
        process.kill()
        process.join()


def _child(sender: Any, graph: str, call: str, size: int) -> None:
    try:
        found = measured(graph, call, size)
    except Exception as error:
        found = {"failed": f"{type(error).__name__}: {error}"}
    sender.send(found)


def measured(graph: str, call: str, size: int) -> dict[str, Any]:
    """Return the seconds and the peak memory of a call, and both as estimated."""
    with dask.config.set(scheduler="synchronous", num_workers=1):
        frame, work, about, shown = prepared(graph, call, size)
        told = gf.estimate(frame, call, **ENDS, **about)
        work()  # compiles kernels
        rss.reset_peak()
        before, began = rss.current(), process_time()
        work()
        seconds, peak = process_time() - began, rss.peak() - before
    given = int(frame.memory_usage(index=False).sum())
    if call == PATHS:
        given = 0  # its input is the result of a search
    return {
        "options": shown, "seconds": seconds, "estimated": told.seconds, "at_most": told.most_seconds,
        "peak": peak, "bound": told.bytes_per_worker[0] - PROCESS - given, "parts": told.parts,
    }  # fmt: skip


def prepared(
    graph: str, call: str, size: int
) -> tuple[pd.DataFrame, Callable[[], Any], dict[str, Any], str]:
    """Return a graph's edges, a call on it, the options of its estimate, and those of the call as text."""
    name = "bfs" if call == PATHS else call
    declared = ALGORITHMS[name]
    if call in SEARCHES and graph == "path":
        size //= SHORTER
    edges = Edges.of(GRAPHS[graph](size).reset_index(drop=True), 0)
    vertices = pd.unique(edges.frame[["src", "dst"]].to_numpy().ravel())
    vertices = pd.Series(np.append(edges.start, vertices[vertices != edges.start]))
    how = dict(options_for(vertices).get(name, {}))
    about: dict[str, Any] = {"directed": declared.directed and graph in DIRECTED}
    some = vertices.iloc[-MANY.get(call, 1) :]
    if call == "personalized_pagerank":
        how["sources"] = some.to_list()
    elif call == "similarity" and graph in HUBS:
        how = {"pairs": pd.DataFrame({"first": vertices[: len(some)], "second": some.to_numpy()})}
    elif call == "similarity":
        about["top_k"] = how["top_k"]
    elif call in SEARCHES and graph == "path":
        how["k"] = FEW
    if name in DIVERGING:
        how["fail_on_nonconvergence"] = False
    if call in MANY and "top_k" not in how:
        about["k"] = len(some)
    elif call in SEARCHES:
        about["k"] = how["k"]
    shown = ", ".join(f"{key}={_short(value)}" for key, value in how.items())
    if call in SEARCHES and graph == "path":
        shown += f", {size:,} vertices"
    frame = edges.frame if declared.weights == "required" else edges.frame[["src", "dst"]].copy()
    if declared.weights == "required":
        how["weight"] = about["weight"] = "weight"
    if name != "connected_components":
        how["directed"] = about["directed"]
    work = getattr(gf, name)(frame, **ENDS, **how)
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


HEADS = [
    "call", "graph", "s", "estimated", "at most", "s / estimated", "MB", "bound", "MB / bound", "options",
]  # fmt: skip


def cells(row: Mapping[str, Any]) -> list[str]:
    """Return a row of the table."""
    if "failed" in row:
        return [row["call"], row["graph"], *[""] * (len(HEADS) - 3), row["failed"][:100]]
    return [
        row["call"], row["graph"], f"{row['seconds']:.3f}", f"{row['estimated']:.3f}",
        f"{row['at_most']:.3f}", f"{row['seconds'] / row['estimated']:.2f}", f"{row['peak'] / 1e6:.0f}",
        f"{row['bound'] / 1e6:.0f}", f"{row['peak'] / row['bound']:.2f}", row["options"],
    ]  # fmt: skip


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as two Markdown tables with a row per function and a column per graph."""
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    by_call: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        by_call.setdefault(row["call"], {})[row["graph"]] = row
    tables = (
        (
            "MB, measured / bound",
            lambda row: f"{row['peak'] / 1e6:,.0f} / {row['bound'] / 1e6:,.0f}",
        ),
        ("s, measured / estimated (at most)", _seconds),
    )
    parts = []
    for head, cell in tables:
        lines = [f"| {head} | {' | '.join(graphs)} |", "|---|" + "---:|" * len(graphs)]
        for call, found in sorted(by_call.items()):
            shown = [
                "failed"
                if "failed" in found[graph]
                else cell(found[graph])
                if graph in found
                else ""
                for graph in graphs
            ]
            lines.append(f"| `{call}` | {' | '.join(shown)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _seconds(row: Mapping[str, Any]) -> str:
    bound = f" ({row['at_most']:.2g})" if row["at_most"] > 1.5 * row["estimated"] else ""
    return f"{row['seconds']:.2g} / {row['estimated']:.2g}{bound}"


def replaced(page: str, text: str) -> str:
    """Return a page with other tables between the two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"
