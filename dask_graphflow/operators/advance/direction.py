"""When to push and when to pull.

Push follows the edges that leave the frontier. Pull checks, for every vertex that takes messages, which of
its neighbors are in the frontier. Both give the same result; the rule only chooses the faster one.

A pull reads all edges in order, and a push reads a piece for each vertex of the frontier. If edges are on
disk, the rules choose a push as long as its pieces take less time to read than all edges.

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
.. [2] S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.
"""

from __future__ import annotations

from typing import Any

from dask_graphflow.kernels import disk
from dask_graphflow.kernels.search import PullRule
from dask_graphflow.operators.frontier import Frontier
from dask_graphflow.operators.view import GraphView

DIRECTIONS = ("push", "pull")
RULES = ("gemini", "beamer")
DIRECTION_RULES = (*RULES, *DIRECTIONS)
DENSE = 20  # Gemini pulls once more than 1/20 of the edges leave the frontier
# Beamer pulls once more than 1/15 of the unexplored edges leave the frontier, until the frontier is at most
# 1/18 of the vertices. Here, more than V / 18 edges must leave the frontier, too. If a search ends
# slowly, as on a grid, small frontiers are a large part of the few unexplored edges, but a pull scans a
# bitmap of all vertices, which members send each other. There, a pull took 4 to 10 times as long as a
# push. They took the same time somewhere between V / 110 edges (random ends, a million vertices) and
# V / 4 edges (near ends, 20,000 vertices): docs/internals/benchmarks.md.
ALPHA, BETA = 15, 18
EDGE = 4  # bytes of an edge on disk


class Direction:
    """Chooses the direction of each superstep, the same for all members.

    Parameters
    ----------
    rule : {"gemini", "beamer", "push", "pull"}
        "gemini" pulls if more than 1/20 of the edges leave the frontier [1]_. "beamer" [2]_ begins to pull
        if more than 1/15 of the edges that leave unreached vertices leave the frontier. It continues
        until the frontier shrinks and has at most 1/18 of the vertices. It pulls only if more edges leave
        the frontier than 1/18 of the number of vertices. "push" and "pull" always go that way.
    g : GraphView
        All members create their :class:`Direction` at once.

    Attributes
    ----------
    total : int
        Number of edges of all members.
    unexplored : int
        Number of edges that leave vertices which have not been in a frontier yet.
    """

    def __init__(self, rule: str, g: GraphView) -> None:
        self._rule, self._size = rule, g.size
        self.total, self._on_disk = g.edges_and_storage()
        self.unexplored = self.total
        self._last: tuple[str, int] | None = (
            None  # direction and number of vertices of the last superstep
        )

    def choose(self, frontier: Frontier) -> str:
        """Return "push" or "pull" for a frontier, whose edges then count as explored."""
        chosen = self._choose(frontier)
        self._last = chosen, len(frontier)
        self.unexplored -= frontier.leaving
        return chosen

    def _choose(self, frontier: Frontier) -> str:
        if self._rule not in RULES:
            return self._rule
        pieces = len(frontier) * disk.SEEK // EDGE
        if self._on_disk and pieces + frontier.leaving < self.total:
            return "push"
        if self._rule == "gemini":
            return "pull" if frontier.leaving * DENSE > self.total else "push"
        if frontier.leaving * BETA <= self._size:
            return "push"
        if self._last is not None and self._last[0] == "pull":
            shrinks = len(frontier) < self._last[1] and len(frontier) * BETA <= self._size
            return "push" if shrinks else "pull"
        return "pull" if frontier.leaving * ALPHA > self.unexplored else "push"

    def record_levels(self, sizes: Any, edges: Any, last: str = "push") -> None:
        """Record levels that were done in one call. The first is the level of the last :meth:`choose`.

        `last` is the direction of the last one.
        """
        self.unexplored -= int(edges[1:].sum())
        self._last = last, int(sizes[-1])

    def limits(self, frontier: Frontier) -> tuple[int, int, bool]:
        """Return when a call that pushes several levels from a frontier must stop.

        The rule has chosen "push" for the frontier. The results are ``(factor, limit, unexplored)``: a
        level that more than ``limit / factor`` edges leave is pulled, and `unexplored` says whether each
        level reduces the limit by its number of edges.
        """
        if self._rule == "gemini":
            return DENSE, self.total, False
        if self._rule != "beamer":
            return (1, -1, False) if self._rule == "pull" else (0, 0, False)
        # A pull needs more than V / BETA edges, as if at least V / BETA * ALPHA were unexplored.
        least, before = self._size // BETA * ALPHA, self.unexplored + frontier.leaving
        return ALPHA, max(before, least), before > least

    def later_levels(self, frontier: Frontier) -> PullRule:
        """Return the rule for the levels after a frontier, for a call that also pulls."""
        least = self._size // BETA if self._rule == "beamer" else -1
        return PullRule(*self.limits(frontier), least, least)
