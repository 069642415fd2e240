"""Pull: compute ranks from the contributions of neighbors, along all edges, repeatedly.

Contributions are summed along hub-first rows as whole multiples of 2**-62, so a sum has the same bits in
every order. The sum of all contributions must be at most 1.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.graph import stored
from dask_graphflow.kernels import on_device
from dask_graphflow.kernels import pull as pull_kernels
from dask_graphflow.kernels.fixed_point import CHANGES
from dask_graphflow.operators.view import GraphView

from .hub_rows import HubRows

ONE = 2.0**62  # a contribution of 1, as a whole number
# A share divided by it is a normal number, so that small ranks times the share are, too.
NORMAL = 1e15
# Edges that are read in one call, in about a tenth of a second. After it, the algorithm can be canceled.
EDGES = 1 << 25


class Pull(HubRows):
    """One member's rows of incoming edges, and the contributions that it reads along them."""

    def __init__(self, g: GraphView) -> None:
        super().__init__(g, sorts=False)

    def shares(self, precision: str) -> tuple[Any, int]:
        """Return the factor from each rank to its contribution per edge, and the number of sinks.

        Parameters
        ----------
        precision : {"float64", "float32"}

        Returns
        -------
        share : array, shape (n,)
            In the order of :meth:`take`: 2**62 divided by the sum of the weights of the edges that leave
            each vertex, or by their number if the graph has no weights; 0 for sinks.
        sinks : int
            Number of vertices without outgoing edges, or only with edges of weight 0, over all members.

        Raises
        ------
        WeightError
            A weight is negative, infinite or NaN, or `precision` cannot hold a share.
        """
        total = self.take(self._leaving_weights())
        share = np.empty_like(total, precision)
        least, threads = float(np.finfo(precision).tiny) * NORMAL, self._g.member.threads
        counts = pull_kernels.of(total).shares(total, least, share, threads=threads)
        unfit, sinks = self._g.all_reduce(counts).sums
        if unfit:
            wrong = total[np.isnan(share)]
            largest = self._g.all_reduce(most=float(wrong.max()) if len(wrong) else -math.inf).most
            raise WeightError(
                f"the weights of the edges that leave a vertex add up to {largest:g}, and {precision} "
                f"cannot divide by this sum; scale the weights to have sums between {_limits(precision)}"
            )
        return share, sinks

    def _leaving_weights(self) -> Any:
        """Return the total weight, or number, of the edges that leave each owned vertex."""
        host = self._g.member.shard.host
        # Without weights, rows may be gone.
        if not host.has(stored.OUT) or host.out.weights is None:
            return self.leaving
        return self._g.weighted_degrees

    def begin(self, rank: Any, share: Any, dangling: float) -> None:
        """Set the first contributions of the vertices: their rank times their share for each edge.

        Parameters
        ----------
        rank : array of float32 or float64, shape (n,)
            In the order of :meth:`take`. Each :meth:`update` changes it.
        share : array of the ranks' dtype, shape (n,)
            The result of :meth:`shares`.
        dangling : float
            The sum of the ranks of sinks over all members.
        """
        self._kernels = pull_kernels.of(rank)
        wide = self.new_wide(rank.dtype)
        self._ranks = self._kernels.new_ranks(rank, share, wide)
        self._known: float | None = dangling

    def ranks(self) -> Any:
        """Return a copy of the ranks, in the order of positions: array of shape (V_p,)."""
        return self.by_vertex(self._ranks.rank)

    def publish(self, *, change: bool) -> None:
        """Send the contributions to the members that read them.

        Parameters
        ----------
        change : bool
            Whether :meth:`change` will be called. Otherwise the members add up their totals in
            :meth:`update`, while their devices sum contributions.
        """
        self._added = self._g.member.alone or change or not on_device(self._ranks.rank)
        self.send(self._ranks.contribution, changes=self._added)

    def change(self) -> float:
        """Wait for the totals that were published; return the sum of the absolute changes of ranks."""
        return self.own_change() / self.unit

    def own_change(self) -> int:
        """Return the same as a multiple of 1 / `unit`; of this member, until they are published."""
        return int(self.totals.read()[CHANGES.start])

    @property
    def unit(self) -> float:
        """By what changes are multiplied to be whole numbers."""
        return float(self._kernels.CHANGE)

    def update(self, restart: Any, onward: Any, alpha: float, limit: float, most: int) -> int:
        """Compute ranks from the sums of contributions, and new contributions from the ranks.

        A single member on the host repeats this in one call. Return how many iterations there were.

        Parameters
        ----------
        restart : array of float64, shape (1,) or (n,)
            The probability that a restart leads to each vertex.
        onward : array of float64, shape (n,), or None
            The probability that a step from a sink leads to each vertex; by default as for restarts.
        alpha : float
            The probability of following an edge.
        limit : float
            Do not repeat it if ranks have changed by less than this, added up over all vertices.
        most : int
            Maximum number of iterations.
        """
        given: Any = self.rows, self._ranks, restart, onward, alpha, self._dangling, self.totals
        threads, done = self._g.member.threads, 1
        if self._g.member.alone and not on_device(self._ranks.rank):
            most = min(most, 1 + EDGES // (self.edges + 1))
            self._ranks, done = pull_kernels.iterate_until(
                *given, most=most, limit=limit, threads=threads
            )
        else:
            self._ranks = self._kernels.iterate(
                *given, publication=self._publication, threads=threads
            )
        if self.layout.pulled is not None:
            self.layout.pulled[0] += done
        self._known = None  # from now on, that of the previous iteration
        return done

    def _dangling(self) -> float | None:
        """Return the sum of the ranks of sinks over all members, or None if the totals have it."""
        if self._known is not None or self._added:
            return self._known
        own = self.totals.read_before()[CHANGES]
        return self._g.all_reduce(own.tolist()).sums[1] / float(self._kernels.CHANGE)

    def end(self) -> Any:
        """Return the ranks in the order of positions, as float64: array of shape (V_p,).

        The other columns are freed first. :meth:`begin` makes them again.
        """
        rank = self._ranks.rank
        del self._ranks
        return self.by_vertex(rank.astype("float64", copy=False))


def _limits(precision: str) -> str:
    """Return the sums of weights that :meth:`Pull.shares` can divide by, as text."""
    limits = np.finfo(precision)
    low, high = ONE / float(limits.max), ONE / float(limits.tiny * NORMAL)
    return f"{low:.1g} and {min(high, sys.float_info.max):.1g}"
