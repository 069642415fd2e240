"""What do updates of a graph cost, and results that follow them, beside building it and computing again?"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd

import dask_graphflow as gf
from benchmarks.lib import gpu, report
from benchmarks.lib.batches import INSERTS, Batches, clock, hub
from benchmarks.lib.errors import DisagreementError, UnusableInputError
from benchmarks.lib.graphs import Inputs
from benchmarks.peers.changing import PEERS

SIZES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
WEIGHTS = 100  # weights are whole numbers below this
EXACT = "triangle_count", "bfs", "connected_components", "sssp"
NOTES = f"""\
Each batch is a part of the edges, {INSERTS:.0%} inserted and the rest deleted. CPU milliseconds of whole
calls, medians. "alone" is a build, or a function without an earlier result; "follows" is an update, or a
function with the result on the version before ("core_number" has no such option). "ratio" is
(build + alone) / (update + follows); for a build, build / update. Searches start at the vertex with the
most edges. Exact results are compared with those from scratch. Text ids have nine digits, and weights.
Rows of NetworKit: its graph is changed edge by edge, and its class follows; breadth-first search follows
only insertions, so nothing is deleted. Rows of igraph: its graph is changed batch by batch, and two
iterations of Leiden start from the groups before. With --gpu, the times go until the GPU is idle, and no
function is measured: most of them start from scratch there."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, nargs="+", default=[], help="scales of R-MAT graphs")
    parser.add_argument(
        "--graph", nargs="+", default=[], metavar="FILE",
        help="Parquet files whose first two columns are the ends of edges, by time if they have one",
    )  # fmt: skip
    parser.add_argument("--gpu", action="store_true", help="measure R-MAT graphs of cuDF frames")
    parser.add_argument("--batches", type=int, default=100, help="batches of each size (100)")
    parser.add_argument(
        "--repeat", type=int, default=5, help="of these, how many from scratch, too (5)"
    )
    parser.add_argument(
        "--peers", nargs="+", choices=[*PEERS], default=[], metavar="PEER",
        help=f"{' and '.join(PEERS)}, which have to be installed in this environment",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    if not (options.scale or options.graph) or min(options.batches, options.repeat) < 1:
        raise UnusableInputError("give --scale or --graph, and --batches and --repeat 1 or more")
    if options.gpu:
        if options.graph or options.peers:
            raise UnusableInputError("--gpu takes --scale, without --graph and --peers")
        gpu.start()
    make = _rmat_on_gpu if options.gpu else _rmat
    made: dict[str, Callable[[], Any]] = {
        f"scale{scale}": partial(make, scale) for scale in options.scale
    }
    made |= {Path(path).stem: partial(_read, path) for path in options.graph}
    results: dict[str, Any] = {"benchmark": "changes", "workers": options.workers, "graphs": {}}
    with dask.config.set(scheduler="threads", num_workers=options.workers):
        for name, load in made.items():
            results["graphs"][name] = sizes = {}
            edges = load()
            for size in SIZES:
                sizes[f"{size:g}"] = measure(edges, size, options)
                print(f"\n{name}, {size:g} of the edges\n{show(sizes[f'{size:g}'])}", flush=True)
    where = "-of-cudf" if options.gpu else ""
    report.show(f"\n{NOTES}", results, f"changes{where}-{'-'.join(made)}", options)
    return 0


def _rmat(scale: int) -> np.ndarray:
    inputs = Inputs.of(scale, 0)
    return np.random.default_rng(0).permutation(_simple(inputs.source, inputs.target))


def _rmat_on_gpu(scale: int) -> Any:
    import cupy

    frame = gpu.rmat(scale, parts=8, weighted=False).compute(scheduler="sync")
    edges = _simple(frame["src"].values, frame["dst"].values)
    return edges[cupy.argsort(cupy.random.default_rng(0).random(len(edges), dtype="float32"))]


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


def _weights(source: Any, target: Any) -> Any:
    return (source * 7 + target * 13) % WEIGHTS + 1


class Chain:
    """A graph that changes, beside the one that is built from its edges."""

    def __init__(self, edges: Any, size: float, *, kind: str, on_gpu: bool) -> None:
        self._edges, self._kind, self._batches = edges, kind, Batches(len(edges), size)
        self._on_gpu = on_gpu
        self.seconds: dict[str, list[float]] = {}
        self.graph = self.again = self._built()

    def _frame(self, which: np.ndarray) -> Any:
        if self._on_gpu:
            import cudf
            import cupy

            source, target = self._edges[cupy.asarray(which)].T
            return cudf.DataFrame({"a": source, "b": target})
        source, target = self._edges[which].T
        frame = pd.DataFrame({"a": source, "b": target})
        if self._kind == "text":
            frame = frame.apply(lambda ids: ids.astype(str).str.zfill(9))
        return frame if self._kind == "plain" else frame.assign(w=_weights(source, target))

    def _built(self) -> Any:
        edges = self._frame(np.flatnonzero(self._batches.there))
        how: dict[str, Any] = {"weight": None if self._kind == "plain" else "w"}
        how |= {"source": "a", "target": "b", "directed": False}
        return self.clock("build", lambda: gf.Graph(edges, **how).persist())

    def clock(self, name: str, work: Callable[[], Any]) -> Any:
        """Do some work, and note its seconds under a name."""
        return clock(self.seconds, name, work, on_gpu=self._on_gpu)

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
            if name.partition(",")[0] in EXACT and not scratch.equals(there):
                raise DisagreementError(f"{name}: previous gave other bits than a new graph")
        return found


CALLS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "triangle_count": ("plain", lambda g, start, **how: g.triangle_count(**how)),
    "bfs": ("plain", lambda g, start, **how: g.bfs([start], **how)),
    "connected_components": ("plain", lambda g, start, **how: g.connected_components(**how)),
    "pagerank": ("plain", lambda g, start, **how: g.pagerank(**how)),
    "leiden": ("plain", lambda g, start, **how: g.leiden(seed=1, **how)),
    "sssp": ("weighted", lambda g, start, **how: g.sssp([start], **how)),
    "bfs, text": ("text", lambda g, start, **how: g.bfs([start], **how)),
    "sssp, text": ("text", lambda g, start, **how: g.sssp([start], **how)),
}


def measure(edges: Any, size: float, options: argparse.Namespace) -> dict[str, Any]:
    """Measure all calls for batches of one size; return the seconds of each."""
    seconds: dict[str, Any] = {}
    most = hub(edges)
    for kind in ("plain",) if options.gpu else ("plain", "weighted", "text"):
        chain = Chain(edges, size, kind=kind, on_gpu=options.gpu)
        start = f"{most:09}" if kind == "text" else most
        calls = {
            name: partial(call, start=start)
            for name, (own, call) in CALLS.items()
            if own == kind and not options.gpu
        }
        found = {name: call(chain.graph).compute() for name, call in calls.items()}
        chain.seconds.clear()
        for batch in range(options.batches):
            compare = batch < options.repeat
            if not chain.step(compare=compare):
                break
            for name, call in calls.items():
                found[name] = chain.follow(name, call, found[name], compare=compare)
            if compare and "triangle_count" in calls:
                for name, graph in (("", chain.again), (", previous", chain.graph)):
                    chain.clock(f"core_number{name}", partial(_core_numbers, graph))
        seconds[kind] = chain.seconds
    for peer in options.peers:
        seconds[peer] = PEERS[peer](edges, size, options)
    return seconds


def _core_numbers(graph: Any) -> Any:
    return graph.core_number().compute()


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
