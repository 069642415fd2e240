"""What an algorithm declares about its cost without the build, in units of the measured rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

ITERATIONS = 100  # default of the option `max_iter`
TOLERANCE = 1e-6  # default of the option `tol`
MIXING = 0.4  # ratio of the changes that two successive power iterations make
STEP = 6e-5  # seconds per superstep, however few edges it follows
SPARSE = 5.0  # mean degree below which a graph is treated as a road network or a grid
# Mean degree below which a graph with even degrees is treated as a mesh in two dimensions.
FLAT = 10.0
LISTED = 20  # labels that are counted in the time it takes to list a row
ROW = 64  # bytes per row that an algorithm lists, while the result is made
DIAMETER = "the diameter"
HUBS = 0.34  # on R-MAT graphs, a neighbor has V**0.34 times as many neighbors as a vertex


class Shape(NamedTuple):
    """Numbers that depend on the degrees of a graph, in which edges in both directions count."""

    # Number of vertices with at least two edges. A shortest path has at most one more edge.
    inner: int
    wedges: float  # the sum of the squared degrees. This is the number of walks along two edges.

    @classmethod
    def usual(cls, vertices: int, edges: int) -> Shape:
        """Return a typical shape of a graph, each of whose edges counts once."""
        degree = 2 * edges / max(vertices, 1)
        neighbors = degree if degree < SPARSE else degree * vertices**HUBS
        return cls(vertices, min(2 * edges * neighbors, cls.most(vertices, edges).wedges))

    @classmethod
    def most(cls, vertices: int, edges: int) -> Shape:
        """Return upper bounds for all graphs with these numbers of vertices and edges."""
        return cls(vertices, 2.0 * edges * min(2 * edges, max(vertices, 1)))


class Steps(NamedTuple):
    """Number of supersteps, if it depends on more than the size of the graph."""

    limit: str  # the property of the graph that it depends on
    # Returns a typical number, given the numbers of vertices and of neighbors per vertex.
    usual: Callable[[int, float], float]
    # Returns the largest possible number, given the largest possible diameter.
    most: Callable[[int], float]

    @classmethod
    def levels(cls, times: float = 1.0) -> Steps:
        """Return the number of levels of a search, multiplied by `times`."""
        return cls(
            DIAMETER,
            lambda vertices, degree: times * math.ceil(search_levels(vertices, degree)),
            lambda diameter: times * (diameter + 1),
        )

    @classmethod
    def rounds(cls, dense: float, sparse: float) -> Steps:
        """Return supersteps that typically grow with the square root of the number of vertices.

        Parameters
        ----------
        dense, sparse : float
            Supersteps divided by the square root: for random graphs, and for grids and road networks.
        """

        def usual(vertices: int, degree: float) -> float:
            return (sparse if degree < SPARSE else dense) * math.sqrt(vertices)

        return cls("the number of rounds", usual, lambda diameter: diameter + 1)

    @classmethod
    def iterations(cls) -> Steps:
        """Return the iterations after which scores change by less than the tolerance per vertex."""

        def usual(vertices: int, degree: float) -> float:
            change = TOLERANCE * max(vertices, 1) / 2
            return min(max(1 + math.log(change) / math.log(MIXING), 1), ITERATIONS)

        return cls("the number of iterations", usual, lambda diameter: ITERATIONS)


def search_levels(vertices: int, degree: float, *, even: bool = False) -> float:
    """Return the number of levels of a search from any vertex, estimated from the mean degree.

    If all vertices are known to have about the same degree (`even`), the graph can be a mesh: in two
    dimensions if the degree is small, and in three if it is large.
    """
    if degree < (FLAT if even else SPARSE):
        return 2 * math.sqrt(vertices)
    if even:
        return float(3 * vertices ** (1 / 3))
    return math.log(max(vertices, 2)) / math.log(degree) + 2


@dataclass(frozen=True)
class Cost:
    """Passes over the edges, supersteps and memory of an algorithm."""

    # {"pulls", "searches", "paths", "labels"}. The rate of a pass over the edges; see
    # :class:`~dask_graphflow.costs.Rates`.
    kernel: str
    steps: int | Steps  # number of supersteps
    passes: float = 0.0  # number of passes over all edges, for all supersteps together
    each: float = 0.0  # number of additional passes over all edges in each superstep
    # Number of additional passes over the walks along two edges; see :class:`Shape`.
    wedges: float = 0.0
    step: float = STEP  # seconds per superstep, however few edges it follows
    # Factor by which grids and road networks take longer than other graphs with as many edges.
    sparse: float = 1.0
    # Number of sources that one run handles. All vertices are sources, unless a call gives a number. By
    # default, there is a single run.
    sources: int | None = None
    # Cost of the rows that the algorithm makes, as a multiple of building all rows.
    rows: float = 0.0
    scratch: int = 64  # bytes per vertex, including the result
    copies: int = 0  # number of copies of the rows that are kept
    edge: int = 0  # further bytes per edge
    # Returns the number of rows that the algorithm lists, given the numbers of vertices and of walks along
    # two edges, and the options `k` and `top_k` of the call.
    listed: Callable[[int, float, int | None, int | None], float] | None = None
    by_source: Cost | None = None  # the cost with the option `by_source`, if `k` sources are given
    # The cost if edges have weights, for an algorithm that then takes another way.
    weighted: Cost | None = None

    FUSED: ClassVar[float] = 2e-6  # the value of `step` if one kernel does many supersteps
    levels = staticmethod(Steps.levels)
    rounds = staticmethod(Steps.rounds)
    iterations = staticmethod(Steps.iterations)

    @staticmethod
    def rows_by_source(vertices: int, wedges: float, k: int | None, top_k: int | None) -> float:
        """Return the number of rows of a result with one row per source and vertex."""
        return (k or vertices) * min(vertices, top_k or vertices)

    @classmethod
    def by_weight(cls, passes: float, *, edge: int = 24) -> Cost:
        """Return the cost of a search for weighted distances from each source."""
        return cls(
            "paths", Steps.levels(), passes=passes, step=cls.FUSED, sparse=3, sources=1, rows=1,
            copies=1, scratch=150, edge=edge,
        )  # fmt: skip

    @property
    def takes_k(self) -> bool:
        """Whether the cost depends on a number of sources or pairs."""
        return self.sources is not None or self.wedges > 0 or self.by_source is not None

    @property
    def limits(self) -> list[str]:
        """Properties of the graph that the time depends on, besides the numbers of vertices and edges."""
        limits = [self.steps.limit] if isinstance(self.steps, Steps) else []
        return [*limits, *(["the degrees"] if self.wedges else [])]

    def computing(
        self,
        edges: Sequence[float],
        rates: Sequence[float],
        *,
        steps: float,
        runs: int,
        sparse: bool,
        continued: float,
    ) -> float:
        """Return the seconds in which the slowest member follows its edges in all supersteps.

        `edges` are those of each member, of which undirected ones count twice, and `rates` are their edges
        per second. `steps` are the supersteps of all runs. `sparse` graphs are treated as grids or road
        networks. `continued` is the mean number of edges that continue an edge to a walk along two.
        """
        passes = (runs * self.passes + steps * self.each) * (self.sparse if sparse else 1)
        if isinstance(self.steps, Steps) and self.steps.limit == DIAMETER:
            passes = min(passes, steps)  # a level of a search follows each edge at most once
        passes += self.wedges * continued
        return passes * max(edge / rate for edge, rate in zip(edges, rates, strict=True))

    def supersteps(self, vertices: int, degree: float, inner: int) -> tuple[int, int]:
        """Return a typical number of supersteps of a run, and the largest possible number.

        `degree` is the mean number of neighbors per vertex; see :class:`Shape` for `inner`.
        """
        if not isinstance(self.steps, Steps):
            return self.steps, self.steps
        most = math.ceil(self.steps.most(inner + 1))
        return min(math.ceil(self.steps.usual(vertices, degree)), most), most

    def runs(self, vertices: int, sources: int | None) -> int:
        """Return the number of runs from this number of sources; None stands for all vertices."""
        if self.sources is None:
            return 1
        return -(-min(sources or vertices, vertices) // self.sources)
