"""Intersect: count the common neighbors of the two ends of each edge of a graph.

The rows of an :class:`.Orientation` are intersected, so each triangle is found once, by the owner of its
*middle* vertex, which is an end in the row of its *last* vertex. If another member owns that row, it sends
the row. Rows are sent in pieces, so memory stays bounded. The owner of the middle vertex sends back its
counts for the entries of the row.

The rows of last vertices are read out of order. If they are on disk, one block of them after another is in
memory, and the rows of all middle vertices are read in order for each block [1]_.

.. [1] X. Hu, Y. Tao, C.-W. Chung, "Massive Graph Triangulation", SIGMOD 2013.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.graph.blocks import blocks, pieces_of
from dask_graphflow.kernels import allocate_like, disk, is_on_disk
from dask_graphflow.kernels import intersect as intersect_kernels
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.operators.access import sources_of, sums_of_owned, swap_columns
from dask_graphflow.operators.view import GraphView

from .orientation import Orientation, invert_orientation, invert_rows, orient, relabel

PIECE = 1 << 23  # maximum number of row entries that a member sends to another member at a time
ENTRY = 32  # bytes per entry of a block in memory, while the rows in which each label is an end are made


class _Sent(NamedTuple):
    """Rows for another member: their lengths, and the indices of their entries in this member's rows."""

    lengths: Any
    entries: Any


class Triangles:
    """Counts of the triangles of a graph. All members call the methods at once.

    Parameters
    ----------
    orientation : Orientation
        The edges of `g`. If `parallel` is true, weights are the numbers of parallel edges.
    supports : bool
        Whether to count the triangles of each edge, too.
    parallel : bool
        Whether to count, for each vertex of a triangle, the parallel edges between the two other vertices.
    """

    def __init__(
        self,
        g: GraphView,
        orientation: Orientation,
        *,
        supports: bool = False,
        parallel: bool = False,
    ) -> None:
        self._g, self._oriented = g, orientation
        rows = self._rows = orientation.rows
        self._kernels = intersect_kernels.of(rows.ends)
        self._of_rows = rows_kernels.of(rows.ends)
        # Counts for entries of a row, made at its middle vertices, and for entries of the middle
        # vertices' rows.
        self._of_row = self._zeros(rows.ends, 2 if supports or parallel else 1)
        (self._of_own,) = self._zeros(rows.ends, 1)

    @property
    def edges(self) -> int:
        """Number of edges in this member's rows."""
        return len(self._rows.ends)

    def intersect_own_rows(self) -> None:
        """Count the triangles whose last and middle vertices belong to this member."""
        rows = self._rows
        if not is_on_disk(rows.ends):
            self._count(rows, invert_orientation(self._g, self._oriented), self._of_row)
            return
        for edges, block in blocks(rows, disk.budget() // ENTRY):
            weights = None if block.weights is None else np.array(block.weights)
            block = Rows(block.offsets, np.array(block.ends), weights, 0)
            in_memory = self._zeros(block.ends, len(self._of_row))
            self._count(block, self._invert(block), in_memory)
            for counts, of_block in zip(self._of_row, in_memory, strict=True):
                counts[edges] = of_block

    def pieces(self) -> list[tuple[int, int]]:
        """Return the bounds of the pieces of the rows: as many on every member, none on a single one."""
        if self._g.member.exchange.size == 1:
            return []
        count = self._g.all_reduce(most=-(-len(self._rows.ends) // PIECE)).most
        return pieces_of(self._rows.offsets, int(count))

    def intersect_rows_of_others(self, low: int, high: int) -> None:
        """Send a piece of the rows; count triangles whose last and middle vertices are on two members."""
        rows, places = self._rows, self._oriented.places
        sent = [self._select_rows(low, high, rank) for rank in range(self._g.member.exchange.size)]
        asked = [
            (
                needed.lengths,
                places[rows.ends[needed.entries]],
                None if rows.weights is None else rows.weights[needed.entries],
            )
            for needed in sent
        ]
        answers = [self._answer(*theirs) for theirs in swap_columns(self._g, asked)]
        for needed, more in zip(sent, swap_columns(self._g, answers), strict=True):
            for counts, theirs in zip(self._of_row, more, strict=True):
                counts[needed.entries] += theirs

    @property
    def totals(self) -> Any:
        """Number of triangles, or of the edges opposite to each owned vertex: array of int64, shape (V_p,).

        All members call it.
        """
        rows, parallel = self._rows, self._rows.weights is not None
        last, middle = self._of_row if parallel else (self._of_row[0], self._of_row[0])
        credit = self._kernels.credit
        return self._own(credit(rows, last, middle, self._of_own, threads=self._g.member.threads))

    @property
    def degrees(self) -> Any:
        """Number of neighbors of each owned vertex: array of int64, shape (V_p,). All members call it."""
        rows, count = self._rows, len(self._oriented.label)
        after = self._of_rows.degrees(rows.ends, count=count, threads=self._g.member.threads)
        return self._own(np.diff(rows.offsets) + after)

    @property
    def supports(self) -> Any:
        """Number of triangles of each entry of the oriented rows: an array of unsigned integers."""
        last_middle, last_first = self._of_row
        return last_middle + last_first + self._of_own

    def _own(self, column: Any) -> Any:
        """Return the counts of each owned vertex, added up over all members."""
        return sums_of_owned(self._g, column[self._oriented.label])

    def _zeros(self, like: Any, count: int) -> list[Any]:
        dtype = f"uint{8 * self._rows.ends.dtype.itemsize}"
        counts = [allocate_like(like, len(like), dtype) for _ in range(count)]
        for one in counts:
            one[:] = 0
        return counts

    def _count(self, rows: Rows, entering: Rows, of_row: list[Any]) -> None:
        self._kernels.triangles(
            rows, entering, self._rows, of_row, self._of_own, threads=self._g.member.threads
        )

    def _invert(self, rows: Rows, among: Any = slice(None)) -> Rows:
        """Return the rows that contain each label as an end, given which entries count."""
        return invert_rows(self._g, rows, len(self._oriented.label), among)

    def _select_rows(self, low: int, high: int, to: int) -> _Sent:
        """Return the rows of a piece that another member needs."""
        offsets = self._rows.offsets[low : high + 1]
        first, last = int(offsets[0]), int(offsets[-1])
        ends, starts = self._rows.ends[first:last], offsets[:-1] - first
        needs = np.zeros_like(starts, bool)
        piece = Rows(offsets - first, ends, None, 0)
        row = sources_of(self._g, piece)
        if to != self._g.member.exchange.rank:
            wanted = self._oriented.owner[ends] == to
            wanted[starts[starts < len(ends)]] = (
                False  # no vertex comes before the first end in its row
            )
            needs[row[wanted]] = True
        return _Sent(np.diff(offsets)[needs], np.flatnonzero(needs[row]) + first)

    def _answer(self, lengths: Any, places: Any, weights: Any = None) -> list[Any]:
        """Count the triangles that another member's rows close here; return counts for their entries."""
        g, o = self._g, self._oriented
        of_row = self._zeros(places, len(self._of_row))
        if not len(places):
            return of_row
        rows, has_label = relabel(g, o, lengths, places, weights)
        own = o.owner[rows.ends] == g.member.exchange.rank
        kept = self._zeros(rows.ends, len(of_row))
        self._count(rows, self._invert(rows, own), kept)
        for counts, kept_counts in zip(of_row, kept, strict=True):
            counts[has_label] = kept_counts
        return of_row


def count_triangles(g: GraphView, **counts: Any) -> Triangles:
    """Return the triangles of an undirected graph, counted. All members call it at once.

    Self-loops are ignored, and parallel edges are one edge. `counts` says what else to count; see
    :class:`.Triangles`.
    """
    triangles = Triangles(g, orient(g, counted=counts.get("parallel", False)), **counts)
    with g.superstep("push", g.member.shard.count, triangles.edges):
        triangles.intersect_own_rows()
        for piece in triangles.pieces():
            triangles.intersect_rows_of_others(*piece)
    return triangles
