"""Labels: each vertex takes the label that most of its neighbors have.

Each member counts, for its own vertices, the labels of their neighbors. A label that changes is sent to the
mirrors of its vertex, once to each member, however many edges lead there; no other label is sent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.graph import build, numbering
from dask_graphflow.graph.local_rows import Local, localize
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import index_dtype, kernels_of

from .view import GraphView

__all__ = ["Labels"]


class Labels:
    """Labels of vertices, which are vertex numbers. All members do the same steps.

    Parameters
    ----------
    g : GraphView
        In a directed graph, a neighbor counts once for each edge, in either direction.
    """

    def __init__(self, g: GraphView) -> None:
        shard, which = g.shard, "out"
        self._g, self._mirrors, self._into = g, None, None
        if g.alone:
            self._rows = g.local("out").rows
            self._into = g.rows("into") if g.directed else None
            self._edges = len(self._rows.ends) + (0 if self._into is None else len(self._into.ends))
            self._labels = g.numbers.astype(g.index)
        else:
            local = shard.local("out", g.threads)
            if g.directed:
                which = "around"
                local = shard.here("local around", _around(shard.host, g))
            self._rows, self._edges = local.rows, len(local.rows.ends)
            self._mirrors = numbering.mirrors(shard, g.exchange, which, g.threads)
            mirrors = shard.slot_numbers(which, g.threads)
            self._labels = np.concatenate([g.numbers, mirrors]).astype(g.index)
        self._found = np.empty_like(self._labels, shape=g.owned)
        self._most_frequent = kernels_of("labels", self._labels).most_frequent

    @property
    def own(self) -> Any:
        """Labels of owned vertices: array of index, shape (V_p,)."""
        return self._labels[: self._g.owned]

    def take(self, *, last: bool = False) -> int:
        """Have each vertex take its neighbors' most frequent label; return how many labels changed.

        Of several labels that are as frequent, the smallest one is taken.

        Parameters
        ----------
        last : bool
            Whether mirrors need no labels any more.
        """
        g = self._g
        with g.superstep("pull", g.shard.count, 0) as row:
            rows, found = (self._rows, self._into), self._found
            changed = self._most_frequent(*rows, self._labels, found, threads=g.threads)
            if self._mirrors is None:
                self._labels, self._found = found, self._labels
                sums: tuple[int, ...] = changed, self._edges
            else:
                where = np.flatnonzero(found != self.own)
                self._labels[where] = found[where]
                sums = len(where), self._edges
                if last:
                    sums = g.all_reduce(sums).sums
                else:
                    self._mirrors.broadcast(self._labels, where, sums)
                    sums = self._mirrors.receive(self._told).sums
            if row:
                row["edges"] = sums[1]
        return sums[0]

    def _told(self, at: Any, values: Any) -> None:
        self._labels[at] = values


def _around(shard: Shard, g: GraphView) -> Local:
    """Return rows of what leaves a vertex and what enters it: a neighbor counts once for each edge.

    They are kept where :func:`.numbering.mirrors` looks for the shard's rows of the name "around".
    """
    incoming = build.into(shard, g.exchange)

    def make() -> Local:
        kernels = kernels_of("rows", shard.out.ends)
        dtype = index_dtype(shard.size)
        sides = shard.out, incoming
        both = kernels.rows(
            [kernels.owners(rows, dtype, threads=g.threads) for rows in sides],
            [rows.ends for rows in sides],
            first=shard.low,
            count=shard.owned,
            columns=shard.size,
            threads=g.threads,
        )
        return localize(both, shard.bounds, shard.rank, threads=g.threads)

    found: Local = shard.kept("local around", make)
    return found
