"""The edges between some vertices, which are gathered by all members, in host memory.

A search from one vertex to the next follows one edge after another. So a member that searches alone needs
all edges that the search can follow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import disk, move_to, sorted_unique
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.csr import Rows

from .access import check_host_room, gather_on_host
from .edge_set import edges_between
from .view import GraphView

EDGE_BYTES = 48  # bytes per edge while edges are gathered, and of the rows that are made from them
ADVICE = (
    "Every worker needs all edges that cycles or paths can have. Give a smaller max_length or fewer "
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
        numbers = move_to(self.numbers, numbers)
        if not len(self.numbers):
            return np.full(len(numbers), -1)
        at = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[at] == numbers, at, -1)

    def loops(self) -> Any:
        """Return the vertices that have a self-loop."""
        return np.unique(self.sources[self.sources == self.targets]).astype("int64")

    def parallel_pairs(self) -> Any:
        """Return the pairs of vertices that have several edges: array of int64, shape (k, 2)."""
        keys = np.minimum(self.sources, self.targets).astype("int64") * len(self.numbers)
        keys += np.maximum(self.sources, self.targets)
        keys, counts = np.unique(keys[self.sources != self.targets], return_counts=True)
        return np.stack(np.divmod(keys[counts > 1], max(len(self.numbers), 1)), axis=1)

    def rows(self, threads: int, label: Any = None) -> tuple[Rows, Rows]:
        """Return the rows of the leaving and of the entering edges: the same ones if they are undirected.

        They have neither self-loops nor parallel edges. With `label`, each vertex gets a new number.
        """
        apart = self.sources != self.targets
        ends = self.sources[apart], self.targets[apart]
        if label is not None:
            ends = label[ends[0]], label[ends[1]]
        make = rows_kernels.of(ends[0]).rows
        how: Any = {"count": len(self.numbers), "multi": "first", "threads": threads}
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
    needed = EDGE_BYTES * g.all_sum(len(edges.entries)) + 4.0 * g.size
    check_host_room(g, needed, "a search for cycles or paths", ADVICE)
    ends, threads = disk.take(g.member.rows("out").ends, edges.entries), g.member.threads
    sources, targets = g.numbers[edges.vertices], g.member.shard.numbers_at(ends, threads)
    if not g.directed:  # both ends may list an edge
        once = sources <= targets
        sources, targets = sources[once], targets[once]

    every = gather_on_host(g, g.numbers[own])
    numbers = sorted_unique(every)
    table = np.zeros(g.size, "int32")
    table[numbers] = np.arange(len(numbers), dtype="int32")
    renamed = rows_kernels.of(table).renamed
    sources, targets = (
        renamed(gather_on_host(g, side), table, threads=threads) for side in (sources, targets)
    )
    if groups is not None:
        of_vertex = np.empty(len(numbers), "int64")
        of_vertex[table[every]] = gather_on_host(g, groups[own])
        same = of_vertex[sources] == of_vertex[targets]
        sources, targets = sources[same], targets[same]
    return Gathered(numbers, sources, targets, g.directed)
