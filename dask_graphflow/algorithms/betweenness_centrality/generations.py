"""Generations: an order of the vertices in which every edge of a shortest path leads ahead.

The edges of shortest paths are tight; see :mod:`.tight_edges`. Weights are positive, so these edges form no
cycle. The source is generation 0. Vertices that only tight edges from earlier generations enter are the
next generation, and so on [1]_. If all weights are equal, generations are the levels of a breadth-first
search.

.. [1] A. B. Kahn, "Topological Sorting of Large Networks", Communications of the ACM 5, 1962.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.frontier import Frontier
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.after import After
from dask_graphflow.programs.edge_op import EdgeOp

from .tight_edges import lost_weight, only_tight

NEVER = 2**40  # a vertex with this number of vertices to wait for is never ready
# An edge whose weight is lost when it is added to a distance leads to no later generation.
COUNT = EdgeOp(
    "count_tight",
    target="waits",
    signal=f"1 if distance[src] < distance[dst] else {NEVER}",
    slot="add",
)
RELEASE = EdgeOp("release", target="waits", signal="-1", slot="add")
# A vertex that waits for no other vertex is in the generation with the number of the superstep.
READY = After("waits[dst] == 0", kept={"waits": "-1", "level": "int32(step)"})


class Generations:
    """The generations of the vertices that one source after another reaches, along positive weights.

    All members create theirs at once. `level` is set to the generation of each vertex. The distance is NaN
    for vertices that were not reached, so that no edge to them is tight. It can change between two calls of
    :meth:`begin`.
    """

    def __init__(self, g: GraphView, distance: Any, level: Any) -> None:
        self._g, self._distance, self._level = g, distance, level
        self._waits = waits = g.column(0, "int64")
        columns = {"waits": waits, "distance": distance}
        self._count = Advance(g, only_tight(COUNT, 0), columns)
        columns["level"] = level
        self._release = Advance(g, only_tight(RELEASE, 0), columns, after=READY)

    def begin(self, source: Any) -> None:
        """Set the generation of the source, and count the vertices for which each vertex waits."""
        reached = self._distance == self._distance
        self._left = self._g.count_true(reached)
        self._waits[:] = 0
        self._waits[~reached] = -1
        self._count.push(self._g.frontier(np.flatnonzero(reached)))
        self._level[:] = -1
        self._level[source], self._waits[source] = 0, -1
        self._release.supersteps = 0

    def following(self, frontier: Frontier) -> Frontier:
        """Return the next generation, after the generation `frontier`.

        Raises
        ------
        WeightError
            Some vertices that were reached belong to no generation. All members raise it.
        """
        self._left -= len(frontier)
        following = self._release.push(frontier)
        if not following and self._left:
            raise lost_weight()
        return following
