"""Compare building a graph, breadth-first search, shortest paths and PageRank with other libraries."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import machine, report
from benchmarks.errors import DisagreementError, UnusableInputError
from benchmarks.inputs import Recipe
from benchmarks.timing import Spread, interleave, ratios

from . import gap, igraph, networkit, ours, scipy
from .edges import Edges, Timed

PEERS = {one.NAME: one for one in (scipy, networkit, igraph, gap)}
PHASES = ("build", "bfs", "pagerank", "sssp")

NOTES = """\
/ this: a peer's time over this library's algorithm, round by round: median (min to max).
Algorithms are timed on a graph that is built, from a source to arrays of distances and predecessors (or of
ranks); "to a frame" is the whole call on a persisted graph. Results agree, where a peer tells them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=20, help="2**scale ids (default 20)")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument("--seed", type=int, default=0, help="which R-MAT graph (default 0)")
    parser.add_argument("--iterations", type=int, default=20, help="of PageRank (default 20)")
    parser.add_argument(
        "--phases", default=",".join(PHASES), help="some of them, with commas between"
    )
    parser.add_argument("--peers", default="", help=f"others to measure: {', '.join(PEERS)}")
    parser.add_argument("--gap", metavar="FOLDER", help="where GAP's programs are, or set GAP")
    parser.add_argument("--repeat", type=int, default=5, help="rounds, after one to warm up")


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    phases = [phase for phase in options.phases.split(",") if phase]
    if options.repeat < 1 or any(phase not in PHASES for phase in phases):
        raise UnusableInputError(f"give --repeat 1 or more, and --phases of {', '.join(PHASES)}")
    recipe = Recipe(options.scale, options.edge_factor, options.seed)
    edges = Edges.of(recipe.load().frame, options.seed)
    sides: list[Any] = [ours.Side(edges, options.workers)]
    for name in filter(None, options.peers.split(",")):
        if name not in PEERS:
            raise UnusableInputError(f"no peer is called {name!r}; there are {', '.join(PEERS)}")
        reason = PEERS[name].available(options.gap)
        if reason is None:
            sides.append(PEERS[name].Side(edges, options.workers))
        else:
            print(f"left out {name}: {reason}", file=sys.stderr)
    with ExitStack() as stack:
        for side in sides:
            stack.callback(side.close)
        results = {
            "benchmark": "graphs",
            "graph": recipe.title,
            "edges": len(edges.source),
            "workers": options.workers,
            "iterations": options.iterations,
            "phases": {
                phase: measure(phase, sides, edges, options) for phase in PHASES if phase in phases
            },
        }
    print(show(results))
    kept = report.keep(options.json, f"graphs-{recipe.short}", results)
    if kept is not None:
        print(f"\nkept in {kept}")
    return 0


@dataclass
class Work:
    """One phase of one contender, to be timed."""

    name: str
    work: Callable[[], Timed]

    def run(self) -> Timed:
        """Do the work once."""
        return self.work()


def measure(
    phase: str, sides: list[Any], edges: Edges, options: argparse.Namespace
) -> dict[str, list[float]]:
    """Time one phase of all contenders in turn."""
    arguments = {
        "build": (),
        "bfs": (edges.start,),
        "pagerank": (options.iterations,),
        "sssp": (edges.start,),
    }[phase]
    work = []
    for side in sides:
        for name, method in side.phases(phase).items():
            work.append(Work(name, partial(method, *arguments)))
    found: dict[str, Any] = {}

    def check(name: str, outcome: Timed) -> None:
        if outcome.found is None:
            return
        reference = found.setdefault(phase, outcome.found)
        close = np.allclose if phase == "pagerank" else np.array_equal
        how = {"rtol": 1e-3, "atol": 1e-9} if phase == "pagerank" else {}
        if not close(outcome.found, reference, **how):
            raise DisagreementError(f"{phase}: {name} found something else than {work[0].name}")

    return interleave(work, options.repeat, check)


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    parts = [
        f"{results['graph']}: {results['edges']:,} edges without direction; cores: {results['workers']}",
        report.machine_line(machine.describe()),
    ]
    for phase, measured in results["phases"].items():
        first = next(iter(measured))
        rows = []
        for name, seconds in measured.items():
            ratio = "-" if name == first else report.times(ratios(seconds, measured[first]))
            rows.append([name, *report.milliseconds(Spread.of(seconds)), ratio])
        title = f"{phase}, {results['iterations']} iterations" if phase == "pagerank" else phase
        parts.append(
            f"\n{title}\n\n{report.table(['', 'min ms', 'median', 'max', '/ this'], rows)}"
        )
    return "\n".join([*parts, "\n" + NOTES])
