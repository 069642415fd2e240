"""NetworKit: a graph from coordinates, its BFS and Dijkstra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import missing

from .edges import Edges, Timed, timed

NAME = "networkit"


def available(_: Any) -> str | None:
    """Return what is missing, or None."""
    return missing("networkit")


class Side:
    """The contender."""

    def __init__(self, edges: Edges, workers: int) -> None:
        import networkit

        networkit.setNumberOfThreads(workers)
        self.edges = edges
        self._graphs: dict[bool, Any] = {}

    def close(self) -> None:
        """Release the graphs."""
        self._graphs.clear()

    def phases(self, phase: str) -> dict[str, Callable[..., Timed]]:
        """Return the functions to time, without PageRank, whose number of iterations cannot be set."""
        return {} if phase == "pagerank" else {NAME: getattr(self, f"_{phase}")}

    def _graph(self, weighted: bool) -> Any:
        from networkit import GraphFromCoo

        ends = self.edges.source.astype("uint64"), self.edges.target.astype("uint64")
        data = (self.edges.weight, ends) if weighted else ends
        return GraphFromCoo(data, n=self.edges.bound, weighted=weighted)

    def _kept(self, weighted: bool) -> Any:
        if weighted not in self._graphs:
            self._graphs[weighted] = self._graph(weighted)
        return self._graphs[weighted]

    def _build(self) -> Timed:
        return Timed(timed(lambda: self._graph(False))[0])

    def _from(self, kind: str, graph: Any, start: int) -> Timed:
        import networkit

        search = getattr(networkit.distance, kind)(graph, start, storePaths=False)
        seconds, _ = timed(search.run)
        distance = np.array(search.getDistances())
        distance[distance > 1e300] = np.inf
        return Timed(seconds, distance)

    def _bfs(self, start: int) -> Timed:
        return self._from("BFS", self._kept(False), start)

    def _sssp(self, start: int) -> Timed:
        return self._from("Dijkstra", self._kept(True), start)
