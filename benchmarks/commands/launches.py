"""How busy one GPU is during each algorithm, and how many kernels it launches per superstep."""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd

import dask_graphflow as gf
from benchmarks.lib import gpu, report
from benchmarks.lib.edges import SEED, Edges, Sizes, rmat, road
from benchmarks.lib.errors import UnusableInputError
from benchmarks.lib.ours import call_with
from benchmarks.lib.required import ORIENTED, edges_for, form_of, options_for
from dask_graphflow.algorithms import ALGORITHMS

GRAPHS = ("rmat", "road")
SIDE = 512  # vertices along each side of the grid of the road-like graph
DIRECTED = ("hits", "pagerank", "strongly_connected_components", *ORIENTED)
KEPT = 12  # kernels of each function whose numbers are stored
SECONDS = 1.0  # no further round begins after this time
KINDS = ("kernel", "gpu_memcpy", "gpu_memset")
NOTES = """\
Each algorithm runs alone on a graph that is built, without the frame of the result, after one run that
compiles kernels. wall: median of the rounds, in ms, until the device is idle. busy: ms in which a kernel, a
copy or a fill runs, in ms, in one more run under CUPTI. share: busy / wall; larger is better. launches:
kernels. copies: copies and fills. A superstep is one of those that trace=True reports; one kernel can take
several."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help="default: all")
    parser.add_argument("--graph", nargs="+", choices=GRAPHS, default=GRAPHS)
    parser.add_argument("--scale", type=int, default=22, help="R-MAT graph of 2**scale ids")
    parser.add_argument(
        "--side", type=int, default=SIDE,
        help="the road-like graph is a grid of side x side vertices without 30 percent of its edges, or "
        "the roads of New York if GRAPHFLOW_DATA names a folder with road_ny.parquet (default 512)",
    )  # fmt: skip
    parser.add_argument("--sources", type=int, default=8, help="of each centrality (default 8)")
    parser.add_argument("--repeat", type=int, default=5, help="rounds, within a second")


def run(options: argparse.Namespace) -> int:
    """Measure, print a table per graph and store the results."""
    if unknown := sorted(set(options.functions) - set(ALGORITHMS)):
        raise UnusableInputError(f"{unknown[0]}: there are {', '.join(sorted(ALGORITHMS))}")
    gpu.check("torch")
    gpu.start()
    import cudf

    results: dict[str, Any] = {"scale": options.scale, "sources": options.sources, "graphs": {}}
    for name in options.graph:
        graphs = Graphs(edges_of(name, options), options.sources, cudf.from_pandas)
        rows = results["graphs"][name] = {}
        for function in options.functions or sorted(ALGORITHMS):
            rows[function] = row = measured(graphs, function, options.repeat, on_gpu)
            print(name, function, " ".join(cells(row)), flush=True)
            row["kernels"] = dict(most_launched(row, KEPT))
            gc.collect()
    tables = [f"{name}\n{table(rows)}" for name, rows in results["graphs"].items()]
    text = "\n\n".join([*tables, NOTES])
    report.show(text, results, f"launches-scale{options.scale}", options)
    every = [row for rows in results["graphs"].values() for row in rows.values()]
    return int(any("failed" in row for row in every))


def edges_of(graph: str, options: argparse.Namespace) -> Edges:
    """Return the edges of a graph, with weights."""
    sizes = Sizes(options.scale, options.side, 0, 0, "int32")
    frame = rmat(sizes.scale) if graph == "rmat" else road(sizes)
    return Edges.of(frame.astype("int32").reset_index(drop=True), SEED)


class Graphs:
    """The graphs of an edge list that the algorithms need: undirected, directed, or with weights.

    `put` moves a frame to the device.
    """

    def __init__(self, edges: Edges, sources: int, put: Callable[[pd.DataFrame], Any]) -> None:
        self.edges, self._put = edges, put
        ends = edges.frame["src"].to_numpy(), edges.frame["dst"].to_numpy()
        occurs = np.zeros(int(max(end.max() for end in ends)) + 1, bool)
        for end in ends:
            occurs[end] = True
        occurs[edges.start] = False
        vertices = pd.Series(np.append(edges.start, occurs.nonzero()[0]))
        self._options = options_for(vertices) | _options(vertices, sources)
        self._built: dict[tuple[bool, bool, str], gf.Graph] = {}

    def graph(self, function: str) -> gf.Graph:
        """Return the graph that a function is measured on, which is built when it is first used."""
        weighted = ALGORITHMS[function].weights == "required"
        key = directed, *_ = function in DIRECTED, weighted, form_of(function)
        if key not in self._built:
            edges = self._put(edges_for(function, self.edges.frame))
            self._built[key] = gf.Graph(
                edges, source="src", target="dst",
                directed=directed, weight="weight" if weighted else None,
            ).persist()  # fmt: skip
        return self._built[key]

    def options(self, function: str) -> dict[str, Any]:
        """Return the options of a function."""
        given = self._options.get(function, {})
        return {
            name: self._put(value) if isinstance(value, pd.DataFrame) else value
            for name, value in given.items()
        }


def _options(vertices: pd.Series, sources: int) -> dict[str, dict[str, Any]]:
    fixed = {"max_iter": 20, "fail_on_nonconvergence": False}
    some, many = vertices.iloc[:sources].to_list(), vertices.iloc[:4096].to_list()
    pairs = pd.DataFrame({"first": many[:-1], "second": many[1:]})
    return {
        **{
            f"{name}_centrality": {"k": sources}
            for name in ("betweenness", "closeness", "harmonic")
        },
        **dict.fromkeys(("eigenvector_centrality", "hits"), fixed),
        "induced_subgraph": {"subset": vertices.iloc[::64].to_list()},
        "katz_centrality": {"alpha": 1e-4, **fixed},
        "k_truss": {"k": 4},
        "pagerank": {"tol": None, "max_iter": 20},
        "personalized_pagerank": {"sources": some},
        "random_walks": {"starts": many, "length": 80},
        "sample_neighbors": {"seeds": many},
        "similarity": {"pairs": pairs},
    }


Watch = Callable[[Callable[[], Any]], dict[str, Any]]


def measured(graphs: Graphs, function: str, repeat: int, watch: Watch) -> dict[str, Any]:
    """Return the seconds of a function's rounds, its supersteps, and what the device did in one more run.

    There are at most `repeat` rounds. `watch` runs some work, and returns what the device did; see
    :func:`on_gpu`.
    """
    declared, seconds, row = ALGORITHMS[function], list[float](), dict[str, Any]()

    def timed(g: Any, **options: Any) -> Any:
        before, began = g.member.exchange.superstep_count, time.perf_counter()
        answer = declared.run(g, **options)
        wait(g)
        seconds.append(time.perf_counter() - began)
        row["supersteps"] = g.member.exchange.superstep_count - before
        return answer

    def watched(g: Any, **options: Any) -> Any:
        answers = []
        row.update(watch(lambda: (answers.append(declared.run(g, **options)), wait(g))))
        return answers.pop()

    try:
        with dask.config.set(scheduler="sync"):
            graph, options = graphs.graph(function), graphs.options(function)

            def call(work: Callable[..., Any]) -> None:
                call_with(graph, function, options, work)

            call(timed)
            seconds.clear()
            while len(seconds) < repeat and sum(seconds) < SECONDS:
                call(timed)
            call(watched)
    except Exception as error:  # the other functions are still measured
        return {"failed": f"{type(error).__name__}: {error}"[: gpu.MESSAGE]}
    return {"seconds": seconds, **row}


def wait(g: Any) -> None:
    """Wait until the device of a graph is idle."""
    if g.member.shard.on_device:
        gpu.wait()


def on_gpu(work: Callable[[], Any]) -> dict[str, Any]:
    """Run some work under CUPTI, and return what the device did; see :func:`activity`."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        work()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiled.export_chrome_trace(str(path))
        return activity(json.loads(path.read_text())["traceEvents"])


def activity(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a device did, given the events of a Chrome trace, with times in microseconds.

    ``busy``: seconds in which at least one kernel, copy or fill runs. ``launches``, ``copies``: counts.
    ``kernels``: for each name, how often it runs, and for how many seconds in all.
    """
    ours = [event for event in events if event.get("cat") in KINDS]
    busy = end = 0.0
    kernels: dict[str, list[float]] = {}
    for event in sorted(ours, key=lambda event: event["ts"]):
        start, stop = event["ts"], event["ts"] + event["dur"]
        busy += max(0.0, stop - max(start, end))
        end = max(end, stop)
        total = kernels.setdefault(event["name"], [0, 0.0])
        total[0] += 1
        total[1] += event["dur"] / 1e6
    counts = Counter(event["cat"] == KINDS[0] for event in ours)
    return {
        "busy": busy / 1e6, "launches": counts[True], "copies": counts[False], "kernels": kernels,
    }  # fmt: skip


def most_launched(row: Mapping[str, Any], count: int) -> list[tuple[str, list[float]]]:
    """Return the kernels that ran most often."""
    return sorted(row.get("kernels", {}).items(), key=lambda one: -one[1][0])[:count]


def table(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of a graph."""
    header = [
        "function",
        "wall",
        "busy",
        "share",
        "supersteps",
        "launches",
        "per superstep",
        "copies",
    ]
    lines = [[name, *cells(row)] for name, row in rows.items() if "failed" not in row]
    failed = [f"{name} failed: {row['failed']}" for name, row in rows.items() if "failed" in row]
    return "\n".join([report.table(header, lines), *failed])


def cells(row: Mapping[str, Any]) -> list[str]:
    """Return a function's cells after its name."""
    if "failed" in row:
        return [row["failed"]]
    wall, steps, launches = statistics.median(row["seconds"]), row["supersteps"], row["launches"]
    per_step = f"{launches / steps:.1f}" if steps else "-"
    share = f"{row['busy'] / wall:.0%}"
    times = [f"{seconds * 1e3:.2f}" for seconds in (wall, row["busy"])]
    return [*times, share, f"{steps:,}", f"{launches:,}", per_step, f"{row['copies']:,}"]
