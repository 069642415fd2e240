"""What an algorithm takes beside the build, in units of the measured kernels; each one declares it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from . import model
from .members import SPARSE, search_levels

__all__ = ["Cost", "buckets", "converging", "levels", "rounds"]

MIXING = 0.4  # of the change that a power iteration makes, what the next one makes


@dataclass(frozen=True)
class Cost:
    """Passes over the edges, supersteps and memory of an algorithm.

    Attributes
    ----------
    kernel : {"pull", "search", "path", "label"}
        The rate of a pass over the edges; see :class:`~dask_graphflow.costs.Rates`.
    steps : int or callable
        Number of supersteps, or a function of the numbers of vertices and of neighbors per vertex.
    passes : float
        Passes over all edges in all supersteps together.
    each : float
        Passes over all edges in each superstep, in addition.
    fused : bool
        Whether one kernel does many supersteps, so that these take no time of their own.
    sparse : float
        How many times as many passes grids and road networks take.
    sparse_kernel : str, optional
        The rate of their passes, if it is another one.
    sources : int, optional
        How many sources one run takes. All vertices are sources, unless a number is given. By default,
        there is a single run.
    rows : float
        Rows that the algorithm makes, in builds of all rows.
    both_ways : bool
        Whether rows of the edges that enter vertices are needed too.
    scratch : int
        Bytes per vertex, with the result.
    copies : int
        Copies of the rows that are kept.
    """

    kernel: str
    steps: int | Callable[[int, float], float]
    passes: float = 0.0
    each: float = 0.0
    fused: bool = False
    sparse: float = 1.0
    sparse_kernel: str | None = None
    sources: int | None = None
    rows: float = 0.0
    both_ways: bool = False
    scratch: int = 64
    copies: int = 0

    def supersteps(self, vertices: int, neighbors: float) -> int:
        """Return the number of supersteps of a run."""
        steps = self.steps
        return math.ceil(steps(vertices, neighbors) if callable(steps) else steps)

    def runs(self, vertices: int, sources: int | None) -> int:
        """Return the number of runs from so many sources; None stands for all vertices."""
        if self.sources is None:
            return 1
        return -(-min(sources or vertices, vertices) // self.sources)


def levels(times: float = 1.0) -> Callable[[int, float], float]:
    """Return a function that returns some times the levels of a search."""
    return lambda vertices, neighbors: times * math.ceil(search_levels(vertices, neighbors))


def buckets(vertices: int, neighbors: float) -> float:
    """Return the steps of shortest paths: each level of a search has some on random graphs."""
    found = math.ceil(search_levels(vertices, neighbors))
    return found * max(1, math.ceil(min(neighbors, 64))) if neighbors >= SPARSE else found


def converging(vertices: int, _: float) -> float:
    """Return the iterations after which scores change by less than 1e-6 per vertex."""
    return model.iterations(vertices, MIXING)


def rounds(dense: float, sparse: float) -> Callable[[int, float], float]:
    """Return a function of graphs whose supersteps grow with the square root of the vertices.

    Parameters
    ----------
    dense, sparse : float
        Supersteps divided by the square root, of random graphs, and of grids and road networks.
    """

    def count(vertices: int, neighbors: float) -> float:
        return (sparse if neighbors < SPARSE else dense) * math.sqrt(vertices)

    return count
