"""This library as a contender: the loop alone, and the whole call on a persisted graph."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import dask
import pandas as pd

import dask_graphflow as gf
from benchmarks.lib import gpu
from benchmarks.lib.agreement import by_vertex
from benchmarks.lib.graphs import DIRECTED, Inputs
from benchmarks.lib.harness import Outcome, timed
from benchmarks.lib.rows import BUILD, Row
from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.calls.call import ask

LOOP, FRAME = "graphflow", "graphflow, to a frame"


def call_with(graph: gf.Graph, function: str, options: Any, work: Callable[..., Any]) -> None:
    """Make a call on a graph, in which `work` takes the place of the algorithm: of its view and options."""
    declared = ALGORITHMS[function]
    parameters = list(inspect.signature(declared.run).parameters.values())[1:]
    given = {one.name: one.default for one in parameters} | options
    ask(graph._shards, functools.wraps(declared.run)(work), **given).compute()


def _ends(g: Any, chosen: Any) -> dict[str, Any]:
    """Return the positions of the ends of an edge set."""
    ends = g.member.rows("out").ends
    return {"source": chosen.vertices, "target": ends[chosen.entries]}


class Ours:
    """This library on one process, with pandas frames on threads or with cuDF frames."""

    def __init__(self, inputs: Inputs, workers: int, *, on_gpu: bool = False) -> None:
        self.inputs, self.workers, self.on_gpu = inputs, workers, on_gpu
        self.wait = gpu.wait if on_gpu else lambda: None
        self._graphs: dict[str, gf.Graph] = {}

    def contenders(self, row: Row) -> dict[str, Callable[[], Outcome]]:
        """Return the loop alone and the whole call; for the build, only the latter."""
        if row.algorithm == BUILD:
            frame = self.frame(row.graph)
            return {
                LOOP: lambda: Outcome(
                    timed(lambda: self._build(row.graph, frame), self.wait).seconds
                )
            }
        if row.from_frame:
            return {FRAME: partial(self.call, row, edges=self.frame(row.graph))}
        called = {FRAME: partial(self.call, row)}
        if row.algorithm not in ALGORITHMS:  # shortest_paths is a function of results or of pairs
            return called
        # The loop of an algorithm that returns values of edges has them once for each end.
        twice = ALGORITHMS[row.algorithm].result.rows == "edges" and row.column != "source"
        return called if twice else {LOOP: partial(self.loop, row), **called}

    def frame(self, graph: str) -> Any:
        """Return the edges of a graph as a frame."""
        columns = self.inputs.columns(graph)
        if not self.on_gpu:
            return pd.DataFrame(columns)
        import cudf

        return cudf.DataFrame(columns)

    def graph(self, name: str) -> gf.Graph:
        """Return a graph, which is built when it is first used."""
        if name not in self._graphs:
            self._graphs.clear() if self.on_gpu else None  # graphs would fill the device
            self._graphs[name] = self._build(name, self.frame(name))
        return self._graphs[name]

    def _build(self, name: str, frame: Any) -> gf.Graph:
        weight = "weight" if "weight" in frame else None
        with self._scheduler():
            ends = {"source": "source", "target": "target", "weight": weight}
            return gf.Graph(frame, **ends, directed=name in DIRECTED).persist()

    def loop(self, row: Row) -> Outcome:
        """Run the algorithm alone; its result is arrays. See :attr:`.Row.trials`."""
        algorithm, outcomes = ALGORITHMS[row.algorithm], []

        def run(g: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
            answer = algorithm.run(g, **options)
            return answer, _ends(g, answer.among) if answer.edges else answer.columns

        def work(g: Any, **options: Any) -> Any:
            outcomes.append(timed(lambda: run(g, options), self.wait, row.trials))
            return outcomes[0].answer[0]

        with self._scheduler():
            call_with(self.graph(row.graph), row.algorithm, row.ours(self.inputs), work)
        (outcome,) = outcomes
        column = outcome.answer[1][row.column]
        return Outcome(outcome.seconds, self.value(row, slice(len(column)), column))

    def call(self, row: Row, edges: Any = None) -> Outcome:
        """Call the method of a graph, or the function of edges; the result is a frame."""
        options = row.ours(self.inputs)
        if edges is None:
            function = getattr(self.graph(row.graph), row.algorithm)
        else:
            function = partial(getattr(gf, row.algorithm), edges, source="source", target="target")
        with self._scheduler():
            outcome = timed(lambda: function(**options).compute(), self.wait, row.trials)
        frame = outcome.answer
        column = frame[row.column].values
        vertices = frame["vertex"].values if "vertex" in frame else slice(len(column))
        return Outcome(outcome.seconds, self.value(row, vertices, column))

    def value(self, row: Row, vertices: Any, column: Any) -> Any:
        """Return the value or the values of a result that are compared."""
        if row.number is not None:
            return [row.number(column, self.inputs)]
        if len(column) <= self.inputs.vertices and row.rule is not None:
            missing = math.inf if row.column == "distance" else 0
            column = by_vertex(vertices, column, self.inputs.vertices, missing)
        return column

    def _scheduler(self) -> Any:
        scheduler = "sync" if self.on_gpu else "threads"
        return dask.config.set(scheduler=scheduler, num_workers=self.workers)
