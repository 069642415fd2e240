"""This library: the algorithms alone on a built graph, and the whole calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import numpy as np

import dask_graphflow as gf
from benchmarks.alone import view
from dask_graphflow.algorithms.bfs import bfs
from dask_graphflow.algorithms.pagerank import pagerank
from dask_graphflow.algorithms.sssp import sssp
from dask_graphflow.operators.view import GraphView

from .edges import Edges, Timed, timed

NAME = "graphflow"
ENDS = {"source": "src", "target": "dst", "directed": False}


class Side:
    """The contender."""

    def __init__(self, edges: Edges, workers: int) -> None:
        self.edges, self.workers = edges, workers
        self._graphs: dict[str, Any] = {}

    def close(self) -> None:
        """Release the graphs."""
        self._graphs.clear()

    def phases(self, phase: str) -> dict[str, Callable[..., Timed]]:
        """Return the functions to time, by name; other libraries are compared with the first one."""
        if phase == "build":
            return {NAME: self._build}
        alone = {"bfs": self._bfs, "pagerank": self._pagerank, "sssp": self._sssp}[phase]
        found = {NAME: alone}
        if phase == "pagerank":
            found = {f"{NAME}, float32": self._pagerank32, f"{NAME}, float64": alone}
        return found | {f"{NAME}, to a frame": lambda *a: self._call(phase, *a)}

    def _scheduler(self) -> Any:
        return dask.config.set(scheduler="threads", num_workers=self.workers)

    def _graph(self, weight: str | None = None) -> Any:
        if weight not in self._graphs:
            with self._scheduler():
                self._graphs[weight] = gf.Graph(self.edges.frame, **ENDS, weight=weight).persist()
        return self._graphs[weight]

    def _view(self, weight: str | None = None) -> GraphView:
        with self._scheduler():
            return view(self._graph(weight), self.workers)

    def _build(self) -> Timed:
        with self._scheduler():
            seconds, _ = timed(lambda: gf.Graph(self.edges.frame, **ENDS).persist())
        return Timed(seconds)

    def _bfs(self, start: int) -> Timed:
        g, source = self._view(), np.array([start])
        seconds, answer = timed(lambda: bfs(g, source))
        distance = answer.columns["distance"].astype("float64")
        distance[distance < 0] = np.inf
        return Timed(seconds, distance)

    def _sssp(self, start: int) -> Timed:
        g, source = self._view("weight"), np.array([start])
        seconds, answer = timed(lambda: sssp(g, source))
        return Timed(seconds, answer.columns["distance"])

    def _pagerank(self, iterations: int, precision: str = "float64") -> Timed:
        g, how = self._view(), {"tol": None, "max_iter": iterations, "precision": precision}
        seconds, answer = timed(lambda: pagerank(g, **how))
        return Timed(seconds, answer.columns["pagerank"])

    def _pagerank32(self, iterations: int) -> Timed:
        return self._pagerank(iterations, "float32")

    def _call(self, phase: str, argument: int) -> Timed:
        with self._scheduler():
            if phase == "pagerank":
                lazy = self._graph().pagerank(tol=None, max_iter=argument)
            elif phase == "bfs":
                lazy = self._graph().bfs([argument])
            else:
                lazy = self._graph("weight").sssp([argument])
            return Timed(timed(lazy.compute)[0])
