"""Blocks: the tree edges of each biconnected component of an undirected graph.

A spanning forest, and an edge outside of it, form a cycle. All tree edges of the cycle belong to the same
biconnected component, and are joined in a :class:`.Forest`. The trees of that forest are the blocks [1]_.
Each member joins the tree edges of the cycles that its own edges close. Then all members send each other
the tree edges that they joined, and join them in the same way. Another spanning forest gives other tree
edges, but the same biconnected components.

The tree edges of a block are a part of a tree. The top of the block is the vertex of this part that is
nearest to the root. Each of its other vertices is the lower end of one of the block's edges.

.. [1] J. Westbrook, R. E. Tarjan, "Maintaining Bridge-Connected and Biconnected Components On-Line",
   Algorithmica 7, 1992.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.graph.hubs import inverse
from dask_graphflow.kernels import biconnected as biconnected_kernels
from dask_graphflow.kernels import count_true
from dask_graphflow.operators.access import entries_of, gather, places_of
from dask_graphflow.operators.forests.forest import Forest
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import own_sums


class Blocks:
    """The blocks of a graph. All members create theirs at once.

    Tree edges, and the vertices below them, have labels: their index in the order of the levels.

    Parameters
    ----------
    g : GraphView
        Undirected.
    level : array of int32, shape (V_p,)
        Level of each owned vertex in a breadth-first forest that spans all components: 0 for roots, and
        negative for positions that are not vertices.
    parent : array of index, shape (V_p,)
        Number of the parent of each vertex that is not a root.
    """

    def __init__(self, g: GraphView, level: Any, parent: Any) -> None:
        self._g, self._level = g, level
        self._parent = places_of(g, np.where(level > 0, parent, g.numbers))
        levels = gather(g, level)
        # These include positions that are not vertices; they come first.
        self._roots = count_true(levels <= 0)
        by_label = np.argsort(levels, kind="stable")
        label = inverse(by_label).astype(g.index)
        self._label = label[g.member.shard.low : g.member.shard.low + g.owned]
        self._above = label[gather(g, self._parent)[by_label]]
        self._block = self._join_cycles(label)

    def tops(self) -> Any:
        """Return how many blocks each owned vertex is the top of: array of int64, shape (V_p,)."""
        edges = self._edges()
        first = edges[self._block[edges] == edges]  # the smallest edge of a block is below its top
        return own_sums(self._above[first], None, len(self._block))[self._label]

    def bridges(self) -> tuple[Any, Any]:
        """Return the bridges that end at owned vertices: their positions, and the numbers of their parents.

        A bridge is the only edge of its block. There is no second edge between the same vertices.
        """
        g = self._g
        sizes = own_sums(self._block[self._edges()], None, len(self._block))
        at = np.flatnonzero((self._level > 0) & (sizes[self._block[self._label]] == 1))
        rows = g.member.rows("out")
        _, row, entries = entries_of(rows, at, g.member.threads)
        at_parent = rows.ends[entries] == self._parent[at][row]
        at = at[own_sums(row[at_parent], None, len(at)) == 1]
        return at, g.member.shard.numbers_at(self._parent[at], g.member.threads)

    def _edges(self) -> Any:
        """Return the labels of all tree edges."""
        return np.arange(self._roots, len(self._block), like=self._block)

    def _join_cycles(self, label: Any) -> Any:
        """Return the smallest label of the block of each tree edge."""
        g, rows = self._g, self._g.member.rows("out")
        forest = Forest(label, size=len(label))
        with g.superstep("pull", g.count, g.edges):
            join_cycles = biconnected_kernels.of(label).join_cycles
            join_cycles(rows, label, self._above, forest.parent, threads=g.member.threads)
            forest.flat = False
            forest.compress(threads=g.member.threads)
            if g.member.exchange.size > 1:
                joined = np.flatnonzero(forest.parent != np.arange(len(label), like=label))
                to = gather(g, forest.parent[joined])
                forest.hook(gather(g, joined), to, threads=g.member.threads)
                forest.compress(threads=g.member.threads)
        return forest.parent
