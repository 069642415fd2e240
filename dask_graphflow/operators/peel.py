"""Peel: repeatedly remove vertices that have few edges left, until there are no such vertices.

A single member removes chains of vertices in one call. With several members, or with edges on disk, a
superstep removes all vertices that the previous superstep left with few edges. So rows on disk are read in
order. Both remove the same vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import count_true, is_on_disk
from dask_graphflow.kernels import peel as peel_kernels
from dask_graphflow.programs.edge_op import EdgeOp

from .advance import Advance
from .frontier import Frontier, VertexSet
from .view import GraphView

REMOVE = EdgeOp("remove", target="count", signal="-1", slot="add")


class Peel:
    """Removes vertices. All members create theirs, and remove vertices, at once.

    Parameters
    ----------
    g : GraphView
        Edges must lead from a removed vertex to the vertices that lose an edge.
    counts : array of int64, shape (V_p,)
        Number of edges that each vertex has at first. It is copied.

    Attributes
    ----------
    counts : array of int64, shape (V_p,)
        Number of edges that each vertex has left. The count of a removed vertex is at most the limit.
    """

    def __init__(self, g: GraphView, counts: Any) -> None:
        rows = g.member.rows("out")
        self._g, self._memory = g, g.member.shared_memory()
        columns = self._memory and self._memory.columns(
            ("int64", self._memory.most), (rows.ends.dtype, self._memory.most)
        )
        if not columns:
            self._memory = None
        self._chains = bool(columns) or (g.member.alone and not is_on_disk(rows.ends))
        if columns:
            # Each member subtracts from the counts of all members' vertices.
            self._rows, (self._counts, self._room) = rows, columns
            self.counts = self._counts.own[: g.owned]
        elif self._chains:
            self._rows, self._room = rows, np.empty_like(rows.ends, shape=(2, g.owned))
            self.counts = self._counts = np.empty_like(counts)
        else:
            wide = np.empty_like(counts, shape=g.member.local("out").size)
            self.counts = wide[: g.owned]
            self._advance = Advance(g, REMOVE, {"count": wide}, own_changes=True)
            self._removed = g.column(False, "bool")
        self.counts[:] = counts

    def remove(self, vertices: Any, limit: int) -> Any:
        """Remove vertices, and then all vertices that are left with at most `limit` edges.

        A member gives the positions of all vertices it owns that already have at most `limit` edges, each
        once. The limit is at least that of the previous call. The result has the positions of all owned
        vertices that were removed, in any order.
        """
        g, frontier = self._g, self._g.frontier(vertices)
        if self._chains:
            return self._remove_alone(frontier, limit)
        removed = [vertices]
        while frontier:
            self._removed[frontier.vertices] = True
            touched = self._advance.push(frontier).vertices
            falls = (self.counts[touched] <= limit) & ~self._removed[touched]
            frontier = g.frontier(touched[falls])
            removed.append(frontier.vertices)
        return np.concatenate(removed)

    def remove_all(self, core: Any) -> bool:
        """Remove all vertices in one call, at increasing limits, if one member has the graph on a device.

        `core` has -1 for vertices, which the call replaces by the limit at which each one is removed. If
        the result is false, nothing has changed.
        """
        g = self._g
        if not (self._chains and g.member.shard.on_device):
            return False
        with g.superstep("push", count_true(core == -1), len(self._rows.ends)):
            peel_kernels.peel_all(self._rows, self._counts, core, self._room, memory=self._memory)
        return True

    def _remove_alone(self, frontier: Frontier, limit: int) -> Any:
        g, vertices = self._g, frontier.vertices
        if not frontier:
            return vertices
        with g.superstep("push", len(frontier), frontier.leaving) as row:
            kernels = peel_kernels.of(self._rows.ends)
            more = kernels.peel(
                self._rows,
                self._counts,
                limit,
                vertices,
                self._room,
                threads=g.member.threads,
                memory=self._memory,
            )
            removed = np.concatenate([vertices, more])
            if row:
                edges = VertexSet(g.owned, vertices=removed).edges(g.degrees)
                row["frontier"], row["edges"] = len(removed), edges
            return removed
