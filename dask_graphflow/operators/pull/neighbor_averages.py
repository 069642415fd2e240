"""Averages of the values of neighbors, for several columns together: one pass over the edges serves all.

Values are whole numbers, stored as float64, and so are the parts of a sum along the edges. So averages have
the same bits for every partitioning, number of threads and number of columns.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dask_graphflow.graph.blocks import per_edge
from dask_graphflow.kernels import move_to
from dask_graphflow.operators.access import sources_of
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import sum_leaving

from .hub_rows import HubRows

BITS = 61  # bits of the largest sum as a whole number


class NeighborAverages(HubRows):
    """The averages that each vertex pulls along the edges that leave it, weighted by their weights.

    Values have one row per existing vertex, in the order of :meth:`.HubRows.take`, and one column for each
    of up to 16 averages, which is as many as a device sums at once.

    Attributes
    ----------
    degrees : array of float64, shape (n,)
        Number of edges that leave each vertex.
    largest : float
        The largest magnitude of a value, as a whole number: a power of 2.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or the weights are far too large or small to be added up.
    """

    def __init__(self, g: GraphView) -> None:
        totals = sum_leaving(g)[0] if g.weighted else None
        super().__init__(g.T, sorts=False)
        self.degrees = np.diff(self.layout.rows.offsets).astype("float64")
        if totals is None:
            bits, divisors = BITS - math.frexp(g.largest(self.degrees))[1], self.degrees
        else:
            # Each vertex divides its weights by a power of 2, so that they sum to at most 1. So small sums
            # are as exact as large ones.
            bits, (divisors, powers) = BITS - 1, np.frexp(self.take(totals))
            weights = per_edge(
                self.rows,
                lambda block: np.ldexp(
                    block.weights.astype("float64"), -powers[sources_of(g, block, "int64")]
                ),
            )
            self.rows = self.rows._replace(weights=weights)
        self.largest = math.ldexp(1.0, bits)
        self._divisors = np.where(divisors == 0, 1.0, divisors)[:, None]

    def powers_of_degrees(self, exponent: float) -> Any:
        """Return a power of each degree, divided by the largest one, as values; 1 counts for a degree of 0.

        All members call it.
        """
        # On the host, because a device rounds powers in another way. Single precision hides differences in
        # the last bit, which the C libraries of two machines can have.
        powers = np.maximum(move_to(np.empty(0), self.degrees), 1.0) ** exponent
        powers = (powers / (self._g.largest(powers) or 1.0)).astype("float32").astype("float64")
        return move_to(self.degrees, np.rint(powers * self.largest))

    def average(self, values: Any) -> Any:
        """Return the average of the values of each vertex's neighbors, rounded to a whole number.

        All members call it. Values are at most those of :meth:`powers_of_degrees`. A vertex that no edge
        leaves gets 0.
        """
        count = len(self.degrees)
        wide = np.empty_like(values, shape=(self.layout.size, values.shape[1]))
        wide[:count] = values
        self.send_batch(wide)
        sums = np.zeros_like(values, "int64")
        self.add_up_batch(wide, sums)
        averages = sums / self._divisors
        return np.rint(averages, out=averages)
