"""Sums of scores along the edges, in fixed point.

Each vertex pulls the scores of the vertices that have an edge to it, times the weights, along hub-first
rows. Scores are rounded to whole multiples of a unit that is the same on all members, so a sum has the same
bits in every order. If sums differ so widely that this unit is too large for the small ones, each vertex
gets a unit of its own, which takes a second pass over the edges.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.programs.edge_op import EdgeOp

from .float_sums import FloatSums
from .hub_rows import HubRows
from .view import Frontier, GraphView

BITS = 61  # bits of the largest sum as a whole number
PLAIN_SUM = EdgeOp("score_sum", target="sum", signal="score[src]", slot="add")
WEIGHTED_SUM = EdgeOp("weighted_score_sum", target="sum", signal="score[src] * weight", slot="add")
# Limits of a vertex's total weight, so that products with scores are floats.
SMALLEST, LARGEST = 1e-200, 1e200


class NeighborSums(HubRows):
    """The sums that each vertex pulls along the edges that enter it.

    Scores and sums have one entry per existing vertex, in the order of :meth:`.HubRows.take`. The order for
    ``g.T`` is the same.

    Parameters
    ----------
    g : GraphView
        For ``g.T``, along the edges that leave the vertices. All members create theirs at once.

    Attributes
    ----------
    entering : array of float64, shape (V_p,), or None
        Sum of the weights of the edges that enter each owned vertex; None without weights.
    most_entering : float
        Largest sum of the weights of the edges that enter a vertex; without weights, their largest number.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or the weights are far too large or small to be added up.
    """

    def __init__(self, g: GraphView) -> None:
        self.entering = None
        self._own_units: tuple[FloatSums, dict[str, Any]] | None = None
        if g.weighted:
            # First, because the hub-first rows can be made from the rows that this makes.
            self.entering, self.most_entering = leaving(g.T)
        super().__init__(g)
        if not g.weighted:
            self.most_entering = g.largest(np.diff(self.layout.rows.offsets))
        self._wide = g.column(0, "float64", self.layout.size)
        self._sums = g.column(0, "int64", len(self.layout.names))

    def column(self, fill: float) -> Any:
        """Return scores that are all equal to `fill`: array of float64, shape (n,)."""
        return self._g.column(fill, "float64", len(self.layout.names))

    def pull(self, scores: Any, bound: float, coarsest: float = math.inf) -> tuple[Any, float]:
        """Return the sums of all vertices as multiples of a unit, and the unit.

        Parameters
        ----------
        scores : array of float64, shape (n,)
            At least 0.
        bound : float
            Upper bound of all sums.
        coarsest : float, optional
            Largest unit that is small enough for all sums. If the bound needs a larger one, each sum is
            rounded to a unit of its own.

        Returns
        -------
        array, shape (n,)
            Whole numbers as int64, or sums as float64 if the unit is 1.
        float
        """
        unit = math.ldexp(1.0, math.frexp(bound)[1] - BITS)
        if unit > coarsest:
            return self._pull_in_own_units(scores), 1.0
        with self._g.superstep("pull", self.count, self.edges):
            np.divide(scores, unit, out=self._wide[: len(scores)])
            self.send(self._wide)
            self.add_up(self._wide, self._sums)
        return self._sums, unit

    def _pull_in_own_units(self, scores: Any) -> Any:
        g = self._g
        if self._own_units is None:
            columns = {"score": g.column(0, "float64"), "sum": g.column(0, "float64")}
            op = WEIGHTED_SUM if g.weighted else PLAIN_SUM
            self._own_units = FloatSums(g, op, columns), columns
        steps, columns = self._own_units
        columns["score"][self.layout.names] = scores
        columns["sum"][:] = 0
        steps.pull(Frontier(None, self.count, self.edges))
        return self.take(columns["sum"])


def leaving(g: GraphView) -> tuple[Any, float]:
    """Return the weighted out-degrees, and the largest one over all members.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or the weights are far too large or small to be added up.
    """
    totals = g.weighted_degrees
    largest = g.largest(totals)
    if largest and not SMALLEST < largest < LARGEST:
        raise WeightError(
            f"the weights of a vertex's edges sum to {largest:g}; the largest sum has to be above "
            f"{SMALLEST:g} and below {LARGEST:g}. Divide all weights by the largest weight"
        )
    return totals, largest
