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

from dask_graphflow.kernels import scores as scores_kernels
from dask_graphflow.kernels.fixed_point import CHANGES, MOST, SQUARES, SUM, norm, units
from dask_graphflow.operators.advance.float_sums import FloatSums
from dask_graphflow.operators.frontier import Frontier
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import sum_leaving
from dask_graphflow.programs.edge_op import EdgeOp

from .hub_rows import HubRows

BITS = 61  # bits of the largest sum as a whole number
PLAIN_SUM = EdgeOp("score_sum", target="sum", signal="score[src]", slot="add")
WEIGHTED_SUM = EdgeOp("weighted_score_sum", target="sum", signal="score[src] * weight", slot="add")


class NeighborSums(HubRows):
    """Scores, and the sums of them that each vertex pulls along the edges that enter it.

    Scores and sums have one entry per existing vertex, in the order of :meth:`.HubRows.take`. The order for
    ``g.T`` is the same. In each iteration, members :meth:`publish` scores, :meth:`pull` sums, and compute
    new scores from these, by :meth:`combine` or :meth:`normalize`.

    Parameters
    ----------
    g : GraphView
        For ``g.T``, along the edges that leave the vertices. All members create theirs at once.
    precision : {"float64", "float32"}, optional
        Precision of the scores that are read along the edges. Sums and scores are float64.

    Attributes
    ----------
    entering : array of float64, shape (V_p,), or None
        Sum of the weights of the edges that enter each owned vertex; None without weights.
    most_entering : float
        Largest sum of the weights of the edges that enter a vertex; without weights, their largest number.
    scores : array of float64, shape (n,)
    most, norm : float
        The largest score of all members, and what :meth:`combine` divided the scores by, if they are not
        fixed. They are known after :meth:`change`.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or the weights are far too large or small to be added up.
    """

    def __init__(self, g: GraphView, precision: str = "float64") -> None:
        self.entering = None
        self._own_units: tuple[FloatSums, dict[str, Any]] | None = None
        if g.weighted:
            # First, because the hub-first rows can be made from the rows that this makes.
            self.entering, self.most_entering = sum_leaving(g.T)
        super().__init__(g)
        if not g.weighted:
            self.most_entering = g.largest(np.diff(self.layout.rows.offsets))
        count = len(self.layout.names)
        self._wide = self.new_wide(precision)
        self._sums, self.scores = g.column(0, "int64", count), g.column(0, "float64", count)
        self._new: Any = None
        self._squares = 0.0, 0.0  # the units of the sum of squares
        self._bound: float | None = None

    @property
    def unit(self) -> float:
        """The unit of sums: a power of 2 that is large enough for the sums of all scores."""
        bound = self.most * self.most_entering if self._bound is None else self._bound
        return math.ldexp(1.0, math.frexp(bound)[1] - BITS)

    def begin(self, score: float, bound: float | None = None) -> None:
        """Set all scores to a number.

        `bound` is the upper bound of all sums, in every iteration, of scores that are at most 1. By
        default, it follows from the largest score.
        """
        self._bound, self.norm, self.most = bound, 1.0, score if bound is None else 1.0
        self.scores[:] = score
        self._wide[: len(self.scores)] = score / self.unit

    def publish(self) -> None:
        """Send the scores to the members that read them, and add up the changes of all members."""
        self.send(self._wide)

    def change(self) -> float:
        """Wait for the totals that were published; return the sum of the absolute changes of scores."""
        totals = self.totals.read()
        changed, rest = totals[CHANGES].tolist()
        if any(self._squares):
            high, middle, low = totals[SQUARES].tolist()
            self.norm = norm(high, middle, low, *self._squares)
        before, most = self.most, float(totals[MOST:].view("float64")[0]) / self.norm
        if self._bound is None:
            self.most = most
        coarse, fine = units(max(before, most), self.count)
        return float(changed * coarse + rest * fine)

    def pull(self, coarsest: float = math.inf) -> tuple[Any, float]:
        """Return the sums of all vertices as multiples of a unit, int64, and the unit.

        If the scores need a unit larger than `coarsest`, each sum is rounded to a unit of its own. Then the
        sums are float64, and the unit is 1.
        """
        if self.unit > coarsest:
            return self._pull_in_own_units(), 1.0
        self.add_up(self._wide, self._sums)
        return self._sums, self.unit

    def combine(
        self, sums: Any, factor: float, plus: float | None = None, squares: float = 0
    ) -> None:
        """Set scores to sums times a factor, plus a number or the old scores, and divide by their norm.

        The sums are the result of :meth:`pull`. By default the old score of each vertex is added; `plus` is
        not 0. `squares` is the upper bound of the sum of the squares of the scores. By default, scores are
        not divided.
        """
        g, kernels = self._g, scores_kernels.of(sums)
        if self._new is None:
            self._new = np.empty_like(self.scores)
        self._squares = (
            units(squares / self.count, self.count) if squares and self.count else (0.0, 0.0)
        )
        kernels.combine(
            sums,
            self.scores,
            plus or 0.0,
            factor,
            self._new,
            self._squares,
            self.totals,
            threads=g.member.threads,
        )
        self._reduce(SQUARES)
        self._scale(self._new, self, self.most_entering, 0.0)

    def normalize(self, into: NeighborSums) -> None:
        """Set the scores of other sums to these sums, divided by their total over all members."""
        self._reduce(slice(SUM, SUM + 1))
        self._scale(self._sums, into, 0.0, into.unit)

    def _reduce(self, which: slice) -> None:
        """Reduce the largest score and some of the totals over all members."""
        if self._g.member.alone:
            return
        totals = self.totals.read()
        largest = totals[MOST:].view("float64")
        totals[which], largest[0] = self._g.all_reduce(totals[which].tolist(), float(largest[0]))
        self.totals.write(totals)

    def _scale(self, source: Any, into: NeighborSums, entering: float, unit: float) -> None:
        scores_kernels.of(source).scale(
            source,
            into.scores,
            into._wide,
            self._squares,
            entering,
            unit,
            into.most,
            self.count,
            self.totals,
            threads=self._g.member.threads,
        )

    def _pull_in_own_units(self) -> Any:
        g = self._g
        if self._own_units is None:
            columns = {"score": g.column(0, "float64"), "sum": g.column(0, "float64")}
            op = WEIGHTED_SUM if g.weighted else PLAIN_SUM
            self._own_units = FloatSums(g.quiet, op, columns), columns
        steps, columns = self._own_units
        columns["score"][self.layout.names] = self.scores
        columns["sum"][:] = 0
        self.totals.clear()
        steps.pull(Frontier(None, self.count, self.edges))
        return self.take(columns["sum"])
