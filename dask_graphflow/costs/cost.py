"""Costs of algorithms without the build, in units of the measured kernels. Each declares its own."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from dask_graphflow.algorithms.similarity.common_neighbors import BLOCK

from . import model
from .members import SPARSE, search_levels

if TYPE_CHECKING:
    from .links import Links

__all__ = [
    "ROW",
    "Cost",
    "Shape",
    "Steps",
    "buckets",
    "converging",
    "is_sparse",
    "levels",
    "pairs_listed",
    "rounds",
    "scores_listed",
]

MIXING = 0.4  # ratio of the changes that two successive power iterations make
STEP = 6e-5  # seconds per superstep, however few edges it follows
FUSED_STEP = 2e-6  # the same, if one kernel does many supersteps
MESSAGE = 8  # bytes that a member sends per vertex that another one reads
ITERATIONS = 100  # default of the option `max_iter`
HUBS = 0.34  # on R-MAT graphs, a neighbor has V**0.34 times as many neighbors as a vertex
DIAMETER = "the diameter"
ROW = 64  # bytes per row that an algorithm lists, while the result is made


class Shape(NamedTuple):
    """What is known about the degrees of a graph, in which edges in both directions count.

    Attributes
    ----------
    inner : int
        Number of vertices with at least two edges. A shortest path has at most one more edge.
    wedges : float
        The sum of the squared degrees. This is the number of walks along two edges.
    """

    inner: int
    wedges: float

    @classmethod
    def usual(cls, vertices: int, edges: int) -> Shape:
        """Return a typical shape of a graph, each of whose edges counts once."""
        near = 2 * edges / max(vertices, 1)
        if not is_sparse(vertices, edges):
            near *= vertices**HUBS
        return cls(vertices, min(2 * edges * near, cls.most(vertices, edges).wedges))

    @classmethod
    def most(cls, vertices: int, edges: int) -> Shape:
        """Return upper bounds for all graphs with these numbers of vertices and edges."""
        return cls(vertices, 2.0 * edges * min(2 * edges, max(vertices, 1)))


class Steps(NamedTuple):
    """Number of supersteps, if it depends on more than the size of the graph.

    Attributes
    ----------
    limit : str
        What it depends on.
    usual : callable
        Returns a typical number, given the numbers of vertices and of neighbors per vertex.
    most : callable
        Returns the largest possible number, given the largest possible diameter.
    """

    limit: str
    usual: Callable[[int, float], float]
    most: Callable[[int], float]


@dataclass(frozen=True)
class Cost:
    """Passes over the edges, supersteps and memory of an algorithm.

    Attributes
    ----------
    kernel : {"pulls", "searches", "paths", "labels"}
        The rate of a pass over the edges; see :class:`~dask_graphflow.costs.Rates`.
    steps : int or Steps
        Number of supersteps.
    passes : float
        Number of passes over all edges, for all supersteps together.
    each : float
        Number of additional passes over all edges in each superstep.
    wedges : float
        Number of additional passes over the walks along two edges; see :class:`Shape`.
    fused : bool
        Whether one kernel does many supersteps, so that launching supersteps takes little extra time.
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
    edge : int
        Further bytes per edge.
    listed : callable, optional
        Returns the number of rows that the algorithm lists, given the numbers of vertices and of walks
        along two edges, and the options `k` and `top_k` of the call.
    reference : bool
        Whether the rate of `kernel` is the rate of this algorithm itself. If so, the time of a call shows
        the rate; see :func:`.corrections.learn`. For other algorithms the number of passes is only typical.
    """

    kernel: str
    steps: int | Steps
    passes: float = 0.0
    each: float = 0.0
    wedges: float = 0.0
    fused: bool = False
    sparse: float = 1.0
    sparse_kernel: str | None = None
    sources: int | None = None
    rows: float = 0.0
    both_ways: bool = False
    scratch: int = 64
    copies: int = 0
    edge: int = 0
    listed: Callable[[int, float, int | None, int | None], float] | None = None
    reference: bool = False

    @property
    def takes_k(self) -> bool:
        """Whether the cost depends on a number of sources or pairs."""
        return self.sources is not None or self.wedges > 0

    @property
    def limits(self) -> list[str]:
        """What the time depends on, besides the numbers of vertices and edges."""
        limits = [self.steps.limit] if isinstance(self.steps, Steps) else []
        return [*limits, *(["the degrees"] if self.wedges else [])]

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
        near: float = 0.0,
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
        near : float
            Mean number of edges that continue an edge to a walk along two edges.
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
        if isinstance(self.steps, Steps) and self.steps.limit == DIAMETER and not self.fused:
            passes = min(passes, steps)  # a level of a search follows each edge at most once
        passes += self.wedges * near
        slowest = max(edge / rate for edge, rate in zip(edges, rates, strict=True))
        found = {
            "computing": passes * slowest,
            "launching": steps * (FUSED_STEP if self.fused else STEP),
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

    def supersteps(self, vertices: int, neighbors: float, inner: int) -> tuple[int, int]:
        """Return a typical number of supersteps of a run, and the largest possible number.

        Parameters
        ----------
        vertices : int
        neighbors : float
            Mean number of neighbors per vertex.
        inner : int
            See :class:`Shape`.
        """
        if not isinstance(self.steps, Steps):
            return self.steps, self.steps
        most = math.ceil(self.steps.most(inner + 1))
        return min(math.ceil(self.steps.usual(vertices, neighbors)), most), most

    def runs(self, vertices: int, sources: int | None) -> int:
        """Return the number of runs from this number of sources; None stands for all vertices."""
        if self.sources is None:
            return 1
        return -(-min(sources or vertices, vertices) // self.sources)


def is_sparse(vertices: float, edges: float) -> bool:
    """Return whether a graph has so few edges, each counted once, that it is treated as a road network."""
    return 2 * edges < SPARSE * vertices


def levels(times: float = 1.0) -> Steps:
    """Return the number of levels of a search, multiplied by `times`."""
    return Steps(
        DIAMETER,
        lambda vertices, neighbors: times * math.ceil(search_levels(vertices, neighbors)),
        lambda diameter: times * (diameter + 1),
    )


def _buckets(vertices: int, neighbors: float) -> float:
    found = math.ceil(search_levels(vertices, neighbors))
    return found * max(1, math.ceil(min(neighbors, 64))) if neighbors >= SPARSE else found


#: Supersteps of shortest paths, several per level of a search on random graphs.
buckets = Steps(DIAMETER, _buckets, lambda diameter: diameter + 1)
#: Iterations after which scores change by less than 1e-6 per vertex.
converging = Steps(
    "the number of iterations",
    lambda vertices, _: model.iterations(vertices, MIXING),
    lambda _: ITERATIONS,
)


def pairs_listed(vertices: int, wedges: float, k: int | None, top_k: int | None) -> float:
    """Return the number of rows of k given pairs, or of a block and the result of all similar pairs."""
    if k is not None:
        return k
    return min(wedges, BLOCK) + min(wedges, top_k * vertices if top_k else math.inf)


def scores_listed(vertices: int, wedges: float, k: int | None, top_k: int | None) -> float:
    """Return the number of rows of the scores of k sources."""
    return (k or vertices) * min(vertices, top_k or vertices)


def rounds(dense: float, sparse: float) -> Steps:
    """Return supersteps that typically grow with the square root of the number of vertices.

    Parameters
    ----------
    dense, sparse : float
        Supersteps divided by the square root: for random graphs, and for grids and road networks.
    """

    def usual(vertices: int, neighbors: float) -> float:
        return (sparse if neighbors < SPARSE else dense) * math.sqrt(vertices)

    return Steps("the number of rounds", usual, lambda diameter: diameter + 1)
