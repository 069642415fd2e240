"""SciPy: a sparse matrix, its breadth-first order, Dijkstra, and power iteration by its product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import missing

from .edges import Edges, Timed, timed

NAME = "scipy"


def available(_: Any) -> str | None:
    """Return what is missing, or None."""
    return missing("scipy")


class Side:
    """The contender."""

    def __init__(self, edges: Edges, workers: int) -> None:
        self.edges = edges
        self._matrices: dict[bool, Any] = {}

    def close(self) -> None:
        """Release the matrices."""
        self._matrices.clear()

    def phases(self, phase: str) -> dict[str, Callable[..., Timed]]:
        """Return the functions to time, by name."""
        return {NAME: getattr(self, f"_{phase}")}

    def _matrix(self, weighted: bool) -> Any:
        from scipy.sparse import coo_array

        edges = self.edges
        loops = edges.source == edges.target
        ends = (
            np.concatenate([edges.source, edges.target[~loops]]),
            np.concatenate([edges.target, edges.source[~loops]]),
        )
        weight = edges.weight if weighted else np.ones(len(edges.source))
        weights = np.concatenate([weight, weight[~loops]])
        if weighted:
            # A matrix adds up parallel edges, but a shortest path takes the smallest weight.
            order = np.lexsort((weights, ends[1], ends[0]))
            u, v, w = (part[order] for part in (*ends, weights))
            first = np.append(True, (u[1:] != u[:-1]) | (v[1:] != v[:-1]))
            ends, weights = (u[first], v[first]), w[first]
        return coo_array((weights, ends), shape=(edges.bound, edges.bound)).tocsr()

    def _kept(self, weighted: bool) -> Any:
        if weighted not in self._matrices:
            self._matrices[weighted] = self._matrix(weighted)
        return self._matrices[weighted]

    def _build(self) -> Timed:
        return Timed(timed(lambda: self._matrix(False))[0])

    def _bfs(self, start: int) -> Timed:
        from scipy.sparse.csgraph import breadth_first_order

        matrix = self._kept(False)
        seconds, (order, before) = timed(lambda: breadth_first_order(matrix, start))
        distance = np.full(self.edges.bound, np.inf)
        distance[start] = 0
        for vertex in order[1:].tolist():
            distance[vertex] = distance[before[vertex]] + 1
        return Timed(seconds, distance)

    def _sssp(self, start: int) -> Timed:
        from scipy.sparse.csgraph import dijkstra

        matrix = self._kept(True)
        seconds, distance = timed(lambda: dijkstra(matrix, indices=start))
        return Timed(seconds, distance)

    def _pagerank(self, iterations: int) -> Timed:
        matrix = self._kept(False)
        degree = np.asarray(matrix.sum(axis=1)).ravel()
        occurs = degree > 0
        count = int(occurs.sum())

        def work() -> Any:
            rank = occurs / count
            for _ in range(iterations):
                # In an undirected graph, no vertex with an edge is dangling.
                share = np.divide(rank, degree, out=np.zeros(len(rank)), where=occurs)
                rank = occurs * 0.15 / count + 0.85 * (matrix.T @ share)
            return rank

        return Timed(*timed(work))
