"""Sums along the edges from one level of a search to the next, with the same bits in every order.

Numbers of shortest paths grow beyond the range of floats, and are far apart from each other. So a value is
a float from 0.5 to 1, times a power of two, and each vertex has a unit of its own. A first push finds the
largest exponent that a vertex receives, which gives the unit. A second push adds the values up as whole
multiples of the unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.edge_op import EdgeOp

from .advance import Advance
from .view import Frontier, GraphView

__all__ = ["LevelSums"]

BITS = 61  # of a value as a whole number
LOWEST = -(2**62)  # an exponent below all others
NEXT = "level[dst] == level[src] + step"
LARGEST = EdgeOp(
    "largest_exponent",
    target="largest",
    signal=f"exponent[src] if {NEXT} else {LOWEST}",
    slot="max",
    params={"step": np.int32(1)},
)
SUM = EdgeOp(
    "level_sum",
    target="sums",
    signal=f"whole[src] >> (unit[dst] - exponent[src]) if {NEXT} else 0",
    slot="add",
    params={"step": np.int32(1)},
)


class LevelSums:
    """Pushes values from the vertices of a level to those of the next one, or of the one before.

    Parameters
    ----------
    g : GraphView
        For ``g.T``, edges are followed backwards. All members make theirs at once.
    level : array of int32, shape (V_p,)
        Level of each vertex. It can change before a first level is pushed.
    step : int
        Difference of the levels along an edge: 1 or -1.
    """

    def __init__(self, g: GraphView, level: Any, step: int) -> None:
        self._whole, self._exponent = g.column(0, "int64"), g.column(0, "int64")
        self._largest, self._unit = g.column(LOWEST, "int64"), g.column(0, "int64")
        self._sums = g.column(0, "int64")
        self._spare = np.frexp(g.T.degrees)[1].astype("int64")  # bits that so many values can add
        sent, way = {"level": level, "exponent": self._exponent}, {"step": np.int32(step)}
        self._find = Advance(g, LARGEST.with_params(**way), {**sent, "largest": self._largest})
        sent |= {"whole": self._whole, "unit": self._unit, "sums": self._sums}
        self._add = Advance(g, SUM.with_params(**way), sent)

    def push(self, frontier: Frontier, values: Any, exponents: Any) -> tuple[Frontier, Any, Any]:
        """Push ``values * 2**exponents`` from a frontier, which is a whole level.

        Parameters
        ----------
        frontier : Frontier
        values : array of float64
            From 0.5 to 1, for each vertex of the frontier.
        exponents : array of int64

        Returns
        -------
        frontier : Frontier
            The vertices of the next level.
        values, exponents : array
            What they receive, in the same form.
        """
        at = frontier.vertices
        self._whole[at] = np.ldexp(values, BITS).astype("int64")
        self._exponent[at] = exponents - BITS
        following = self._find.push(frontier)
        at = following.vertices
        self._unit[at] = unit = self._largest[at] + self._spare[at]
        self._add.push(frontier)
        sums, more = np.frexp(self._sums[at].astype("float64"))
        self._largest[at], self._sums[at] = LOWEST, 0
        return following, sums, more + unit
