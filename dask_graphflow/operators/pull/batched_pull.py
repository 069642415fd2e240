"""Ranks of several sources, pulled together: one pass over the edges serves a batch of sources.

The ranks of a batch are adjacent in memory, so one read of an edge and of its neighbor serves all of them.
Sums have the same bits as those of :class:`.Pull`, for any other sources in the batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import kernels_for
from dask_graphflow.kernels import pull as pull_kernels
from dask_graphflow.operators.view import GraphView

from .pull import Pull

WIDTH = 16  # maximum number of sources per batch; a device sums no more columns at once


class BatchedPull:
    """The ranks of a batch of sources. All members create theirs at once.

    Parameters
    ----------
    pull : Pull
    share : array of float64, shape (n,)
        See :meth:`.Pull.shares`.
    index : array of int64, shape (V_p,)
        Index of each source among all sources, and -1 for other vertices.
    batch : range
        The indices of the batch's sources, at most :data:`WIDTH`.

    Attributes
    ----------
    rank : array of float64, shape (n, b)
        Ranks of each source in the order of :meth:`.Pull.take`. At first, all rank is at the source.
    """

    def __init__(self, g: GraphView, pull: Pull, share: Any, index: Any, batch: range) -> None:
        self._g, self._pull, self._share = g, pull, share
        self._kernels = pull_kernels.of(self._share)
        index, width = pull.take(index), len(batch)
        own = np.flatnonzero((index >= batch.start) & (index < batch.stop))
        columns, size = index[own] - batch.start, len(index)
        self.rank = np.zeros_like(self._share, shape=(size, width))
        self.rank[own, columns] = 1
        self._contributions = np.zeros_like(self._share, shape=(pull.layout.size, width))
        self._contributions[own, columns] = self._share[own]
        self._sums = np.zeros_like(self._share, "int64", shape=(size, width))
        at, self._totals = np.full(width, -1), np.zeros((2, width), "int64")
        sinks = (self._share[own] == 0).tolist()
        for row, column, sink in zip(own.tolist(), columns.tolist(), sinks, strict=True):
            at[column] = row
            self._totals[1, column] = sink * int(self._kernels.CHANGE)
        self._at = kernels_for(share).namespace.asarray(at)

    def publish(self) -> tuple[np.ndarray, np.ndarray]:
        """Send the contributions to the members that read them; return two totals over all members.

        They have one entry per source, in host memory: the sum of the changes of its ranks in the last
        update, and the sum of its ranks at vertices without outgoing edges.
        """
        totals = self._totals
        if not self._g.member.alone:
            self._pull.send_batch(self._contributions)
            gathered = self._g.member.exchange.all_gather(totals.ravel())
            totals = np.sum(gathered, axis=0).reshape(totals.shape)
        change, dangling = totals / self._kernels.CHANGE
        return change, dangling

    def update(self, base: np.ndarray, alpha: float) -> None:
        """Set ranks to `alpha` times the sums of contributions, plus `base`; compute new contributions.

        `base` is in host memory, and is added to the rank of each source itself.
        """
        sums, threads = self._sums, self._g.member.threads
        self._pull.add_up_batch(self._contributions, sums)
        self._totals = self._kernels.apply_batch(
            sums,
            self.rank,
            self._share,
            self._contributions,
            self._at,
            base,
            alpha,
            threads=threads,
        )
