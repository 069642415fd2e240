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
DENSE = 0.15  # part of the edges from which on a full iteration is faster than a step
FEWEST = 1 / 64  # a step takes as long as a full iteration over at least this part of the edges
PLAIN = EdgeOp("pass_changes", target="gain", signal="int64(passed[src])", slot="add")
WEIGHTED = EdgeOp("pass_weighted", target="gain", signal="int64(passed[src] * weight)", slot="add")


def track_changes(
    g: GraphView, pull: Pull, share: Any, alpha: float, limit: float
) -> RankChanges | None:
    """Return the changes of ranks; None if all iterations are full: on devices, and for narrow floats.

    See :class:`RankChanges` for the parameters.
    """
    if g.member.shard.on_device or share.dtype != "float64" or limit <= 0:
        return None
    return RankChanges(g, pull, share, alpha, limit)


class RankChanges:
    """Ranks, and the changes that the vertices have not passed on. All members create theirs at once.

    Parameters
    ----------
    g : GraphView
    pull : Pull
        It is changed only by its own iterations, and by :meth:`settle`.
    share : array of float64, shape (n,)
        The result of :meth:`.Pull.shares`.
    alpha : float
        The probability of following an edge.
    limit : float
        The sum of the magnitudes of the changes that has to be reached.

    Attributes
    ----------
    left : float
        The sum of the magnitudes of the changes that were not passed on, over all members.
    iterations : int
        About how many full iterations would have taken as long as the steps of the last call.
    """

    def __init__(self, g: GraphView, pull: Pull, share: Any, alpha: float, limit: float) -> None:
        self._g, self._pull, self._share, self._limit = g, pull, share, limit
        self._rank, self._factor = pull.ranks(), alpha * pull.by_vertex(share)
        self._passed, self._gain = g.column(0, "float64"), g.column(0, "int64")
        columns = {"passed": self._passed, "gain": self._gain}
        self._advance = Advance(g, WEIGHTED if g.weighted else PLAIN, columns)
        self.left, self.iterations = np.inf, 0

    def settle(self, most: int) -> bool:
        """Pass large changes of the last iteration on, while that is faster than another one.

        It takes at most the time of `most` iterations. Return whether ranks have changed. All members call
        it.
        """
        before, self._rank = self._rank, self._pull.ranks()
        work = self._pass_on(self._rank - before, most * self._pull.edges)
        self.iterations = min(most, int(work / max(self._pull.edges, 1)))
        if not work:
            return False
        dangling = self._g.total(self._rank * (self._factor == 0), 1.0)
        self._pull.begin(self._pull.take(self._rank), self._share, dangling)
        return True

    def _pass_on(self, change: Any, most: float) -> float:
        """Take steps that read up to about `most` edges; return how many they read."""
        g, rank, count, edges = self._g, self._rank, self._pull.count, self._pull.edges
        own, of_sinks, work = _whole(np.abs(change)), 0, 0.0
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
            moved, factor = change[large], self._factor[large]
            own -= _whole(np.abs(moved))
            of_sinks += _whole(moved[factor == 0])
            self._passed[large], change[large] = moved * factor, 0
            reached = self._advance.push(frontier).vertices
            gain = self._gain[reached] / ONE
            self._gain[reached] = 0
            rank[reached] += gain
            old, new = change[reached], change[reached] + gain
            change[reached] = new
            own += _whole(np.abs(new)) - _whole(np.abs(old))
            large = reached[np.abs(new) > limit]
            work += frontier.leaving + FEWEST * edges


def _whole(values: Any) -> int:
    """Return the sum of values as a whole number, which does not depend on their order."""
    return int((values * MAGNITUDE).astype("int64").sum())
