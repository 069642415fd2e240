"""The time of a gang of worker processes, compared with the threaded scheduler on the same cores."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

import dask_graphflow as gf
from dask_graphflow.graph import generate
from dask_graphflow.graph.partition import GRAIN

from . import machine, report
from .errors import DisagreementError, UnusableInputError
from .forgetting import forgotten, known_tasks
from .timing import Spread, interleave, ratios

PATH = 1000  # vertices of the path, which takes the same number of supersteps
SMALL = 10  # scale
ITERATIONS = 20
HOPS = gf.EdgeOp("hops", target="hop", signal="hop[src] + 1", slot="min")

Question = Callable[[gf.Graph, int], Any]

NOTES = f"""\
/ this: time over that of one process, round by round: median (min to max). Members are threads of
one process, or worker processes of one thread each. Timed: from a persisted frame to a persisted graph;
from a persisted graph to a persisted result; the small call, of an R-MAT graph of scale {SMALL}, to a
pandas frame. Of the path of {PATH} vertices a member has one half; of the zigzag every other vertex, so
that every superstep crosses. Each has {PATH} supersteps: a ms is a us for each. All results are the same
bits."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=20, help="2**scale ids (default 20)")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument("--repeat", type=int, default=5, help="rounds, after one to warm up")


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    if options.scale < 4 or options.repeat < 1 or options.workers < 2:
        raise UnusableInputError("give --scale 4, --repeat 1 and --workers 2, or more")
    results = measure(options.scale, options.edge_factor, options.workers, options.repeat)
    print(show(results))
    kept = report.keep(options.json, f"members-scale{options.scale}", results)
    if kept is not None:
        print(f"\nkept in {kept}")
    return 0


def measure(scale: int, edge_factor: int, members: int, repeat: int) -> dict[str, Any]:
    """Measure all sides in turn."""
    from distributed import Client, LocalCluster

    phases: dict[str, dict[str, list[float]]] = {}
    with (
        LocalCluster(n_workers=members, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        sides = [
            Side("one process", 1, members),
            Side(f"{members} members, threads", members, members),
            Side(f"{members} members, processes", members, members, client),
        ]
        edges = generate.rmat(scale, edge_factor=edge_factor, npartitions=4 * members)
        for side in sides:
            side.load(edges)
        phases["build"] = in_turn(sides, Side.build, repeat)
        for side in sides:
            side.keep()
        phases["bfs"] = in_turn(sides, partial(Side.ask, question=_bfs), repeat)
        for precision in ("float32", "float64"):
            ranks = partial(_pagerank, precision=precision)
            name = f"pagerank, {ITERATIONS} iterations, {precision}"
            phases[name] = in_turn(sides, partial(Side.ask, question=ranks), repeat)

        small = generate.rmat(SMALL, npartitions=members)
        for name, frame in (("small", small), ("path", path()), ("zigzag", path(zigzag=True))):
            for side in sides:
                side.load(frame)
                side.keep()
            if name == "small":
                phases["small call, bfs"] = in_turn(sides, Side.call, repeat)
                continue
            for what, question in (("bfs", _bfs), ("edge program", _hops)):
                asking = partial(Side.ask, question=question)
                phases[f"{name}, {what}"] = in_turn(sides, asking, repeat)
        for side in sides:
            side.clear()
    return {
        "benchmark": "members",
        "graph": f"R-MAT scale {scale}, edge factor {edge_factor}",
        "workers": members,
        "phases": phases,
    }


def path(*, zigzag: bool = False) -> Any:
    """Return a path whose halves are on two members, or whose vertices alternate between them."""
    place = np.arange(PATH)
    ids = place // 2 * 8 + place % 2 * GRAIN if zigzag else place * (2 * GRAIN // PATH)
    return dd.from_pandas(pd.DataFrame({"src": ids[:-1], "dst": ids[1:]}), npartitions=2)


def _bfs(graph: gf.Graph, start: int) -> Any:
    return graph.bfs([start])


def _hops(graph: gf.Graph, start: int) -> Any:
    begin = pd.DataFrame({"vertex": [start], "hop": [0]})
    return graph.run(HOPS, columns={"hop": PATH}, start=begin)


def _pagerank(graph: gf.Graph, start: int, precision: str) -> Any:
    return graph.pagerank(tol=None, max_iter=ITERATIONS, precision=precision)


@dataclass
class Outcome:
    """The time of a run, and its result; for a build, the number of edges."""

    seconds: float
    found: Any


@dataclass
class Side:
    """The members of a graph, and where they run.

    Attributes
    ----------
    name : str
    members, threads : int
    client : Client or None
        Client of the cluster that runs them; None for threads of this process.
    weight : str or None
        Column with the weights; None for a graph without weights.
    """

    name: str
    members: int
    threads: int
    client: Any = None
    weight: str | None = None

    @contextmanager
    def here(self) -> Iterator[None]:
        """Run the computations inside the context on this side."""
        where = "threads" if self.client is None else "dask.distributed"
        with dask.config.set(scheduler=where, num_workers=self.threads):
            yield

    def load(self, frame: Any) -> None:
        """Load the edges of a graph."""
        self.clear()
        with self.here():
            self._edges = self._waited(frame.persist())
            self._start = int(frame["src"].head(1).iloc[0])
        self._held = self._tasks()

    def keep(self) -> None:
        """Build the graph of the edges, and keep it."""
        with self.here():
            self._kept = self._graph().persist()
            self._waited(self._kept._shards.built)
        self._held = self._tasks()

    def clear(self) -> None:
        """Release the edges and the graph."""
        self._edges = self._kept = None

    def build(self) -> Outcome:
        """Build the graph."""
        with self._timing() as timed:
            built = self._graph().persist()
            self._waited(built._shards.built)
            seconds = timed()
            return Outcome(seconds, built.num_edges)

    def ask(self, question: Question) -> Outcome:
        """Run an algorithm on the graph, and persist its result."""
        with self._timing() as timed:
            found = self._waited(question(self._kept, self._start).persist())
            seconds = timed()
            return Outcome(seconds, found.compute().reset_index(drop=True))

    def call(self, question: Question | None = None) -> Outcome:
        """Run an algorithm on the graph, by default a search, and compute its result."""
        with self._timing() as timed:
            found = (question or _bfs)(self._kept, self._start).compute()
            seconds = timed()
            return Outcome(seconds, found.reset_index(drop=True))

    def trace(self, question: Question) -> pd.DataFrame:
        """Return one row per superstep of an algorithm."""
        with self._timing():
            _, steps = question(self._kept, self._start)
            found: pd.DataFrame = steps.compute()
        return found

    def _graph(self) -> gf.Graph:
        ends = {"source": "src", "target": "dst", "weight": self.weight}
        return gf.Graph(self._edges, **ends, directed=False, shards=self.members)

    @contextmanager
    def _timing(self) -> Iterator[Callable[[], float]]:
        """Start the clock once the scheduler has forgotten the last run, whose results it would reuse."""
        if self.client is not None:
            forgotten(self.client, self._held)
        with self.here():
            began = time.perf_counter()
            yield lambda: time.perf_counter() - began

    def _waited(self, collection: Any) -> Any:
        if self.client is not None:
            from distributed import wait

            wait(collection)
        return collection

    def _tasks(self) -> int:
        return 0 if self.client is None else known_tasks(self.client)


@dataclass
class Work:
    """The work that is timed on a side."""

    name: str
    run: Callable[[], Outcome]


def in_turn(
    sides: Sequence[Side], work: Callable[[Side], Outcome], repeat: int
) -> dict[str, list[float]]:
    """Time the same work on all sides, and check that their results are equal."""
    reference: list[Any] = []

    def check(name: str, outcome: Outcome) -> None:
        reference.append(outcome.found) if not reference else None
        same = getattr(reference[0], "equals", reference[0].__eq__)
        if not same(outcome.found):
            raise DisagreementError(f"{name} found something else than {sides[0].name}")

    return interleave([Work(side.name, partial(work, side)) for side in sides], repeat, check)


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    phases = results["phases"]
    first, *others = next(iter(phases.values()))
    header = ["median ms", first]
    for name in others:
        header += [name, "/ this"]
    rows = []
    for phase, seconds in phases.items():
        row = [phase, _median(seconds[first])]
        for name in others:
            row += [_median(seconds[name]), report.times(ratios(seconds[name], seconds[first]))]
        rows.append(row)
    return f"""\
{results["graph"]}, edges without direction; cores: {results["workers"]}
{report.machine_line(machine.describe())}

{report.table(header, rows)}

{len(phases["build"][first])} rounds, all in turn, after one to warm up. {NOTES}"""


def _median(seconds: Sequence[float]) -> str:
    return report.milliseconds(Spread.of(seconds))[1]
