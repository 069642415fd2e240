"""Intersect: the neighbors that two vertices have in common, for the edges of a graph.

The rows of an :class:`.Orientation` are intersected. So each triangle is found once, by the owner of its
*middle* vertex, which is an end in the row of its *last* vertex. If another member owns that row, it sends
the row. Rows are sent in pieces, so that memory stays bounded. What the owner of the middle vertex counts
for the entries of a row is sent back.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dask_graphflow.kernels import kernels_of
from dask_graphflow.kernels.host_rows import Rows

from .orientation import oriented
from .view import GraphView

__all__ = ["Triangles"]

PIECE = 1 << 23  # entries of rows that a member sends at a time to each other member, at most


class Triangles:
    """The triangles of a graph, counted. All members make theirs at once.

    Parameters
    ----------
    g : GraphView
        An undirected graph without self-loops and parallel edges.
    supports : bool
        Whether triangles are counted for each edge too.
    """

    def __init__(self, g: GraphView, *, supports: bool = False) -> None:
        self._g, self._oriented = g, oriented(g)
        rows = self._rows = self._oriented.rows
        self._kernels, self._of_rows = (
            kernels_of("intersect", rows.ends),
            kernels_of("rows", rows.ends),
        )
        kind = f"uint{8 * rows.ends.dtype.itemsize}"
        # Counts for the three edges of a triangle, which end at its last, middle and first vertex.
        last_middle, self._middle_first, last_first = (
            np.zeros_like(rows.ends, kind) for _ in range(3)
        )
        self._of_row = [last_middle, last_first] if supports else [last_middle]
        with g.superstep("push", g.shard.count, len(rows.ends)):
            self._count(rows, self._oriented.entering, self._of_row)
            if g.exchange.size > 1:
                self._count_with_others()

    @property
    def totals(self) -> Any:
        """Number of triangles of each owned vertex: array of int64, shape (V_p,). All members call it."""
        g, found = self._g, (self._of_row[0], self._middle_first)
        totals = self._kernels.credit(self._rows, *found, threads=g.threads)[self._oriented.label]
        if g.exchange.size > 1:
            mirrors = g.mirrors("out")
            mirrors.reduce(totals)

            def add(at: Any, values: Any) -> None:
                totals[at] += values

            mirrors.receive(add)
        return totals[: g.owned]

    @property
    def supports(self) -> Any:
        """Number of triangles of each entry of the oriented rows: an array of unsigned integers."""
        last_middle, last_first = self._of_row
        return last_middle + last_first + self._middle_first

    def _count(self, rows: Rows, entering: Rows, of_row: list[Any]) -> None:
        last_first = of_row[1] if len(of_row) > 1 else None
        self._kernels.triangles(
            rows,
            entering,
            self._rows,
            of_row[0],
            self._middle_first,
            last_first,
            threads=self._g.threads,
        )

    def _count_with_others(self) -> None:
        """Count the triangles whose last and middle vertices belong to different members."""
        exchange, places = self._g.exchange, self._oriented.places
        cuts = self._pieces()
        for low, high in cuts:
            sent = [self._sent(low, high, rank) for rank in range(exchange.size)]
            lengths = exchange.all_to_all([some for some, _ in sent])
            ends = exchange.all_to_all([places[self._rows.ends[entries]] for _, entries in sent])
            answers = [self._answer(*rows) for rows in zip(lengths, ends, strict=True)]
            for counts, own in zip(self._of_row, zip(*answers, strict=True), strict=True):
                for (_, entries), more in zip(sent, exchange.all_to_all(own), strict=True):
                    counts[entries] += more

    def _pieces(self) -> list[tuple[int, int]]:
        """Cut the rows into pieces: the first row of each, and the last one. All members have as many."""
        offsets = self._rows.offsets
        edges = int(offsets[-1])
        count = int(self._g.all_reduce(most=-(-edges // PIECE)).most)
        wanted = np.array(
            [edges * i // max(count, 1) for i in range(1, count)], "int64", like=offsets
        )
        cuts = [0, *np.searchsorted(offsets, wanted).tolist(), len(offsets) - 1]
        return list(itertools.pairwise(cuts)) if count else []

    def _sent(self, low: int, high: int, to: int) -> tuple[Any, Any]:
        """Return the rows of a piece that a member needs: their lengths, and their entries."""
        offsets, exchange = self._rows.offsets[low : high + 1], self._g.exchange
        first, last = int(offsets[0]), int(offsets[-1])
        ends, starts = self._rows.ends[first:last], offsets[:-1] - first
        piece = Rows(offsets - first, ends, None, 0)
        row = self._of_rows.owners(piece, ends.dtype, threads=self._g.threads)
        wanted = self._oriented.owner[ends] == to
        # No vertex comes before the first end of a row in that row.
        wanted[starts[starts < len(ends)]] = False
        needs = np.zeros_like(starts, bool)
        if to != exchange.rank:
            needs[row[wanted]] = True
        return np.diff(offsets)[needs], np.flatnonzero(needs[row]) + first

    def _answer(self, lengths: Any, places: Any) -> list[Any]:
        """Count the triangles that another member's rows close here; return counts for their entries."""
        g, o = self._g, self._oriented
        of_row = [np.zeros_like(places, self._middle_first.dtype) for _ in self._of_row]
        if not len(places):
            return of_row
        offsets = np.zeros_like(lengths, shape=len(lengths) + 1)
        np.cumsum(lengths, out=offsets[1:])
        row = self._of_rows.owners(Rows(offsets, places, None, 0), o.label.dtype, threads=g.threads)
        labels, known = self._labels(places)
        labels, row = labels[known], row[known]
        before = np.zeros_like(offsets, shape=len(places) + 1)
        np.cumsum(known, out=before[1:])
        rows = Rows(before[offsets], labels, None, 0)
        own = o.owner[labels] == g.exchange.rank
        size = {"count": len(o.label), "columns": max(len(lengths), 1), "threads": g.threads}
        entering = self._of_rows.rows(labels[own], row[own], **size)
        kept = [np.zeros_like(labels, counts.dtype) for counts in of_row]
        self._count(rows, entering, kept)
        for counts, some in zip(of_row, kept, strict=True):
            counts[known] = some
        return of_row

    def _labels(self, places: Any) -> tuple[Any, Any]:
        """Return the labels of vertices of all members, and which of them have one here."""
        shard, o = self._g.shard, self._oriented
        slots = self._g.local("out").slots
        own = (places >= shard.low) & (places < shard.high)
        position = np.where(own, places - shard.low, 0)
        known = own
        if len(slots):
            at = np.minimum(np.searchsorted(slots, places), len(slots) - 1)
            mirrored = slots[at] == places
            position = np.where(mirrored, shard.owned + at, position)
            known = own | mirrored
        return o.label[position], known
