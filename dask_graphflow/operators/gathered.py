"""The edges between some vertices, or all edges, which are gathered by all members, in host memory.

A search from one vertex to the next follows one edge after another. So a member that searches alone needs
all edges that the search can follow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import check_room, disk, kernels_for, sorted_unique
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.csr import Rows

from .access import gather
from .edge_set import edges_between
from .view import GraphView

EDGE_BYTES = 48  # bytes per edge while edges are gathered, and of the rows that are made from them
WEIGHT_BYTES = 40  # further bytes per edge if it has a weight
SEARCH = "a search for cycles or paths"
SOME = (
    "Every worker needs all edges that cycles or paths can have. Give a smaller max_length or fewer "
    "vertices, leave out edges that do not matter, or give each worker more memory"
)
EVERY = (
    "Every worker needs one, because a path can lead anywhere. Build the graph with shards=1, or give each "
    "worker more memory"
)


class Gathered(NamedTuple):
    """Edges between some vertices, which are numbered from 0 on. All members have the same."""

    numbers: Any  # array of index, shape (n,). The numbers of the vertices among all, ascending.
    # Arrays of int32, or of index if all vertices are there; shape (e,). The ends of the edges. An
    # undirected edge is there once.
    sources: Any
    targets: Any
    weights: Any  # array, shape (e,), or None
    directed: bool

    def find(self, numbers: Any) -> Any:
        """Return which of these vertices have some numbers, -1 for others: array of int64."""
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

        They have neither self-loops nor parallel edges, of which they keep the one with the smallest
        weight. With `label`, each vertex gets a new number.
        """
        apart = self.sources != self.targets
        ends = self.sources[apart], self.targets[apart]
        if label is not None:
            ends = label[ends[0]], label[ends[1]]
        weights = None if self.weights is None else self.weights[apart]
        make = rows_kernels.of(ends[0]).rows
        multi = "first" if weights is None else "min"
        how: Any = {"count": len(self.numbers), "multi": multi, "threads": threads}
        leaving = make(*ends, weights, undirected=not self.directed, **how)
        return leaving, make(*ends[::-1], weights, **how) if self.directed else leaving


def gather_edges(
    g: GraphView, inside: Any = None, groups: Any = None, *, weighted: bool = False
) -> Gathered:
    """Return the edges between the vertices that a column marks, the same on all members, in host memory.

    All members call it. The edges are pairs of the indices of these vertices in :attr:`.Gathered.numbers`.
    They are in any order; :meth:`.Gathered.rows` sorts them into rows.

    Parameters
    ----------
    g : GraphView
    inside : column of bool, optional
        Marks the vertices; by default all vertex numbers, so that each vertex has its number as index.
    groups : column of integers, optional
        A group for each marked vertex. Edges from one group to another are left out.
    weighted : bool
        Whether the edges have their weights.

    Raises
    ------
    GraphMemoryError
        A member does not have enough memory for the edges.
    """
    marked = g.column(True, "bool") if inside is None else inside
    own, edges = np.flatnonzero(marked), edges_between(g, marked)
    bound, advice = ("a copy of all edges", EVERY) if inside is None else (SEARCH, SOME)
    needed = (EDGE_BYTES + WEIGHT_BYTES * weighted) * g.all_sum(len(edges.entries)) + 4.0 * g.size
    limit = g.member.exchange.resources.memory(device=False)
    check_room(kernels_for(np.empty(0)), needed, bound, advice, limit)
    rows, threads = g.member.rows("out"), g.member.threads
    sources = g.numbers[edges.vertices]
    targets = g.member.shard.numbers_at(disk.take(rows.ends, edges.entries), threads)
    columns = [sources, targets]
    if weighted:
        columns.append(disk.take(rows.weights, edges.entries))
    if not g.directed:  # both ends may list an edge
        once = sources <= targets
        columns = [column[once] for column in columns]

    def everywhere(values: Any) -> Any:
        return gather(g, kernels_for(values).to_host(values))

    sources, targets = map(everywhere, columns[:2])
    weights: Any = everywhere(columns[2]) if weighted else None
    if inside is None:
        numbers = np.arange(g.size, dtype=g.index)
        return Gathered(numbers, sources, targets, weights, g.directed)
    every = everywhere(g.numbers[own])
    numbers = sorted_unique(every)
    table = np.zeros(g.size, "int32")
    table[numbers] = np.arange(len(numbers), dtype="int32")
    renamed = rows_kernels.of(table).renamed
    sources, targets = (renamed(ends, table, threads=threads) for ends in (sources, targets))
    if groups is not None:
        of_vertex = np.empty(len(numbers), "int64")
        of_vertex[table[every]] = everywhere(groups[own])
        same = of_vertex[sources] == of_vertex[targets]
        sources, targets = sources[same], targets[same]
        weights = weights[same] if weighted else None
    return Gathered(numbers, sources, targets, weights, g.directed)
