"""Simple cycles in edges that all members have.

A cycle is found from the first of its vertices, in an order that begins with the vertices that cycles have
to go through, and then goes on by descending degree. So a search from a hub reaches many vertices, but all
later searches leave hubs out. Members take turns at the first vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.kernels import bounded_paths as bounded_paths_kernels
from dask_graphflow.kernels import move_to
from dask_graphflow.kernels.bounded_paths import Searches
from dask_graphflow.operators.access import send_rows
from dask_graphflow.operators.gathered import Gathered
from dask_graphflow.operators.view import GraphView
from dask_graphflow.showing.tables import counted

from .room import rows_that_fit, too_many


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
        for length in range(least, most + 1) if top else [most]:
            counts = self._count(least, length, rows // length)
            if counts is None:
                raise self._too_many(least, length, rows // length)
            total = self._g.all_sum(int(counts.sum()))
            if top and total >= top:
                break
        lists = self._list(counts, least, length)
        if self._g.member.exchange.size > 1:
            lists = self._deal(lists, min(total, top or total))
        return self._as_columns(lists, top)

    def _searches(self, which: Any, least: int, most: int) -> Searches:
        starts = self._starts[which]
        return Searches(starts, starts, starts, least, most, not self._edges.directed)

    def _count(self, least: int, most: int, limit: int) -> Any:
        """Return how many cycles begin at each of the member's vertices, by length.

        Short cycles are counted in a last row. None if there are more cycles than the limit.
        """
        g = self._g
        with g.superstep("push", len(self._starts), len(self._edges.sources)):
            counts = self._kernels.count(
                self._rows,
                self._into,
                self._searches(slice(None), least, most),
                limit,
                threads=g.member.threads,
            )
        total = limit + 1
        if counts is not None:
            short = np.zeros((1, most + 1), np.int64)
            for length, found in enumerate(self._short, 1):
                if least <= length <= most:
                    short[0, length] = len(found)
            counts = np.concatenate([counts, short])
            total = int(counts.sum())
        return counts if g.all_sum(total) <= limit else None

    def _too_many(self, least: int, most: int, limit: int) -> GraphMemoryError:
        """Return the error for more cycles than the limit. It says how many shorter ones there are."""
        fewer = ""
        for length in range(least, most):
            counts = self._count(least, length, limit)
            if counts is None:
                break
            total = self._g.all_sum(int(counts.sum()))
            fewer = f" There are {total:,} of at most {counted(length, 'edge')}."
        return too_many(
            f"cycles of at most {counted(most, 'edge')}",
            limit,
            most,
            f"{fewer} Give a smaller max_length, vertices that cycles have to go through (through=), or "
            "top= for the shortest cycles only; or use workers with more memory",
        )

    def _list(self, counts: Any, least: int, most: int) -> dict[int, Any]:
        """Return the cycles that were counted: for each length an array with a sorted row per cycle."""
        counts = counts[:-1]
        lengths = np.arange(most + 1)
        ends = np.cumsum(counts.sum(axis=0) * lengths)
        some = np.flatnonzero(counts.any(axis=1))
        places = (np.cumsum(counts, axis=0) - counts) * lengths
        places[:, 1:] += ends[:-1]
        listed = np.empty(ends[-1], "int32")
        self._kernels.write(
            self._rows,
            self._into,
            self._searches(some, least, most),
            places[some],
            self._order,
            listed,
            threads=self._g.member.threads,
        )
        lists = {}
        for length in range(least, most + 1):
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
