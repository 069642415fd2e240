"""The edges between some vertices, which are gathered by all members, in host memory.

A depth-first search follows one edge after another. So a member that searches needs all edges that a search
can follow. These are few if the vertices are chosen well.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import check_room, disk, kernels_for, sorted_unique
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.operators.access import gather
from dask_graphflow.operators.edge_set import edges_between
from dask_graphflow.operators.view import GraphView

EDGE_BYTES = 48  # bytes per edge while edges are gathered, and of the rows that are made from them
ADVICE = (
    "Every member needs all edges that cycles or paths can have. Give a smaller max_length or fewer "
    "vertices, leave out edges that do not matter, or give each worker more memory"
)


class Gathered(NamedTuple):
    """Edges between some vertices, which are numbered from 0 on. All members have the same."""

    numbers: Any  # array of index, shape (n,). The numbers of the vertices among all, ascending.
    # Arrays of int32, shape (e,). The ends of the edges. An undirected edge is there once.
    sources: Any
    targets: Any
    directed: bool

    def find(self, numbers: Any) -> Any:
        """Return which of these vertices have some numbers, -1 for others: array of int64."""
        if not len(self.numbers):
            return np.full(len(numbers), -1)
        at = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[at] == numbers, at, -1)

    def within(self, groups: Any) -> Gathered:
        """Return only the edges that do not lead from one group of vertices to another."""
        same = groups[self.sources] == groups[self.targets]
        return self._replace(sources=self.sources[same], targets=self.targets[same])

    def loops(self) -> Any:
        """Return the vertices that have a self-loop."""
        return np.unique(self.sources[self.sources == self.targets]).astype("int64")

    def parallel_pairs(self) -> Any:
        """Return the pairs of vertices that have several edges: array of int64, shape (k, 2)."""
        keys = np.minimum(self.sources, self.targets).astype("int64") * len(self.numbers)
        keys += np.maximum(self.sources, self.targets)
        keys, counts = np.unique(keys[self.sources != self.targets], return_counts=True)
        return np.stack(np.divmod(keys[counts > 1], max(len(self.numbers), 1)), axis=1)

    def rows(self, label: Any, threads: int) -> tuple[Rows, Rows]:
        """Return the rows of the leaving and of the entering edges, with a new number for each vertex.

        They have neither self-loops nor parallel edges.
        """
        apart = self.sources != self.targets
        ends = label[self.sources[apart]], label[self.targets[apart]]
        make = rows_kernels.of(label).rows
        how: Any = {"count": len(label), "multi": "first", "threads": threads}
        leaving = make(*ends, undirected=not self.directed, **how)
        return leaving, make(*ends[::-1], **how) if self.directed else leaving


def gather_edges(g: GraphView, inside: Any, groups: Any = None) -> Gathered:
    """Return the edges between the vertices that a column marks. All members call it.

    With a column of `groups`, only the edges within a group are returned.

    Raises
    ------
    GraphMemoryError
        A member does not have enough memory for the edges.
    """
    own, edges = np.flatnonzero(inside), edges_between(g, inside)
    host = kernels_for(np.empty(0))
    needed = EDGE_BYTES * g.all_sum(len(edges.entries)) + g.size * np.dtype("int32").itemsize
    limit = g.member.exchange.resources.memory(device=False)
    check_room(host, float(needed), "a search for cycles or paths", ADVICE, limit)
    ends = disk.take(g.member.rows("out").ends, edges.entries)
    sources = g.numbers[edges.vertices]
    targets = g.member.shard.numbers_at(ends, g.member.threads)
    if not g.directed:  # both ends may list an edge
        once = sources <= targets
        sources, targets = sources[once], targets[once]

    def everywhere(values: Any) -> Any:
        return gather(g, kernels_for(values).to_host(values))

    every = everywhere(g.numbers[own])
    numbers = sorted_unique(every)
    table = np.zeros(g.size, "int32")
    table[numbers] = np.arange(len(numbers), dtype="int32")
    renamed = rows_kernels.of(table).renamed
    sources, targets = (
        renamed(everywhere(side), table, threads=g.member.threads) for side in (sources, targets)
    )
    made = Gathered(numbers, sources, targets, g.directed)
    if groups is None:
        return made
    of_vertex = np.empty(len(numbers), "int64")
    of_vertex[made.find(every)] = everywhere(groups[own])
    return made.within(of_vertex)
