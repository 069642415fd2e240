"""Earliest arrivals in a large random timetable, beside a scan by Numba and Raphtory."""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.lib import report
from benchmarks.lib.harness import in_process

NOTES = """\
Seconds of CPU time, the fastest of three calls; each row is a process of its own. Every edge arrives one
unit of time after its departure, because Raphtory knows no other durations. "scan by Numba" sorts arrays
of whole numbers by NumPy and scans them. It is the least that a search needs, without ids. Raphtory has
loaded its graph before, and follows all paths in time, not only the earliest."""
SECONDS = 30 * 86400  # departures are spread over them
CALLS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--edges", type=int, default=10**7, help="edges of the timetable (10**7)")
    parser.add_argument("--vertices", type=int, default=10**5, help="vertices (10**5)")


def run(options: argparse.Namespace) -> int:
    """Search in the timetable, print the results and store them."""
    installed = importlib.util.find_spec("raphtory") is not None
    names = [name for name in LIBRARIES if installed or name != "raphtory"]
    size = str(options.edges), str(options.vertices)
    found = {name: in_process(main, name, *size) for name in names}
    rows = [[name, f"{one['reached']:,}", f"{one['seconds']:.2f}"] for name, one in found.items()]
    text = (
        f"{options.edges:,} edges between {options.vertices:,} vertices\n"
        f"{report.table(['', 'vertices reached', 'CPU seconds'], rows)}\n\n{NOTES}"
    )
    results = {
        "benchmark": "timetable", "edges": options.edges, "vertices": options.vertices, "calls": found,
    }  # fmt: skip
    report.show(text, results, "timetable", options)
    return 0


def timetable(edges: int, vertices: int) -> Any:
    """Return random edges with random departures as a frame."""
    import pandas as pd

    rng = np.random.default_rng(0)
    ends = rng.integers(0, vertices, (2, edges))
    departures = rng.integers(0, SECONDS, edges)
    return pd.DataFrame({"a": ends[0], "b": ends[1], "at": departures, "until": departures + 1})


CALL = {"departure": "at", "arrival": "until"}


def of_frame(edges: Any) -> Callable[[], int]:
    """Return a function that searches in a frame."""
    import dask_graphflow as gf

    start = int(edges["a"][0])
    return lambda: len(
        gf.earliest_arrival(edges, source="a", target="b", sources=start, **CALL).compute()
    )


def of_graph(edges: Any) -> Callable[[], int]:
    """Return a function that searches in a timetable of a built graph."""
    import dask_graphflow as gf

    graph, start = gf.Graph(edges, source="a", target="b").persist(), int(edges["a"][0])
    graph.degrees().compute()
    return lambda: len(graph.earliest_arrival(start, timetable=edges, **CALL).compute())


def numba_scan(edges: Any) -> Callable[[], int]:
    """Return a function that sorts edges and scans them, as one would write it by hand."""
    import numba

    @numba.njit
    def scan(source, target, at, until, arrival):  # type: ignore[no-untyped-def]
        for k in range(len(source)):
            if arrival[source[k]] <= at[k] and until[k] < arrival[target[k]]:
                arrival[target[k]] = until[k]

    columns = [edges[name].to_numpy() for name in ("a", "b", "at", "until")]

    def search() -> int:
        order = np.argsort(columns[2])
        arrival = np.full(int(max(columns[0].max(), columns[1].max())) + 1, np.iinfo("int64").max)
        arrival[columns[0][0]] = columns[2].min()
        scan(*(column[order] for column in columns), arrival)
        return int((arrival < np.iinfo("int64").max).sum())

    return search


def raphtory(edges: Any) -> Callable[[], int]:
    """Return a function that searches in a graph of Raphtory."""
    from raphtory import Graph, algorithms

    graph, start = Graph(), int(edges["a"][0])
    graph.load_edges(edges, time="at", src="a", dst="b")
    how = {"max_hops": 2**40, "start_time": -1, "seed_nodes": [start]}
    reach = algorithms.temporally_reachable_nodes
    return lambda: sum(bool(one["reachable_nodes"]) for _, one in reach(graph, **how).items())


LIBRARIES: dict[str, Callable[[Any], Callable[[], int]]] = {
    "dask_graphflow, of a frame": of_frame,
    "dask_graphflow, of a graph": of_graph,
    "scan by Numba": numba_scan,
    "raphtory": raphtory,
}


def main(name: str, edges: str, vertices: str) -> None:
    """Search a few times, and print the number of vertices that are reached and the seconds."""
    import dask

    dask.config.set(scheduler="sync")
    search = LIBRARIES[name](timetable(int(edges), int(vertices)))
    seconds, reached = [], 0
    for _ in range(1 if name == "raphtory" else CALLS):
        began = time.process_time()
        reached = search()
        seconds.append(time.process_time() - began)
    print(json.dumps({"reached": reached, "seconds": min(seconds)}))
