"""igraph: a graph from an edge list, and its distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import missing

from .edges import Edges, Timed, timed

NAME = "igraph"


def available(_: Any) -> str | None:
    """Return what is missing, or None."""
    return missing("igraph")


class Side:
    """The contender."""

    def __init__(self, edges: Edges, workers: int) -> None:
        self.edges = edges
        self._kept: Any = None

    def close(self) -> None:
        """Release the graph."""
        self._kept = None

    def phases(self, phase: str) -> dict[str, Callable[..., Timed]]:
        """Return the functions to time, without PageRank, whose number of iterations cannot be set."""
        return {} if phase == "pagerank" else {NAME: getattr(self, f"_{phase}")}

    def _graph(self) -> Any:
        import igraph

        pairs = np.column_stack([self.edges.source, self.edges.target])
        return igraph.Graph(n=self.edges.bound, edges=pairs, directed=False)

    def _graph_kept(self) -> Any:
        if self._kept is None:
            self._kept = self._graph()
        return self._kept

    def _build(self) -> Timed:
        return Timed(timed(self._graph)[0])

    def _bfs(self, start: int) -> Timed:
        graph = self._graph_kept()
        seconds, found = timed(lambda: graph.distances(source=start))
        return Timed(seconds, np.array(found[0]))

    def _sssp(self, start: int) -> Timed:
        graph = self._graph_kept()
        seconds, found = timed(
            lambda: graph.distances(source=start, weights=self.edges.weight.tolist())
        )
        return Timed(seconds, np.array(found[0]))
