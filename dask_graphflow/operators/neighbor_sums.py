"""Sums of scores along the edges, in fixed point.

Each vertex pulls the scores of the vertices that have an edge to it, times the weights. Scores are rounded
to whole multiples of a unit on which all members agree, so a sum has the same bits in every order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.kernels.edge_op import EdgeOp

from .advance import Advance
from .view import GraphView

__all__ = ["NeighborSums", "most_leaving"]

SUM = EdgeOp("sum", target="sums", signal="int(share[src])", slot="add")
WEIGHTED_SUM = EdgeOp("weighted_sum", target="sums", signal="int(share[src] * weight)", slot="add")
BITS = 61  # of the largest sum as a whole number


class NeighborSums:
    """The sums that each vertex pulls along the edges that enter it.

    Parameters
    ----------
    g : GraphView
        For ``g.T``, along the edges that leave it. All members make theirs at once.

    Attributes
    ----------
    most_leaving : float
        Largest sum of the weights of the edges that leave a vertex, or their largest number.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or the weights are far too large or small to be added up.
    """

    def __init__(self, g: GraphView) -> None:
        self._g, self._everyone = g, g.everyone()
        self.most_leaving = most_leaving(g)
        self._share, self._sums = g.column(0, "float64"), g.column(0, "int64")
        op = WEIGHTED_SUM if g.weighted else SUM
        self._step = Advance(g, op, {"share": self._share, "sums": self._sums})

    @property
    def most_entering(self) -> float:
        """Largest sum of the weights of the edges that enter a vertex, or their largest number."""
        return most_leaving(self._g.T)

    def pull(self, scores: Any, bound: float) -> tuple[Any, float]:
        """Return the sums of all vertices as whole numbers, and the unit that 1 of them stands for.

        Parameters
        ----------
        scores : array of float64, shape (V_p,)
            At least 0.
        bound : float
            No sum is larger.
        """
        unit = math.ldexp(1.0, math.frexp(bound)[1] - BITS)
        np.divide(scores, unit, out=self._share)
        self._sums[:] = 0
        self._step.pull(self._everyone)
        return self._sums, unit


def most_leaving(g: GraphView) -> float:
    """Return the largest sum of the weights of the edges that leave a vertex, or their largest number.

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
