"""Labels: each vertex takes the label that most of its neighbors have.

Each member adds up the weights of its vertices' neighbors by label. A label that changes is sent to the
mirrors of its vertex, once per member, however many edges lead there. No other label is sent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.graph import build, numbering
from dask_graphflow.graph.local_rows import Local, localize
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import index_dtype, kernels_of

from .view import GraphView
from .whole_weights import whole_weights_by_vertex
from .wide_column import update_mirrors

__all__ = ["Labels", "NeighborLabels"]


class Labels:
    """Labels of vertices, which are vertex numbers. All members create theirs.

    Parameters
    ----------
    g : GraphView
    sides : list of 1 or 2 Rows
        Rows of owned vertices by positions. With two, the neighbors are the ends of both rows of a vertex.
        Weights are int64, or None for 1 each.
    labels : array of index, shape (V_p,), optional
        By default each vertex has its own number.
    which : {"out", "around"}
        Name of the rows whose mirrors have labels.

    Attributes
    ----------
    labels : array of index, shape (V_p + mirrors,)
    """

    def __init__(
        self, g: GraphView, sides: list[Any], labels: Any = None, which: str = "out"
    ) -> None:
        self._g, self._sides, self._mirrors = g, sides, None
        self._known: dict[int, Any] = {}
        numbers = [g.numbers]
        if not g.alone:
            self._mirrors = numbering.mirrors(g.shard, g.exchange, which, g.threads)
            numbers.append(g.shard.slot_numbers(which, g.threads))
        self.labels = np.concatenate(numbers).astype(g.index, copy=False)
        if labels is not None:
            self.own[:] = labels
            if self._mirrors is not None:
                update_mirrors(self._mirrors, self.labels)

    @property
    def own(self) -> Any:
        """Labels of owned vertices: array of index, shape (V_p,)."""
        return self.labels[: self._g.owned]

    def _best(self, *which: Any) -> Any:
        kernels = kernels_of("groups", self.labels)
        return kernels.best_groups(
            self._sides, self.labels, *which, known=self._known, threads=self._g.threads
        )


class NeighborLabels(Labels):
    """Labels that vertices take from their neighbors. All members run the same steps.

    Parameters
    ----------
    g : GraphView
        In a directed graph, a neighbor counts once for each edge, in either direction. The weights of the
        edges are rounded; see :func:`.whole_weights_by_vertex`.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or the weights are far too large or small to be added up.
    """

    def __init__(self, g: GraphView) -> None:
        which = "around" if g.directed and not g.alone else "out"
        if which == "out":
            sides = [g.local("out").rows]
            if g.directed:
                sides.append(g.rows("into"))
        else:
            sides = [g.shard.here("local around", _around(g.shard.host, g)).rows]
        super().__init__(g, whole_weights_by_vertex(g, sides), which=which)

    def take(self, *, last: bool = False) -> int:
        """Have each vertex take the label with the largest total weight; return how many labels changed.

        If several labels have the largest weight, the vertex takes the smallest of them.

        Parameters
        ----------
        last : bool
            Whether this is the last step, so that mirrors need no labels.
        """
        g = self._g
        with g.superstep("pull", g.shard.count, 0) as row:
            found, edges = self._best(), sum(len(rows.ends) for rows in self._sides)
            if self._mirrors is None:
                sums: tuple[int, ...] = int(np.count_nonzero(found != self.own)), edges
                self.labels = found
            else:
                where = np.flatnonzero(found != self.own)
                self.labels[where] = found[where]
                sums = len(where), edges
                if last:
                    sums = g.all_reduce(sums).sums
                else:
                    sums = update_mirrors(self._mirrors, self.labels, where, sums).sums
            if row:
                row["edges"] = sums[1]
        return sums[0]


def _around(shard: Shard, g: GraphView) -> Local:
    """Return rows of the edges that leave and enter each vertex: a neighbor counts once for each edge.

    They are cached under the name in which :func:`.numbering.mirrors` looks for rows called "around".
    """
    incoming = build.into(shard, g.exchange)

    def make() -> Local:
        kernels = kernels_of("rows", shard.out.ends)
        dtype = index_dtype(shard.size)
        sides = shard.out, incoming
        both = kernels.rows(
            [kernels.owners(rows, dtype, threads=g.threads) for rows in sides],
            [rows.ends for rows in sides],
            [rows.weights for rows in sides] if g.weighted else None,
            first=shard.low,
            count=shard.owned,
            columns=shard.size,
            threads=g.threads,
        )
        return localize(both, shard.bounds, shard.rank, threads=g.threads)

    found: Local = shard.kept("local around", make)
    return found
