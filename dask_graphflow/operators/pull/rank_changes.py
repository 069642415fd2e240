"""Changes of ranks that were not yet passed on along the edges, and steps that do it.

A full iteration changes the rank of each vertex. By how much the next one changes ranks follows from these
changes alone: each vertex passes its own on along its edges, times the probability of following an edge. In
a graph of which a few edges changed, most changes are small. Then it is enough that the vertices with large
ones pass them on. Ranks are within alpha / (1 - alpha) times the sum of the magnitudes of the changes that
were not passed on, as after full iterations.

Changes are passed on as whole multiples of 2**-62, and magnitudes are added up as multiples of 2**-60. So
ranks and decisions are the same for every number of members and threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.operators.advance.advance import Advance
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

from .pull import ONE, Pull

MAGNITUDE = 2.0**60  # changes can add up to 2
DENSE = 0.05  # part of the edges from which on a full iteration is faster than a step
FEWEST = 1 / 64  # a step takes as long as a full iteration over at least this part of the edges
PASSED = "change[src] * factor[src]"
PLAIN = EdgeOp("pass_on", target="gain", signal=f"int64({PASSED})", slot="add")
WEIGHTED = EdgeOp("pass_weighted", target="gain", signal=f"int64({PASSED} * weight)", slot="add")


def track_changes(
    g: GraphView, pull: Pull, rank: Any, share: Any, alpha: float, limit: float
) -> RankChanges | None:
    """Return the changes of ranks; None if all iterations are full: on devices, and for narrow floats.

    See :class:`RankChanges` for the parameters.
    """
    if g.member.shard.on_device or share.dtype != "float64" or limit <= 0:
        return None
    return RankChanges(g, pull, rank, share, alpha, limit)


class RankChanges:
    """Ranks, and the changes that the vertices have not passed on. All members create theirs at once.

    Parameters
    ----------
    g : GraphView
    pull : Pull
        It is changed only by its own iterations, and by :meth:`settle`.
    rank : array of float64, shape (n,)
        The ranks from which it begins.
    share : array of float64, shape (n,)
        The result of :meth:`.Pull.shares`.
    alpha : float
        The probability of following an edge.
    limit : float
        The sum of the magnitudes of the changes that has to be reached.

    Attributes
    ----------
    ranks : array of float64, shape (V_p,)
        The ranks after the last call.
    left : float
        The sum of the magnitudes of the changes that were not passed on, over all members.
    iterations : int
        About how many full iterations would have taken as long as the steps of the last call.
    """

    def __init__(
        self, g: GraphView, pull: Pull, rank: Any, share: Any, alpha: float, limit: float
    ) -> None:
        self._g, self._pull, self._share, self._limit = g, pull, share, limit
        self._alpha, self._begun, self._start = alpha, False, rank.copy()
        self.left, self.iterations = np.inf, 0
        # How many iterations are left out before the next try, and before the one after it.
        self._skipped, self._pause = 0, 1

    def _begin(self) -> bool:
        """Make the columns; return False if the first iteration was enough, as it often is."""
        if self._g.all_sum(self._pull.own_change()) < self._limit * self._pull.unit:
            return False
        self.ranks, factor = map(self._pull.by_vertex, (self._start, self._share))
        self._factor, self._begun = self._alpha * factor, True
        self._sinks = self._g.count_true(self._share == 0) > 0
        self._change, self._gain = np.empty_like(self.ranks), self._g.column(0, "int64")
        columns = {"change": self._change, "factor": self._factor, "gain": self._gain}
        self._advance = Advance(self._g, WEIGHTED if self._g.weighted else PLAIN, columns)
        del self._start
        return True

    def settle(self, most: int) -> bool:
        """Pass large changes of the last iteration on, while that is faster than another one.

        After a try in vain, it is tried again after twice as many iterations as before. A try takes at most
        the time of `most` iterations. Return whether ranks have changed. All members call it.
        """
        if not (self._begun or self._begin()):
            return False
        self._skipped -= 1
        if self._skipped >= 0:
            if self._skipped == 0:
                self.ranks = self._pull.ranks()
            return False
        before, self.ranks = self.ranks, self._pull.ranks()
        np.subtract(self.ranks, before, out=self._change)
        work = self._pass_on(most * self._pull.edges)
        self.iterations = min(most, int(work / max(self._pull.edges, 1)))
        if work and self.left >= self._limit:
            at_sinks = self._g.total(self.ranks * (self._factor == 0), 1.0) if self._sinks else 0.0
            self._pull.begin(self._pull.take(self.ranks), self._share, at_sinks)
        self._pause = 1 if work else 2 * self._pause
        self._skipped = self._pause - 1
        return work > 0

    def _pass_on(self, most: float) -> float:
        """Take steps that read up to about `most` edges; return how many they read."""
        g, ranks, change = self._g, self.ranks, self._change
        count, edges = self._pull.count, self._pull.edges
        own, of_sinks, work = _whole(change), 0, 0.0
        least, limit, large = self._limit / (2 * count), np.inf, None
        while True:
            whole, waiting = g.all_reduce(sums=(own, of_sinks)).sums
            self.left = (whole + abs(waiting)) / MAGNITUDE
            # A full iteration passes on what waits at sinks.
            if self.left < self._limit or work >= most or abs(waiting) > whole:
                return work
            if large is None:
                limit = max(whole / MAGNITUDE / (4 * count), least)
                large = np.flatnonzero(np.abs(change) > limit)
            frontier = g.frontier(large)
            if frontier.leaving > DENSE * edges or (not frontier and limit == least):
                return work
            if not frontier:
                large = None
                continue
            reached = self._advance.push(frontier).vertices
            moved = change[large]
            own -= _whole(moved)
            if self._sinks:
                moved = moved[self._factor[large] == 0] * MAGNITUDE
                of_sinks += int(moved.astype("int64").sum())
            change[large] = 0
            gain = self._gain[reached] / ONE
            self._gain[reached] = 0
            # A rank that falls to 0 could be rounded to a negative number.
            ranks[reached] = np.maximum(ranks[reached] + gain, 0.0)
            old, new = change[reached], change[reached] + gain
            change[reached] = new
            own += _whole(new) - _whole(old)
            large = reached[np.abs(new) > limit]
            work += frontier.leaving + FEWEST * edges


def _whole(changes: Any) -> int:
    """Return the sum of magnitudes as a whole number, which does not depend on their order."""
    return int(np.abs(changes * MAGNITUDE).astype("int64").sum())
