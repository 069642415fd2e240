"""Compare every algorithm that other libraries also have, on a built graph."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import dask

import dask_graphflow as gf
from benchmarks import machine, report
from benchmarks.alone import view
from benchmarks.errors import UnusableInputError
from benchmarks.graphs.edges import Timed, timed
from benchmarks.timing import Spread, interleave, ratios
from dask_graphflow.algorithms.algorithm import ALGORITHMS

from .agreement import Agreement
from .inputs import DIRECTED, Inputs
from .peers import PEERS, Gap, Peer
from .rows import ROWS, Row

LOOP, FRAME = "graphflow", "graphflow, to a frame"
NOTES = f"""\
/ this: a peer's time over that of this library's loop, round by round: median (min to max);
best: the ratio of the shortest times. All contenders take turns, after one round to warm up. Graphs are
built, and the peers' answers are copied, outside the timing.
{LOOP}: the algorithm, to arrays; {FRAME}: the whole call on a persisted graph.
answer: "same" as the first one's, or the number of colors, the modularity, or the sum of weights. None
is compared if a peer makes random choices itself, defines the score in another way, or does the searches
for another result."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=16, help="2**scale ids (default 16)")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument("--seed", type=int, default=0, help="which R-MAT graph (default 0)")
    parser.add_argument(
        "--only", nargs="+", choices=list(ROWS), default=list(ROWS), metavar="NAME",
        help=f"some of {', '.join(ROWS)}",
    )  # fmt: skip
    parser.add_argument("--peers", default="", help=f"others to measure: {', '.join(PEERS)}")
    parser.add_argument(
        "--python", default=sys.executable, help="the Python that has the peers (default: this one)"
    )
    parser.add_argument("--gap", metavar="FOLDER", help="where GAP's programs are, or set GAP")
    parser.add_argument("--repeat", type=int, default=5, help="rounds, after one to warm up")
    parser.add_argument(
        "--timeout", type=float, default=120, help="seconds of a peer's turn (default 120)"
    )


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    if options.repeat < 1:
        raise UnusableInputError(f"--repeat {options.repeat}: give 1 or more")
    names = [name for name in options.peers.split(",") if name]
    if unknown := [name for name in names if name not in PEERS]:
        raise UnusableInputError(f"no peer is called {unknown[0]!r}; there are {', '.join(PEERS)}")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="graphflow-peers-"))
        inputs = Inputs.of(options.scale, options.edge_factor, options.seed)
        inputs.write(folder)
        peers: list[Peer | Gap] = []
        for name in names:
            peer = PEERS[name](name, folder, inputs, options)
            stack.callback(peer.close)
            if reason := peer.missing():
                print(f"left out {name}: {reason}", file=sys.stderr)
            else:
                peers.append(peer)
        results: dict[str, Any] = {
            "benchmark": "algorithms",
            "graph": f"R-MAT scale {options.scale}, edge factor {options.edge_factor}, seed {options.seed}",
            "edges": inputs.sizes,
            "workers": options.workers,
            "versions": {peer.name: peer.version for peer in peers},
            "rows": {},
        }
        ours = Ours(inputs, options.workers)
        for name in options.only:
            results["rows"][name] = found = measure(name, ours, peers, inputs, options.repeat)
            print(show(name, found), flush=True)
    print(f"\n{NOTES}\n{results['graph']}, edges: {inputs.sizes}; cores: {options.workers}")
    print(report.machine_line(machine.describe()), f"peers: {results['versions']}")
    kept = report.keep(options.json, f"algorithms-scale{options.scale}", results)
    if kept is not None:
        print(f"kept in {kept}")
    return int(any(found["differs"] for found in results["rows"].values()))


@dataclass
class Work:
    """The work of a contender in one row."""

    name: str
    work: Callable[[], Timed]

    def run(self) -> Timed:
        """Do the work once."""
        return self.work()


class Ours:
    """This library, on persisted graphs."""

    def __init__(self, inputs: Inputs, workers: int) -> None:
        self.inputs, self.workers = inputs, workers
        self._graphs: dict[str, gf.Graph] = {}

    def work(self, row: Row) -> list[Work]:
        """Return the loop alone and the whole call, if this library has the algorithm."""
        if row.algorithm not in ALGORITHMS:
            return []
        return [Work(LOOP, partial(self.loop, row)), Work(FRAME, partial(self.call, row))]

    def graph(self, name: str) -> gf.Graph:
        """Return a graph, which is built when it is first used."""
        if name not in self._graphs:
            frame = self.inputs.frame(name)
            how = {"directed": name in DIRECTED, "weight": "weight" if "weight" in frame else None}
            with self._scheduler():
                made = gf.Graph(frame, source="source", target="target", **how)
                self._graphs[name] = made.persist()
        return self._graphs[name]

    def loop(self, row: Row) -> Timed:
        """Run the algorithm alone; its result is arrays."""
        graph, algorithm = self.graph(row.graph), ALGORITHMS[row.algorithm]
        with self._scheduler():
            g = view(graph, self.workers)
        options = row.ours(self.inputs)
        for name in options:
            check = algorithm.options[name].check
            if check.names_vertices:  # the algorithm takes positions, not ids
                options[name] = check.resolve(g, check.check(name, options[name], graph))
        seconds, answer = timed(lambda: algorithm.run(g, **options))
        return Timed(seconds, row.value(answer.columns[row.column], self.inputs))

    def call(self, row: Row) -> Timed:
        """Call the function; its result is a frame."""
        graph, options = self.graph(row.graph), row.ours(self.inputs)
        with self._scheduler():
            lazy = getattr(graph, row.algorithm)(**options)
            seconds, found = timed(lazy.compute)
        return Timed(seconds, row.value(found[row.column].to_numpy(), self.inputs))

    def _scheduler(self) -> Any:
        return dask.config.set(scheduler="threads", num_workers=self.workers)


def measure(
    name: str, ours: Ours, peers: list[Peer | Gap], inputs: Inputs, repeat: int
) -> dict[str, Any]:
    """Time all contenders of one row in turn."""
    row = ROWS[name]
    work = ours.work(row)
    for peer in peers:
        if peer.can(row.algorithm):
            work.append(Work(peer.name, partial(peer.run, row)))
    failures: dict[str, str] = {}
    check = Agreement(row.agrees, row.compared(inputs))
    seconds = interleave(work, repeat, check, failures)
    return {"seconds": seconds, "failures": failures} | check.found()


def show(name: str, found: dict[str, Any]) -> str:
    """Format the measurements of one row as text."""
    seconds, cells = found["seconds"], []
    for contender, taken in seconds.items():
        both = ["-", "-"]
        if LOOP in seconds and contender != LOOP:
            best = f"{min(taken) / min(seconds[LOOP]):.2f}"
            both = [report.times(ratios(taken, seconds[LOOP])), best]
        answer = found["answers"].get(contender, "-")
        cells.append([contender, *report.milliseconds(Spread.of(taken)), *both, answer])
    header = ["", "min ms", "median", "max", "/ this", "best", "answer"]
    parts = [f"\n{name}\n", report.table(header, cells)] if cells else []
    parts += [f"{one} failed: {reason}" for one, reason in found["failures"].items()]
    parts += [f"{one}: {reason}" for one, reason in found["differs"].items()]
    return "\n".join(parts)
