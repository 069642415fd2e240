"""What do updates of a graph cost, and results that follow them, beside building it and computing again?"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd

import dask_graphflow as gf
from benchmarks.lib import report
from benchmarks.lib.errors import DisagreementError, UnusableInputError
from benchmarks.lib.graphs import Inputs

SIZES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
INSERTS = 0.8  # part of a batch that is inserted; the rest is deleted
BASE = 0.9  # part of the edges with which a graph begins; the others are inserted later
WEIGHTS = 100  # weights are whole numbers below this
EXACT = "triangle_count", "bfs", "connected_components", "sssp"
NETWORKIT = "networkit"
NOTES = f"""\
Each batch is a part of the edges, {INSERTS:.0%} inserted and the rest deleted. CPU milliseconds of whole
calls, medians. "alone" is a build, or a function without an earlier result; "follows" is an update, or a
function with the result on the version before ("core_number" has no such option). "ratio" is
(build + alone) / (update + follows); for a build, build / update. Exact results are compared with those
from scratch. Rows of NetworKit: its graph is changed edge by edge, and its class follows; breadth-first
search follows only insertions, so nothing is deleted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, nargs="+", default=[], help="scales of R-MAT graphs")
    parser.add_argument(
        "--graph", nargs="+", default=[], metavar="FILE",
        help="Parquet files whose first two columns are the ends of edges, by time if they have one",
    )  # fmt: skip
    parser.add_argument("--batches", type=int, default=100, help="batches of each size (100)")
    parser.add_argument(
        "--repeat", type=int, default=5, help="of these, how many from scratch, too (5)"
    )
    parser.add_argument(
        "--peers", nargs="+", choices=[NETWORKIT], default=[], metavar="PEER",
        help=f"{NETWORKIT}, which has to be installed in this environment",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    if not (options.scale or options.graph) or min(options.batches, options.repeat) < 1:
        raise UnusableInputError("give --scale or --graph, and --batches and --repeat 1 or more")
    made: dict[str, Callable[[], np.ndarray]] = {
        f"scale{scale}": partial(_rmat, scale) for scale in options.scale
    }
    made |= {Path(path).stem: partial(_read, path) for path in options.graph}
    results: dict[str, Any] = {"benchmark": "changes", "workers": options.workers, "graphs": {}}
    with dask.config.set(scheduler="threads", num_workers=options.workers):
        for name, make in made.items():
            results["graphs"][name] = sizes = {}
            edges = make()
            for size in SIZES:
                sizes[f"{size:g}"] = measure(edges, size, options)
                print(f"\n{name}, {size:g} of the edges\n{show(sizes[f'{size:g}'])}", flush=True)
    report.show(f"\n{NOTES}", results, f"changes-{'-'.join(made)}", options)
    return 0


def _rmat(scale: int) -> np.ndarray:
    inputs = Inputs.of(scale, 0)
    return np.random.default_rng(0).permutation(_simple(inputs.source, inputs.target))


def _read(path: str) -> np.ndarray:
    """Return the pairs of ids in a file as numbers, in the order in which they come first."""
    frame = pd.read_parquet(path).iloc[:, :2]
    codes, _ = pd.factorize(pd.concat([frame.iloc[:, 0], frame.iloc[:, 1]], ignore_index=True))
    return _simple(codes[: len(frame)], codes[len(frame) :], by_time=True)


def _simple(source: Any, target: Any, *, by_time: bool = False) -> np.ndarray:
    """Return distinct pairs of different ids, the smaller one first, as an array of shape (m, 2)."""
    low, high = np.minimum(source, target), np.maximum(source, target)
    keys = (low.astype("int64") << 32 | high)[low != high]
    keys, first = np.unique(keys, return_index=True)
    if by_time:
        keys = keys[np.argsort(first)]
    return np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1)


def clock(seconds: dict[str, list[float]], name: str, work: Callable[[], Any]) -> Any:
    """Do some work, and note its CPU seconds under a name."""
    began = time.process_time()
    result = work()
    seconds.setdefault(name, []).append(time.process_time() - began)
    return result


class Batches:
    """The batches of a graph: which of its edges are inserted and deleted, one batch after another."""

    def __init__(self, edges: int, size: float) -> None:
        self.there, self._rng = np.arange(edges) < BASE * edges, np.random.default_rng(1)
        self._next = int(np.count_nonzero(self.there))  # edges come in their order
        count = max(2, round(size * edges))
        self._gone = max(1, round(count * (1 - INSERTS)))
        self._new = count - self._gone

    def draw(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the numbers of the edges that come and go; None if no edge is left."""
        new = np.arange(self._next, min(self._next + self._new, len(self.there)))
        if not len(new):
            return None
        self._next += len(new)
        old = np.flatnonzero(self.there)
        old = old[self._rng.choice(len(old), self._gone, replace=False)]
        self.there[old], self.there[new] = False, True
        return new, old


class Chain:
    """A graph that changes, beside the one that is built from its edges."""

    def __init__(self, edges: np.ndarray, size: float, *, kind: str) -> None:
        self._edges, self._kind, self._batches = edges, kind, Batches(len(edges), size)
        self.seconds: dict[str, list[float]] = {}
        self.graph = self.again = self._built()

    def _frame(self, which: np.ndarray) -> pd.DataFrame:
        source, target = self._edges[which].T
        frame = pd.DataFrame({"a": source, "b": target})
        if self._kind == "text":
            return frame.apply(lambda ids: ids.astype(str).str.zfill(9))
        if self._kind == "weighted":
            frame["w"] = (source * 7 + target * 13) % WEIGHTS + 1
        return frame

    def _built(self) -> Any:
        edges = self._frame(np.flatnonzero(self._batches.there))
        how: dict[str, Any] = {"weight": "w" if self._kind == "weighted" else None}
        how |= {"source": "a", "target": "b", "directed": False}
        return self.clock("build", lambda: gf.Graph(edges, **how).persist())

    def clock(self, name: str, work: Callable[[], Any]) -> Any:
        """Do some work, and note its CPU seconds under a name."""
        return clock(self.seconds, name, work)

    def step(self, *, compare: bool) -> bool:
        """Update the graph by a batch, and build it, too, if asked. Return False if no edge is left."""
        batch = self._batches.draw()
        if batch is None:
            return False
        insert, delete = self._frame(batch[0]), self._frame(batch[1])[["a", "b"]]
        self.graph = self.clock("update", lambda: self.graph.update(insert, delete).persist())
        if compare:
            self.again = self._built()
        return True

    def follow(self, name: str, call: Callable[..., Any], earlier: Any, *, compare: bool) -> Any:
        """Bring the result of a call up to date, and compute it from scratch, too, if asked."""
        found = self.clock(
            f"{name}, previous", lambda: call(self.graph, previous=earlier).compute()
        )
        if compare:
            scratch = self.clock(name, lambda: call(self.again).compute())
            # A vertex that has lost its last edge is not in the new graph.
            there = found[found.vertex.isin(scratch.vertex)].reset_index(drop=True)
            if name in EXACT and not scratch.equals(there):
                raise DisagreementError(f"{name}: previous gave other bits than a new graph")
        return found


CALLS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "triangle_count": ("plain", lambda g, **how: g.triangle_count(**how)),
    "bfs": ("plain", lambda g, **how: g.bfs([0], **how)),
    "connected_components": ("plain", lambda g, **how: g.connected_components(**how)),
    "pagerank": ("plain", lambda g, **how: g.pagerank(**how)),
    "leiden": ("plain", lambda g, **how: g.leiden(seed=1, **how)),
    "sssp": ("weighted", lambda g, **how: g.sssp([0], **how)),
}


def measure(edges: np.ndarray, size: float, options: argparse.Namespace) -> dict[str, Any]:
    """Measure all calls for batches of one size; return the seconds of each."""
    seconds: dict[str, Any] = {}
    for kind in ("plain", "weighted", "text"):
        chain = Chain(edges, size, kind=kind)
        calls = {name: call for name, (own, call) in CALLS.items() if own == kind}
        found = {name: call(chain.graph).compute() for name, call in calls.items()}
        chain.seconds.clear()
        for batch in range(options.batches):
            compare = batch < options.repeat
            if not chain.step(compare=compare):
                break
            for name, call in calls.items():
                found[name] = chain.follow(name, call, found[name], compare=compare)
            if compare and kind == "plain":
                for name, graph in (("", chain.again), (", previous", chain.graph)):
                    chain.clock(f"core_number{name}", partial(_core_numbers, graph))
        seconds[kind] = chain.seconds
    if NETWORKIT in options.peers:
        seconds[NETWORKIT] = networkit(edges, size, options)
    return seconds


def _core_numbers(graph: Any) -> Any:
    return graph.core_number().compute()


def networkit(
    edges: np.ndarray, size: float, options: argparse.Namespace
) -> dict[str, list[float]]:
    """Measure NetworKit's dynamic classes in the same way; return the seconds of each."""
    import networkit as nk

    nk.setNumberOfThreads(options.workers)
    seconds: dict[str, list[float]] = {}
    event, kinds = nk.dynamics.GraphEvent, nk.dynamics.GraphEventType
    components = nk.components
    for name, dynamic, plain in (
        ("connected_components", components.DynConnectedComponents, components.ConnectedComponents),
        ("bfs", lambda g: nk.distance.DynBFS(g, 0), lambda g: nk.distance.BFS(g, 0)),
    ):
        batches, count = Batches(len(edges), size), int(edges.max()) + 1

        def build(batches: Batches = batches, count: int = count) -> Any:
            graph, there = nk.Graph(count), edges[batches.there].T
            source, target = map(np.ascontiguousarray, there)
            graph.addEdges((np.ones(len(source)), (source, target)))
            return graph

        graph = build()
        follows = dynamic(graph)
        follows.run()
        for number in range(options.batches):
            batch = batches.draw()
            if batch is None:
                break
            new, old = (edges[one].tolist() for one in batch)
            gone = [] if name == "bfs" else [event(kinds.EDGE_REMOVAL, *pair, 1.0) for pair in old]
            come = [event(kinds.EDGE_ADDITION, *pair, 1.0) for pair in new]
            seconds.setdefault("update", []).append(0.0)  # edges change one by one
            clock(seconds, f"{name}, previous", partial(_follow, graph, follows, gone, come))
            if number < options.repeat:
                again = clock(seconds, "build", build)  # has to outlive the algorithm
                clock(seconds, name, plain(again).run)
    return seconds


def _follow(graph: Any, follows: Any, gone: list[Any], come: list[Any]) -> None:
    for change, events in ((graph.removeEdge, gone), (graph.addEdge, come)):
        for one in events:
            change(one.u, one.v)
            follows.update(one)


def show(seconds: Mapping[str, Mapping[str, list[float]]]) -> str:
    """Format the medians of one graph and one size of batches as a table."""
    rows = []
    for kind, own in seconds.items():
        ms = {name: 1e3 * statistics.median(values) for name, values in own.items()}
        build, update = ms["build"], ms["update"]
        rows.append(
            [
                f"build, {kind}",
                f"{build:.1f}",
                f"{update:.1f}",
                f"{build / update:.1f}" if update else "-",
            ]
        )
        for name in ms:
            if f"{name}, previous" in ms:
                follows = ms[f"{name}, previous"]
                ratio = f"{(build + ms[name]) / (update + follows):.1f}"
                rows.append([name, f"{ms[name]:.1f}", f"{follows:.2f}", ratio])
    batches = len(seconds["plain"]["update"])
    return report.table(["", "alone", "follows", "ratio"], rows) + f"\n{batches} batches"
