"""Costs of algorithms without the build, in units of the measured kernels. Each declares its own."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import model
from .members import SPARSE, search_levels

if TYPE_CHECKING:
    from .links import Links

__all__ = ["Cost", "buckets", "converging", "is_sparse", "levels", "rounds"]

MIXING = 0.4  # ratio of the changes that two successive power iterations make
STEP = 6e-5  # seconds per superstep, however few edges it follows
MESSAGE = 8  # bytes that a member sends per vertex that another one reads


@dataclass(frozen=True)
class Cost:
    """Passes over the edges, supersteps and memory of an algorithm.

    Attributes
    ----------
    kernel : {"pulls", "searches", "paths", "labels"}
        The rate of a pass over the edges; see :class:`~dask_graphflow.costs.Rates`.
    steps : int or callable
        Number of supersteps, or a function of the numbers of vertices and of neighbors per vertex.
    passes : float
        Number of passes over all edges, for all supersteps together.
    each : float
        Number of additional passes over all edges in each superstep.
    fused : bool
        Whether one kernel does many supersteps, so that launching supersteps takes no extra time.
    sparse : float
        Factor by which grids and road networks take more passes than other graphs.
    sparse_kernel : str, optional
        The rate of the passes on grids and road networks, if it is a different one.
    sources : int, optional
        Number of sources that one run handles. All vertices are sources, unless a call gives a number. By
        default, there is a single run.
    rows : float
        Cost of the rows that the algorithm makes, as a multiple of building all rows.
    both_ways : bool
        Whether the rows of the edges that enter vertices are needed too.
    scratch : int
        Bytes per vertex, including the result.
    copies : int
        Number of copies of the rows that are kept.
    reference : bool
        Whether the rate of `kernel` is the rate of this algorithm itself. If so, the time of a call shows
        the rate; see :func:`.corrections.learn`. For other algorithms the number of passes is only typical.
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
    reference: bool = False

    def kernel_on(self, *, sparse: bool) -> str:
        """Return the kernel of the passes on grids and road networks, or on other graphs."""
        return (sparse and self.sparse_kernel) or self.kernel

    def seconds(
        self,
        edges: Sequence[float],
        rates: Sequence[float],
        *,
        steps: float,
        runs: int = 1,
        sparse: bool = False,
        read: float = 0.0,
        links: Links | None = None,
    ) -> dict[str, float]:
        """Return the seconds of all supersteps on a built graph, by category.

        Parameters
        ----------
        edges : sequence of float
            Number of edges of each member. An undirected edge counts twice.
        rates : sequence of float
            Edges per second of each member's :meth:`kernel_on`.
        steps : float
            Number of supersteps of all runs together.
        runs : int
            Number of runs; see :meth:`runs`.
        sparse : bool
            Whether the graph is a grid or a road network; see :func:`is_sparse`.
        read : float
            Number of vertices of other members that a member reads.
        links : Links, optional
            Links between the members; required if there are several.

        Returns
        -------
        dict of str to float
            "computing", "launching", "messages" and "latency".
        """
        passes = (runs * self.passes + steps * self.each) * (self.sparse if sparse else 1)
        slowest = max(edge / rate for edge, rate in zip(edges, rates, strict=True))
        found = {
            "computing": passes * slowest,
            "launching": 0.0 if self.fused else steps * STEP,
            "messages": 0.0,
            "latency": 0.0,
        }
        if len(edges) > 1:
            assert links is not None
            rounds = steps if self.each else runs
            found["messages"] = rounds * MESSAGE * read / links.c
            found["latency"] = 2 * steps * links.latency
        return found

    def shows_rate(self, run: Callable[..., object], options: Mapping[str, Any]) -> bool:
        """Return whether the time of a call shows the rate of the kernel.

        It does for a reference if the number of passes follows from the number of supersteps, or if no
        option cuts the search short.

        Parameters
        ----------
        run : callable
            The algorithm.
        options : mapping of str to object
            The options of the call.
        """
        if not self.reference or self.each:
            return self.reference
        known = inspect.signature(run).parameters
        defaults = {name: known[name].default for name in options}
        # Compare by identity, because the values of options may be frames.
        given = [name for name, value in options.items() if defaults[name] is not value]
        return all(defaults[name] is inspect.Parameter.empty for name in given)

    def supersteps(self, vertices: int, neighbors: float) -> int:
        """Return the number of supersteps of a run."""
        steps = self.steps
        return math.ceil(steps(vertices, neighbors) if callable(steps) else steps)

    def runs(self, vertices: int, sources: int | None) -> int:
        """Return the number of runs from this number of sources; None stands for all vertices."""
        if self.sources is None:
            return 1
        return -(-min(sources or vertices, vertices) // self.sources)


def is_sparse(vertices: float, edges: float) -> bool:
    """Return whether a graph has so few edges, each counted once, that it is treated as a road network."""
    return 2 * edges < SPARSE * vertices


def levels(times: float = 1.0) -> Callable[[int, float], float]:
    """Return a function that computes the number of levels of a search, multiplied by `times`."""
    return lambda vertices, neighbors: times * math.ceil(search_levels(vertices, neighbors))


def buckets(vertices: int, neighbors: float) -> float:
    """Return the number of supersteps of shortest paths, several per level of a search on random graphs."""
    found = math.ceil(search_levels(vertices, neighbors))
    return found * max(1, math.ceil(min(neighbors, 64))) if neighbors >= SPARSE else found


def converging(vertices: int, _: float) -> float:
    """Return the number of iterations after which scores change by less than 1e-6 per vertex."""
    return model.iterations(vertices, MIXING)


def rounds(dense: float, sparse: float) -> Callable[[int, float], float]:
    """Return a function that computes supersteps that grow with the square root of the number of vertices.

    Parameters
    ----------
    dense, sparse : float
        Supersteps divided by the square root: for random graphs, and for grids and road networks.
    """

    def count(vertices: int, neighbors: float) -> float:
        return (sparse if neighbors < SPARSE else dense) * math.sqrt(vertices)

    return count
