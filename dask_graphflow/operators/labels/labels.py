"""Labels: each vertex has a label, and its neighbors with the same label are a group.

A label that changes is sent to the mirrors of its vertex, once per member, however many edges lead there.
No other label is sent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.graph import build, numbering, stored
from dask_graphflow.graph.local_rows import Local, localize
from dask_graphflow.graph.make_rows import make_rows
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import advance as advance_kernels
from dask_graphflow.kernels import count_true
from dask_graphflow.kernels import groups as groups_kernels
from dask_graphflow.operators.access import sources_of, update_mirrors
from dask_graphflow.operators.frontier import VertexSet
from dask_graphflow.operators.shared_columns import SharedColumns, share_columns
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import whole_weights_by_vertex


class Labels:
    """Labels of vertices, which are vertex numbers. All members create theirs.

    Parameters
    ----------
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
        self._tables: dict[int, Any] = {}
        self._shared: SharedColumns | None = None
        numbers = [g.numbers]
        if not g.member.alone:
            self._mirrors = numbering.mirrors(
                g.member.shard, g.member.exchange, which, g.member.threads
            )
            numbers.append(g.member.shard.slot_numbers(which, g.member.threads))
            local = g.member.shard.local(which, g.member.threads)
            self._shared = share_columns(g, local, self._mirrors, [g.index])
        self.labels = np.concatenate(numbers).astype(g.index, copy=False)
        if self._shared is not None:
            entries = self._shared.wide[0].own[: len(self.labels)]
            entries[:] = self.labels
            self.labels = entries
        if labels is not None:
            self.own[:] = labels
            if self._shared is not None:
                self._shared.mirrors.send(self._shared.wide[0])
            elif self._mirrors is not None:
                update_mirrors(self._mirrors, self.labels)

    @property
    def own(self) -> Any:
        """Labels of owned vertices: array of index, shape (V_p,)."""
        return self.labels[: self._g.owned]

    def best(
        self, vertices: Any = None, masses: Any = None, limits: Any = None, skew: Any = None
    ) -> Any:
        """Return the best label for each of some vertices; see :meth:`.GroupsKernels.best_groups`.

        By default, this is the label with the largest weight for each owned vertex, and the smallest one if
        there is a tie.
        """
        return groups_kernels.of(self.labels).best_groups(
            self._sides, self.labels, vertices, masses, limits, skew,
            tables=self._tables, threads=self._g.member.threads,
        )  # fmt: skip

    def replace(self, labels: Any, *, send: bool = True) -> int:
        """Give all owned vertices new labels; return how many labels changed, over all members.

        All members call it. After the last change, mirrors do not need the new labels, so `send` is false.
        """
        if self._mirrors is None:
            changed, self.labels = labels != self.labels, labels
            return count_true(changed)
        if self._shared is not None and send:
            labels = labels.astype(self._g.index, copy=False)
            words = self._shared.mirrors.update(labels, self._shared.wide[0])
            return self._g.all_sum(advance_kernels.of(words).tally(words)[0])
        vertices = np.flatnonzero(labels != self.own)
        if send:
            return self.change(vertices, labels[vertices])
        self.labels[vertices] = labels[vertices]
        return self._g.all_sum(len(vertices))

    def change(self, vertices: Any, labels: Any) -> int:
        """Give some vertices other labels; return how many vertices changed, over all members.

        All members call it. The positions ascend, and the labels must differ from the present ones.
        """
        self.labels[vertices] = labels
        if self._mirrors is None:
            return len(vertices)
        if self._shared is not None:
            words = VertexSet(self._g.owned, vertices=vertices).words
            self._shared.mirrors.send(self._shared.wide[0], words)
            return self._g.all_sum(len(vertices))
        return update_mirrors(self._mirrors, self.labels, vertices, (len(vertices),)).sums[0]


def labels_of_neighbors(g: GraphView) -> Labels:
    """Return labels of which the neighbors along edges of both directions are groups. All members call it.

    The weights of the edges of each vertex are whole multiples of a unit.

    Raises
    ------
    WeightError
        See :func:`.whole_weights_by_vertex`.
    """
    sides, which = _neighbors(g)
    return Labels(g, whole_weights_by_vertex(g, sides), which=which)


def _neighbors(g: GraphView) -> tuple[list[Any], str]:
    """Return rows of the neighbors of each vertex, and the name of the rows that have their mirrors."""
    if not g.directed:
        return [g.member.local("out").rows], "out"
    if g.member.alone:
        return [g.member.local("out").rows, g.member.rows("into")], "out"
    return [
        g.member.shard.here(stored.local(stored.AROUND), _around(g.member.shard.host, g)).rows
    ], stored.AROUND


def _around(shard: Shard, g: GraphView) -> Local:
    """Return rows of the edges that leave and enter each vertex: a neighbor counts once for each edge.

    They are cached under the name in which :func:`.numbering.mirrors` looks for rows called "around".
    """
    sides = shard.out, build.into(shard, g.member.exchange)

    def make() -> Local:
        both = make_rows(
            [sources_of(g, rows, g.index) for rows in sides],
            [rows.ends for rows in sides],
            [rows.weights for rows in sides] if g.weighted else None,
            first=shard.low,
            count=shard.owned,
            columns=shard.size,
            resources=g.member.exchange.resources,
        )
        return localize(both, shard.bounds, shard.rank, threads=g.member.threads)

    rows: Local = shard.kept(stored.local(stored.AROUND), make)
    return rows
