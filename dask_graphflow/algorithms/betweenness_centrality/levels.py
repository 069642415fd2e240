"""The levels of a search, stored to be read again in the opposite order."""

from __future__ import annotations

from array import array

from dask_graphflow.operators.frontier import Frontier
from dask_graphflow.operators.view import GraphView


class Levels:
    """The levels of a search, in one list of vertices: ``levels[d]`` is the frontier of level d.

    A level takes 24 bytes besides its vertices, however many levels there are.

    Attributes
    ----------
    count : int
        Number of vertices in all levels, over all members.
    """

    def __init__(self, g: GraphView) -> None:
        self._vertices = g.column(0, g.index)
        self._stops, self._sizes, self._leaving = array("q", [0]), array("q"), array("q")
        self.count = 0

    def __len__(self) -> int:
        return len(self._sizes)

    def append(self, frontier: Frontier) -> None:
        """Add the next level."""
        start, at = self._stops[-1], frontier.vertices
        self._vertices[start : start + len(at)] = at
        self._stops.append(start + len(at))
        self._sizes.append(len(frontier))
        self._leaving.append(frontier.leaving)
        self.count += len(frontier)

    def __getitem__(self, depth: int) -> Frontier:
        at = self._vertices[self._stops[depth] : self._stops[depth + 1]]
        return Frontier.of(at, len(self._vertices), self._sizes[depth], self._leaving[depth])
