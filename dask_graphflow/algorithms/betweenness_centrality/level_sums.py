"""Sums along the edges from one level of a search to the next, with the same bits in every order.

The number of shortest paths can exceed the range of floats, and such numbers differ widely. So a value is a
float from 0.5 to 1, times a power of two, and each vertex has its own unit. A first superstep finds the
largest exponent that a vertex receives, which determines the unit. A second one adds up the values as whole
multiples of the unit. If all values are whole numbers and so small that the unit would be at most 1, a unit
of 1 loses no bits either, and the first superstep is left out. Both supersteps run in the direction with
fewer edges to follow; push and pull give the same sums.

If edges have weights, levels are the generations of :mod:`.generations`, and only tight edges carry values.
A level then receives values from all levels before it. The vertices with such an edge to the level send
again what they were given; a superstep against the direction of the edges finds them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.frontier import Frontier
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

from .tight_edges import Senders, only_tight

SMALL = 4  # if fewer than V / 4 edges leave a frontier, it is pushed
PULLED = 2  # number of edges that are pulled in the time in which one is pushed
BITS = 61  # bits of a value as a whole number
LOWEST = -(2**62)  # less than any real exponent
RECEIVES = "level[dst] == receiving"
LARGEST = EdgeOp(
    "largest_exponent",
    target="largest",
    signal="exponent[src]",
    slot="max",
    cond=RECEIVES,
    params={"receiving": np.int32(0)},
)
SUM = EdgeOp(
    "level_sum",
    target="sums",
    signal="whole[src] >> (unit[dst] - exponent[src])",
    slot="add",
    cond=RECEIVES,
    params={"receiving": np.int32(0)},
)


class LevelSums:
    """Sends values from the vertices of a level to the vertices of the next or the previous level.

    All members create theirs at once. For ``g.T``, edges are followed backwards. The levels can change
    between two calls of :meth:`send`. `whole`: all values are whole numbers. If edges have weights, there
    are distances, see :class:`.Generations`, and edges can be followed from their farther to their nearer
    end (`backward`).
    """

    def __init__(
        self,
        g: GraphView,
        level: Any,
        *,
        whole: bool = False,
        distance: Any = None,
        backward: bool = False,
    ) -> None:
        self._g, self._level, self._all_whole = g, level, whole
        self._whole, self._exponent = g.column(0, "int64"), g.column(0, "int64")
        self._largest, self._unit = g.column(LOWEST, "int64"), g.column(0, "int64")
        self._sums = g.column(0, "int64")
        # Bits by which the sum of all values may grow.
        self._spare = np.frexp(g.T.degrees)[1].astype("int64")
        sent, largest, add = {"level": level, "exponent": self._exponent}, LARGEST, SUM
        if distance is not None:
            self._senders = Senders(g, distance, backward=backward)
            sent["distance"] = distance
            largest = only_tight(LARGEST, LOWEST, backward=backward)
            add = only_tight(SUM, 0, backward=backward)
        self._most_spare = g.largest(self._spare) if whole else 0.0
        self._find = Advance(g, largest, {**sent, "largest": self._largest})
        sent |= {"whole": self._whole, "unit": self._unit, "sums": self._sums}
        self._add = Advance(g, add, sent)

    def send(
        self,
        frontier: Frontier,
        values: Any,
        exponents: Any,
        receiving: int,
        receivers: Frontier | None = None,
    ) -> tuple[Frontier, Any, Any]:
        """Send ``values * 2**exponents`` from a frontier, which is a whole level, to the level `receiving`.

        Values are from 0.5 to 1. If edges have weights, the vertices of that level are given, and also
        receive what was sent before. Returns the vertices of that level with an edge from the frontier, and
        the sums that they receive, in the same form.
        """
        at = frontier.vertices
        self._whole[at] = np.ldexp(values, BITS).astype("int64")
        self._exponent[at] = exponents - BITS
        if receivers is not None:
            frontier = self._senders.of(receivers)
        direction, step = self._direction(frontier, receiving), {"receiving": np.int32(receiving)}
        unit: Any = 0
        exact = self._all_whole and self._g.largest(exponents) + self._most_spare <= BITS
        if exact:
            following = self._add.step(direction, frontier, **step)
            at = following.vertices
        else:
            following = self._find.step(direction, frontier, **step)
            at = following.vertices
            self._unit[at] = unit = self._largest[at] + self._spare[at]
            self._add.step(direction, frontier, **step)
            self._largest[at], self._unit[at] = LOWEST, 0
        sums, more = np.frexp(self._sums[at].astype("float64"))
        self._sums[at] = 0
        return following, sums, more + unit

    def _direction(self, frontier: Frontier, receiving: int) -> str:
        """Return the direction that takes less time. All members call it."""
        if frontier.leaving * SMALL < self._g.size:
            return "push"
        others = self._g.T.frontier((self._level == receiving).nonzero()[0])
        return "pull" if others.leaving < PULLED * frontier.leaving else "push"
