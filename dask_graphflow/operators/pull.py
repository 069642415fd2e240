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
from dask_graphflow.kernels import kernels_of

from .hub_rows import HubRows

ONE = 2.0**62  # a contribution of 1, as a whole number
NORMAL = (
    1e15  # a share divided by it is a normal number, so that small ranks times the share are, too
)


class Pull(HubRows):
    """One member's rows of incoming edges, and the contributions that it reads along them."""

    def shares(self, precision: str) -> tuple[Any, int]:
        """Return the factor from each rank to its contribution per edge, and the number of sinks.

        Parameters
        ----------
        precision : {"float64", "float32"}

        Returns
        -------
        share : array, shape (V_p,)
            2**62 divided by the sum of the weights of the edges that leave each owned vertex, or by their
            number if the graph has no weights; 0 for sinks.
        sinks : int
            Number of vertices without outgoing edges, or only with edges of weight 0, over all members.

        Raises
        ------
        WeightError
            A weight is negative, infinite or NaN, or `precision` cannot hold a share.
        """
        total = self._leaving_weights()
        with np.errstate(all="ignore"):
            share = np.where(total > 0, ONE / total, 0).astype(precision)
            fits = (share >= np.finfo(precision).tiny * NORMAL) & np.isfinite(share)
        wrong = total[~(fits | (total == 0))][:1]
        sinks = int(np.count_nonzero((share == 0) & self.layout.has))
        unfit, sinks = self._g.all_reduce((len(wrong), sinks)).sums
        if unfit:
            largest = self._g.all_reduce(most=float(wrong[0]) if len(wrong) else -math.inf).most
            raise WeightError(
                f"the weights of the edges that leave a vertex add up to {largest:g}, and {precision} "
                f"cannot divide by this sum; scale the weights to have sums between {_limits(precision)}"
            )
        return share, sinks

    def _leaving_weights(self) -> Any:
        """Return the total weight, or number, of the edges that leave each owned vertex."""
        host = self._g.shard.host
        if not host.has("out") or host.out.weights is None:  # without weights, rows may be gone
            return self.layout.leaving.astype("float64")
        return self._g.weighted_degrees

    def begin(self, rank: Any, share: Any) -> None:
        """Set the first contributions of the vertices: their rank times their share for each edge.

        Parameters
        ----------
        rank, share : array of float32 or float64, shape (n,)
            In the order of :meth:`take`. `share` is 2**62 divided by the total that leaves a vertex, and 0
            for sinks.
        """
        self._share = share
        self._kernels = kernels_of("pull", rank)
        self._contributions = np.zeros_like(rank, shape=self.layout.size)
        self._own = self._contributions[: len(rank)]
        self._sums = np.zeros_like(rank, np.int64)
        self._totals: tuple[int, int] = 0, 0  # as whole multiples of 1 / CHANGE
        np.multiply(rank, share, out=self._own)

    def publish(self) -> tuple[float, float]:
        """Send the contributions to the members that read them; return two totals over all members.

        Returns
        -------
        change, dangling : float
            The sum of the absolute changes of the ranks in the last :meth:`update`, and the sum of the
            ranks of sinks.
        """
        change, dangling = self.send(self._contributions, self._totals)
        return change / self._kernels.CHANGE, dangling / self._kernels.CHANGE

    def update(self, rank: Any, base: Any, alpha: float) -> None:
        """Set ranks to ``base + alpha`` times the sums of contributions; compute new contributions."""
        self.add_up(self._contributions, self._sums)
        self._totals = self._kernels.apply_sums(
            self._sums, rank, self._share, self._own, base, alpha, threads=self._g.threads
        )


def _limits(precision: str) -> str:
    """Return the sums of weights that :meth:`Pull.shares` can divide by, as text."""
    limits = np.finfo(precision)
    low, high = ONE / float(limits.max), ONE / float(limits.tiny * NORMAL)
    return f"{low:.1g} and {min(high, sys.float_info.max):.1g}"
