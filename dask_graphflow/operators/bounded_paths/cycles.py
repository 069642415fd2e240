"""Simple cycles in edges that all members have.

A cycle is found from the first of its vertices, in an order that begins with the vertices that cycles have
to go through, and then goes on by descending degree. So a search from a hub reaches many vertices, but all
later searches leave hubs out. Members take turns at the first vertices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import bounded_paths as bounded_paths_kernels
from dask_graphflow.kernels import move_to
from dask_graphflow.kernels.bounded_paths import Searches
from dask_graphflow.operators.access import send_rows
from dask_graphflow.operators.gathered import Gathered
from dask_graphflow.operators.view import GraphView
from dask_graphflow.showing.tables import counted

from .room import rows_that_fit, too_many

BLOCK = 1 << 24  # counts by vertex and length that are made at once
FEW = 1 << 20  # cycles that are counted in little time


class Counts(NamedTuple):
    """How many cycles begin at the vertices of a member, and how many there are over all members."""

    starts: Any  # array of int64, ascending: indices of the member's vertices
    lengths: Any  # array of int64
    numbers: Any  # array of int64. The number of cycles; not 0.
    totals: Any  # array of int64, by length. The cycles of all members, with those of self._short.

    def up_to(self, length: int) -> Counts:
        """Return the counts of cycles of at most so many edges."""
        kept = self.lengths <= length
        return Counts(
            self.starts[kept], self.lengths[kept], self.numbers[kept], self.totals[: length + 1]
        )


class Cycles:
    """The simple cycles of a graph. All members create theirs, and call it, at once.

    Parameters
    ----------
    g : GraphView
    edges : Gathered
        The edges that can be on cycles.
    through : array of int64, or None
        Vertices of `edges`, ascending. Each cycle has at least one of them.
    """

    def __init__(self, g: GraphView, edges: Gathered, through: Any) -> None:
        self._g, self._edges = g, edges
        size = len(edges.numbers)
        given = np.ones(size, bool) if through is None else np.isin(np.arange(size), through)
        degrees = np.bincount(edges.sources, minlength=size)
        degrees += np.bincount(edges.targets, minlength=size)
        self._order = np.lexsort((-degrees, ~given)).astype("int32")
        self._label = np.empty(size, "int32")
        self._label[self._order] = np.arange(size, dtype="int32")
        self._rows, self._into = edges.rows(g.member.threads, self._label)
        rank, members = g.member.exchange.rank, g.member.exchange.size
        self._starts = np.arange(rank, int(given.sum()), members)
        self._kernels = bounded_paths_kernels.of(self._label)
        # Cycles of one vertex, and in undirected graphs of two, are edges of their own.
        short = [edges.loops()[:, None], *([] if edges.directed else [edges.parallel_pairs()])]
        self._short = [one[given[one].any(axis=1)][rank::members] for one in short]

    def find(self, least: int, most: int, top: int | None) -> list[Any]:
        """Return the columns of the cycles that this member lists, sorted by length and by vertices.

        The columns are the number of the cycle, the step, and the vertex numbers of both ends of the edge.
        Cycles have `least` to `most` edges. With `top`, only the first cycles are returned.

        Raises
        ------
        GraphMemoryError
            There are more cycles than fit in memory. All members raise it.
        """
        least = min(least, len(self._order) + 1)  # no cycle has more edges than there are vertices
        most = max(min(most, len(self._order)), least)
        rows = rows_that_fit(self._g)
        counts = self._count(least, most, rows // most) if top is None else None
        if counts is None:
            counts = self._count_short(least, most, rows, top)
        lists = self._list(counts, least)
        if self._g.member.exchange.size > 1:
            total = int(counts.totals.sum())
            lists = self._deal(lists, min(total, top or total))
        return self._as_columns(lists, top)

    def _searches(self, which: Any, least: int, most: int) -> Searches:
        starts = self._starts[which]
        return Searches(starts, starts, starts, least, most, not self._edges.directed)

    def _blocks(self, most: int) -> Iterator[slice]:
        """Return slices of the member's vertices, so that counts by length have a bounded size."""
        each = max(1, BLOCK // (most + 1))
        return (slice(low, low + each) for low in range(0, len(self._starts), each))

    def _count(self, least: int, most: int, limit: int) -> Counts | None:
        """Return how many cycles there are, or None if there are more than the limit."""
        g, total, found = self._g, 0, [np.empty((3, 0), np.int64)]
        with g.superstep("push", len(self._starts), len(self._edges.sources)):
            for block in self._blocks(most):
                searches = self._searches(block, least, most)
                counts = self._kernels.count(
                    self._rows, self._into, searches, limit - total, threads=g.member.threads
                )
                if counts is None:
                    total = limit + 1
                    break
                total += int(counts.sum())
                start, length = np.nonzero(counts)
                found.append(np.stack([start + block.start, length, counts[start, length]]))
        start, length, count = np.concatenate(found, axis=1)
        own = np.bincount(length, count, minlength=most + 1).astype(np.int64)
        for edges, short in enumerate(self._short, 1):
            if least <= edges <= most:
                own[edges] = len(short)
        total += int(own[: len(self._short) + 1].sum())
        if g.all_sum(total) > limit:
            return None
        return Counts(start, length, count, g.elementwise_sum(own))

    def _count_short(self, least: int, most: int, rows: int, top: int | None) -> Counts:
        """Return how many of the shortest cycles there are: up to the length that gives `top` of them.

        A count begins anew for each length. So lengths grow by a quarter as long as cycles are few, and
        those that have too many are approached by halves.

        Raises
        ------
        GraphMemoryError
            There are more cycles of some length than memory has room for, and fewer than `top` below it.
        """
        length, counts, limit = least - 1, None, rows // most
        too_long = most if top is None else most + 1
        while length + 1 < too_long:
            middle = most if too_long > most else (length + too_long) // 2
            tried = min(length + max(1, length // 4), middle)
            if top is not None:
                limit = rows // tried
                if tried > length + 1:
                    limit = min(limit, max(FEW, 4 * top))
            found = self._count(least, tried, limit)
            if found is None:
                too_long = tried
                continue
            length, counts = tried, found
            if top is not None and counts.totals.sum() >= top:
                return counts.up_to(int(np.searchsorted(np.cumsum(counts.totals), top)))
        if counts is not None and length == most:
            return counts
        fewer, longest, ask = "", too_long, "a smaller top="
        if top is None:
            longest, ask = most, "top= for the shortest cycles only"
        if counts is not None:
            total = int(counts.totals.sum())
            fewer = f" There are {total:,} of at most {counted(length, 'edge')}."
        raise too_many(
            f"cycles of at most {counted(longest, 'edge')}",
            limit,
            longest,
            f"{fewer} Give a smaller max_length, vertices that cycles have to go through (through=), or "
            f"{ask}; or use workers with more memory",
        )

    def _list(self, counts: Counts, least: int) -> dict[int, Any]:
        """Return the cycles that were counted: for each length an array with a sorted row per cycle."""
        most = len(counts.totals) - 1
        by_length = np.lexsort((counts.starts, counts.lengths))
        rows = counts.numbers[by_length] * counts.lengths[by_length]
        place = np.empty_like(rows)
        place[by_length] = np.cumsum(rows) - rows
        listed = np.empty(rows.sum(), "int32")
        for block in self._blocks(most):
            low, high = np.searchsorted(counts.starts, (block.start, block.stop))
            some, row = np.unique(counts.starts[low:high], return_inverse=True)
            places = np.zeros((len(some), most + 1), np.int64)
            places[row, counts.lengths[low:high]] = place[low:high]
            self._kernels.write(
                self._rows,
                self._into,
                self._searches(some, least, most),
                places,
                self._order,
                listed,
                threads=self._g.member.threads,
            )
        ends = np.cumsum(
            np.bincount(counts.lengths, counts.numbers * counts.lengths, minlength=most + 1)
        ).astype(np.int64)
        lists: dict[int, Any] = {}
        for length in np.union1d(np.flatnonzero(counts.totals), least).tolist():
            found = listed[ends[length - 1] : ends[length]].reshape(-1, length)
            if length <= len(self._short):
                found = self._short[length - 1].astype("int32")
            lists[length] = _sort_rows(found, len(self._order))
        return lists

    def _deal(self, lists: dict[int, Any], total: int) -> dict[int, Any]:
        """Send cycles to the members that list them, so that they are sorted over all members.

        The members share about equally in the first `total` cycles, and later cycles are left out. Cycles
        of the same length with the same smallest vertex stay together.
        """
        g, size, before, dealt = self._g, len(self._order), 0, {}
        members = g.member.exchange.size
        for length, found in lists.items():
            counts = g.elementwise_sum(np.bincount(found[:, 0], minlength=size))
            first = before + np.cumsum(counts) - counts
            before += int(counts.sum())
            number = first[found[:, 0]]
            kept = number < total
            to = number[kept] * members // max(total, 1)
            send = send_rows(g.member.exchange, np.repeat(to, length))
            received = send(found[kept].ravel()).reshape(-1, length)
            dealt[length] = _sort_rows(received, size)
        return dealt

    def _as_columns(self, lists: dict[int, Any], top: int | None) -> list[Any]:
        """Return the columns of cycles, numbered over all members in the order of their ranks."""
        g, exchange = self._g, self._g.member.exchange
        own = sum(map(len, lists.values()))
        counts = np.concatenate(exchange.all_gather(np.array([own])))
        first = int(counts[: exchange.rank].sum())
        parts = []
        for length, found in lists.items():
            found = found[: None if top is None else max(top - first, 0)]
            cycle = np.repeat(np.arange(first, first + len(found)), length)
            step = np.tile(np.arange(length, dtype="int32"), len(found))
            ends = (
                self._edges.numbers[side.ravel()] for side in (found, np.roll(found, -1, axis=1))
            )
            parts.append((cycle, step, *ends))
            first += len(found)
        return [move_to(g.numbers, np.concatenate(column)) for column in zip(*parts, strict=True)]


def _sort_rows(found: Any, size: int) -> Any:
    """Return the rows of an array in ascending order. Its entries are 0 to ``size - 1``."""
    bits = max(1, (size - 1).bit_length())
    each = 63 // bits  # columns that are one key
    keys = []
    for low in range(0, found.shape[1], each):
        key = found[:, low].astype("int64")
        for column in found.T[low + 1 : low + each]:
            key = (key << bits) | column
        keys.append(key)
    return found[np.lexsort(keys[::-1])]
