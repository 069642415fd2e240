"""Sums of scores along the edges, in fixed point.

Each vertex pulls the scores of the vertices that have an edge to it, times the weights, along hub-first
rows. Scores are rounded to whole multiples of a unit that is the same on all members, so a sum has the same
bits in every order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dask_graphflow.exceptions import WeightError

from .hub_rows import HubRows
from .view import GraphView

__all__ = ["NeighborSums", "most_leaving"]

BITS = 61  # bits of the largest sum as a whole number


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
    most_entering : float
        Largest sum of the weights of the edges that enter a vertex; without weights, their largest number.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or the weights are far too large or small to be added up.
    """

    def __init__(self, g: GraphView) -> None:
        if g.weighted:
            # First, because the hub-first rows can be made from the rows that this makes.
            self.most_entering = most_leaving(g.T)
        super().__init__(g)
        if not g.weighted:
            self.most_entering = g.largest(np.diff(self.layout.rows.offsets))
        self._share = g.column(0, "float64", self.layout.size)
        self._sums = g.column(0, "int64", len(self.layout.names))

    def column(self, fill: float) -> Any:
        """Return scores that are all equal to `fill`: array of float64, shape (n,)."""
        return self._g.column(fill, "float64", len(self.layout.names))

    def pull(self, scores: Any, bound: float) -> tuple[Any, float]:
        """Return the sums of all vertices as whole numbers, and the unit of these numbers.

        Parameters
        ----------
        scores : array of float64, shape (n,)
            At least 0.
        bound : float
            Upper bound of all sums.
        """
        unit = math.ldexp(1.0, math.frexp(bound)[1] - BITS)
        with self._g.superstep("pull", self.count, self.edges):
            np.divide(scores, unit, out=self._share[: len(scores)])
            self.send(self._share)
            self.add_up(self._share, self._sums)
        return self._sums, unit


def most_leaving(g: GraphView) -> float:
    """Return the largest weighted out-degree over all members; without weights, the largest out-degree.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or the weights are far too large or small to be added up.
    """
    largest = g.largest(g.weighted_degrees)
    if largest and not 1e-200 < largest < 1e200:
        message = f"the weights of a vertex's edges sum to {largest:g}; scale them to about 1"
        raise WeightError(message)
    return largest
