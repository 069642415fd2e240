"""Sample calls of all functions, on graphs with the types that frames and files have."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa

import dask_graphflow as gf
from benchmarks.lib.required import ORIENTED, edges_for, form_of, options_for
from dask_graphflow.algorithms import ALGORITHMS

SMALL, LARGE = 2_000, 300_000  # edges; large graphs have several parts per thread and are not light
SEARCHED = ("bfs", "sssp", "pagerank", "connected_components", "degrees")  # also on large graphs
SEARCHING = "neighbors"  # also with ids that are searched for among others
# Options that reach further kernels, besides the required ones.
MORE: dict[str, list[dict[str, Any]]] = {
    "bfs": [{"direction": "push"}, {"direction": "pull"}, {"depth_limit": 3}],
    "pagerank": [{"precision": "float32"}],
}


class About(NamedTuple):
    """What a graph is."""

    directed: bool
    weight: str | None
    place: str


def results(functions: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Make the calls of these functions, or of all; return what each call was, and its result."""
    names = functions or sorted(ALGORITHMS)
    with (
        dask.config.set(scheduler="threads", num_workers=2),
        tempfile.TemporaryDirectory() as folder,
    ):
        for dtype, count in itertools.product(("int64", "int32"), (SMALL, LARGE)):
            some = [name for name in names if count == SMALL or name in SEARCHED]
            for name in some:
                frame = random_edges(name, count, dtype)
                yield f"{name} {count} {dtype}", call_with_frame(name, frame)
            for form in sorted({form_of(name) for name in some}):
                of_these = [name for name in some if form_of(name) == form]
                frame = random_edges(of_these[0], count, dtype)
                saved = Path(folder, f"{dtype}-{count}-{form}")
                for about, graph in graphs(frame, saved):
                    for name in of_these:
                        if suits(name, about):
                            yield from call_with_graph(name, graph, frame, f"{about} {saved.name}")
        if SEARCHING in names:
            for kind, frame in other_ids():
                yield f"{SEARCHING} {kind}", call_with_frame(SEARCHING, frame)


def random_edges(function: str, count: int, dtype: str) -> pd.DataFrame:
    """Return edges with weights that the function accepts; a few vertices have many edges."""
    random = np.random.default_rng(count)
    source, target = (count / 4 * random.random((2, count)) ** 2).astype(dtype)
    weights = {"real": random.integers(1, 64, count) / 8, "whole": random.integers(1, 9, count)}
    return edges_for(function, pd.DataFrame({"src": source, "dst": target} | weights))


def other_ids() -> Iterator[tuple[str, pd.DataFrame]]:
    """Return edges between ids that are not integers close together."""
    far = random_edges(SEARCHING, SMALL, "int64")[["src", "dst"]] * 1_000_003
    for dtype in ("int64", "int32", "uint64"):
        yield f"far apart {dtype}", far.astype(dtype)
    yield "text", far.astype("str")
    yield "text of Arrow", far.astype(pd.ArrowDtype(pa.int64())).astype(pd.ArrowDtype(pa.string()))


def graphs(frame: pd.DataFrame, saved: Path) -> Iterator[tuple[About, gf.Graph]]:
    """Return graphs in memory, on disk, saved and divided."""
    places: list[dict[str, Any]] = [{"storage": "memory"}]
    if len(frame) <= SMALL:
        places += [{"storage": "disk"}, {"shards": 2}]
    edges = dd.from_pandas(frame, npartitions=2)
    for directed, weight in itertools.product((True, False), (None, "real", "whole")):
        ways: dict[str, Any] = {"source": "src", "target": "dst", "directed": directed}
        for place in places:
            graph = gf.Graph(edges, weight=weight, **ways, **place).persist()
            if place == places[0]:  # an updated graph needs one kernel more
                graph = graph.update(frame[:8], delete=frame[:8]).persist()
            yield About(directed, weight, str(place)), graph
        if len(places) > 1:
            folder = f"{saved}-{directed}-{weight}"
            graph.save(folder)
            yield About(directed, weight, "saved"), gf.load_graph(folder).persist()


def suits(name: str, about: About) -> bool:
    """Return whether a function accepts such a graph."""
    weighted = about.weight is not None or ALGORITHMS[name].weights != "required"
    return weighted and (about.directed or name not in ORIENTED)


def call_with_frame(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Call a function with an edge list; return its result."""
    given = {"source": "src", "target": "dst"} | options_for(vertices(frame)).get(name, {})
    if ALGORITHMS[name].weights == "required":
        given["weight"] = "real"
    return getattr(gf, name)(frame, **given).compute()


def call_with_graph(
    name: str, graph: gf.Graph, frame: pd.DataFrame, about: str
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Call the method of a graph, also with further options; return the results."""
    for more in ({}, *MORE.get(name, [])):
        given = options_for(vertices(frame)).get(name, {}) | more
        call = getattr(graph, name)(**given)
        yield f"{name} {more} {about}", call.compute()
    if ALGORITHMS[name].previous is not None:
        later = getattr(graph.update(frame[:8], delete=frame[8:16]), name)
        yield f"{name} previous {about}", later(**given, previous=call).compute()


def vertices(frame: pd.DataFrame) -> pd.Series:
    """Return the ids in a frame of edges."""
    return frame[["src", "dst"]].stack().drop_duplicates()
