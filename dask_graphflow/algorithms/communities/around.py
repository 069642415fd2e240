"""Around changes: which vertices move, and which communities fall into parts, after an update of a graph.

At first, only the ends of changed edges and new vertices are awake. A sweep wakes the neighbors of vertices
that moved, so activity spreads as far as it has to: the dynamic frontier approach [1]_ [2]_. A community is
*touched* if a vertex joined or left it, or if an edge inside it was deleted or changed. Leiden only divides
touched communities into parts. Other communities are one vertex each in the coarser graph, so they keep
their members, unless they are joined to others as a whole.

.. [1] S. Sahu, "DF Louvain: Fast Incrementally Expanding Approach for Community Detection on Dynamic
   Graphs", arXiv:2404.19634, 2024.
.. [2] S. Sahu, "A Starting Point for Dynamic Community Detection with Leiden Algorithm", arXiv:2405.11658,
   2024.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dask_graphflow.graph.change import Change
from dask_graphflow.operators.access import fetch, gather, move_to
from dask_graphflow.operators.view import GraphView

from .level import Level


class Around(NamedTuple):
    """Where the communities of a level can change."""

    g: GraphView
    awake: Any  # array of int32, shape (V_p,). 1 for vertices that move at first, and 0 for others.
    touched: Any  # array of bool, shape (V,). Which labels are those of touched communities.

    @classmethod
    def of(cls, level: Level, labels: Any, new: Any, change: Change) -> Around:
        """Return what an update changed. All members call it.

        The labels are those of the communities before, and `new` says which vertices had none.
        """
        g, awake = level.g, new.astype("int32")
        sides = [move_to(labels, side) for side in (change.sources, change.targets)]
        for ends in sides:
            ends = ends - g.member.shard.low
            awake[ends[(ends >= 0) & (ends < g.owned)]] = 1
        awake[level.mass == 0] = 0
        start, stop = (fetch(g, labels, ends) for ends in sides)
        around = cls(g, awake, g.column(False, "bool", g.member.shard.count))
        around.touched[start[(start == stop) & move_to(labels, change.before)]] = True
        return around

    def touch(self, before: Any, after: Any) -> None:
        """Note the communities from which and to which vertices moved. All members call it."""
        moved = before != after
        for labels in before[moved], after[moved]:
            self.touched[gather(self.g, labels)] = True

    def coarser(self, level: Level, labels: Any, above: Any) -> Around:
        """Return what can change in the next coarser level. All members call it.

        The labels are those of its vertices; `above` are their labels in the finer level.
        """
        g, awake = level.g, move_to(above, self.touched)[above]
        around = Around(g, awake.astype("int32"), g.column(False, "bool", g.member.shard.count))
        around.touched[gather(g, labels[awake])] = True
        return around
