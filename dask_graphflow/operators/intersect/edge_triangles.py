"""Triangles of the edges of a graph, from which edges are removed step by step.

The owner of the *late* end of an edge, which comes later in the order of an :class:`.Orientation`, owns the
edge. Other members that have the edge in one of their rows have a mirror of it. For a removed edge, the
owner of its early end intersects the rows of both ends. If another member owns the edge, it sends the row
of the late end, which is the shorter row, and receives the number of triangles that its edges lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from dask_graphflow.comm.mirrors import Mirrors
from dask_graphflow.graph.offsets import offsets_of
from dask_graphflow.kernels import index_dtype, kernels_for
from dask_graphflow.kernels import intersect as intersect_kernels
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.operators.access import (
    entries_of,
    sources_of,
    swap_columns,
    update_mirrors,
)
from dask_graphflow.operators.view import GraphView

from . import triangle_counts as triangles
from .orientation import labels_of, orient, relabel

REMAINS, LEAVES, REMOVED = 0, 1, 2  # states of an edge; LEAVES only during one step


class EdgeTriangles:
    """The edges of a graph and their numbers of triangles. All members do the same steps.

    Parameters
    ----------
    g : GraphView
        An undirected graph. Self-loops are left out, and parallel edges are one edge.

    Attributes
    ----------
    support : array of integers, shape (E_p,)
        The number of triangles of each edge of this member, among the edges that remain.
    """

    def __init__(self, g: GraphView) -> None:
        self._g, self._oriented = g, orient(g)
        rows = self._oriented.rows
        self.support = triangles.count_triangles(g, supports=True).supports.astype(rows.ends.dtype)
        self._kernels = intersect_kernels.of(rows.ends)
        self._early, self._owned = rows.ends, len(rows.ends)
        self._late = sources_of(g, rows)
        theirs = self._make_mirrors() if g.member.exchange.size > 1 else (rows.ends[:0],) * 2
        size = self._owned + len(theirs[0])
        edges = np.arange(size, dtype=index_dtype(size), like=rows.ends)
        source = np.concatenate([self._late, self._early, theirs[1]])
        target = np.concatenate([self._early, self._late, theirs[0]])
        edge = np.concatenate([edges[: self._owned], edges])
        mine = self._oriented.owner[source] == g.member.exchange.rank
        # For each label, the labels of all neighbors, with the edges to them stored as weights.
        self._whole = self._rows = rows_kernels.of(rows.ends).rows(
            source[mine],
            target[mine],
            edge[mine],
            count=len(self._oriented.label),
            threads=g.member.threads,
        )
        self._state = np.zeros_like(edges, "uint8")
        self._lost = np.zeros_like(edges, f"uint{8 * rows.ends.dtype.itemsize}")
        self._left = self._remaining = self._owned

    def _make_mirrors(self) -> tuple[Any, Any]:
        """Make mirrors of the edges of other members; return the labels of their late and early ends."""
        g, o, exchange = self._g, self._oriented, self._g.member.exchange
        owner = o.owner[self._early]
        sent = [np.flatnonzero(owner == rank) for rank in range(exchange.size)]
        sent[exchange.rank] = sent[exchange.rank][:0]
        ends = [
            np.concatenate(exchange.all_to_all([o.places[side[edges]] for edges in sent]))
            for side in (self._late, self._early)
        ]
        counts = [
            int(count[0]) for count in exchange.all_to_all([np.array([len(e)]) for e in sent])
        ]
        bounds = list(itertools.accumulate(counts, initial=0))
        own = [0] * (exchange.rank + 1) + [self._owned] * (exchange.size - exchange.rank)
        self._mirrors = Mirrors(exchange, ends[0][:0], bounds, own, sent)
        late, early = (labels_of(g, o, places)[0] for places in ends)
        return late, early

    def remove(self, edges: Any, limit: int) -> Any:
        """Remove some of this member's edges; return which others are left with too few triangles.

        All members call it. With several members, the edges are ascending. The result has the edges of this
        member that lost triangles, and are left with at most `limit`.
        """
        g, several = self._g, self._g.member.exchange.size > 1
        with g.superstep("push", len(edges), 0):
            self._mark(edges)
            at_home, others = edges, edges[:0]
            if several:
                own = self._oriented.owner[self._early[edges]] == g.member.exchange.rank
                at_home, others = edges[own], edges[~own]
            late = self._late[at_home]
            self._lose(self._rows, self._state, self._lost, late, late, self._early[at_home])
            if several:
                self._lose_with_others(others)
                dirty = np.flatnonzero(self._lost[self._owned :] > 0)
                self._mirrors.reduce(self._lost, dirty)
                self._mirrors.receive(self._add)
            fallen = self._kernels.settle(self._state, self._lost, self.support, limit)
            self._remaining -= len(edges)
            self._shrink()
        return np.sort(fallen) if several else fallen

    def remove_all(self, truss: Any, limit: int, most: int) -> bool:
        """Remove edges in one call, at increasing limits, if one member has the graph on a device.

        The limits begin at `limit`, and end at `most`. Each limit is the smallest number of triangles that
        a remaining edge has, if that is larger than the limit before. Edges with at most as many triangles
        are removed, as by :meth:`remove`, and get 2 more than the limit in `truss`. If the result is false,
        nothing has changed.
        """
        g, rows = self._g, self._rows
        if not (g.member.alone and g.member.shard.on_device):
            return False
        with g.superstep("push", self._owned, len(rows.ends)):
            ends = self._late, self._early
            intersect_kernels.peel_edges(rows, *ends, self.support, truss, limit, most)
        return True

    def values(self, of_edges: Any, g: GraphView) -> Any:
        """Return the values of the edges of another view, and 0 for self-loops. All members call it.

        The view has the same vertices and the same adjacent pairs. `of_edges` has one value per edge of
        this member.
        """
        column = np.zeros_like(of_edges, shape=len(self._state))
        column[: self._owned] = of_edges
        if g.member.exchange.size > 1:
            update_mirrors(self._mirrors, column)
        o, rows = self._oriented, g.member.rows("out")
        source = sources_of(g, rows._replace(first=0), g.index)
        key = _keys(o.label[source], labels_of(self._g, o, rows.ends)[0], len(o.label))
        owners = sources_of(g, self._whole, o.label.dtype)
        keys = _keys(owners, self._whole.ends, len(o.label))
        at = np.minimum(np.searchsorted(keys, key), max(len(keys) - 1, 0))
        values = np.zeros_like(of_edges, shape=len(key))
        if len(keys):
            values = np.where(keys[at] == key, column[self._whole.weights[at]], values)
        return values

    def _mark(self, edges: Any) -> None:
        self._state[edges] = LEAVES
        if self._g.member.exchange.size > 1:
            update_mirrors(self._mirrors, self._state, edges)

    def _add(self, at: Any, values: Any) -> None:
        self._lost[at] += values

    def _lose(self, rows: Rows, state: Any, lost: Any, row: Any, late: Any, early: Any) -> None:
        """Count the triangles that edges lose to removed edges whose early ends are own vertices."""
        own = self._rows, self._state, self._lost
        self._kernels.lose(
            rows, state, lost, *own, row, late, early, threads=self._g.member.threads
        )

    def _lose_with_others(self, edges: Any) -> None:
        """Count the triangles that edges lose to removed edges whose early ends other members own."""
        for pieces in self._pieces(edges):
            sent = [self._write_message(piece) for piece in pieces]
            asked = swap_columns(self._g, [message for _, message in sent])
            answers = [self._answer(*theirs) for theirs in asked]
            received = self._g.member.exchange.all_to_all(answers)
            for (lost, _), more in zip(sent, received, strict=True):
                kernels_for(more).namespace.add.at(self._lost, lost, more)

    def _pieces(self, edges: Any) -> Iterator[list[Any]]:
        """Yield the edges to send to each member, in pieces. All members have the same number of pieces."""
        g, o = self._g, self._oriented
        owner, sizes = o.owner[self._early[edges]], np.diff(self._rows.offsets)
        to = [edges[owner == rank] for rank in range(g.member.exchange.size)]
        costs = [np.cumsum(sizes[self._late[part]]) for part in to]
        most = max(int(cost[-1]) if len(cost) else 0 for cost in costs)
        count = int(g.all_reduce(most=-(-most // triangles.PIECE)).most)
        cuts = []
        for cost in costs:
            wanted = [int(cost[-1]) * i // count if len(cost) else 0 for i in range(1, count)]
            inner = np.searchsorted(cost, np.array(wanted, "int64", like=cost)).tolist()
            cuts.append([0, *inner, len(cost)])
        for i in range(count):
            yield [part[cut[i] : cut[i + 1]] for part, cut in zip(to, cuts, strict=True)]

    def _write_message(self, edges: Any) -> tuple[Any, tuple[Any, ...]]:
        """Return the message about removed edges for another member, and the edges of the rows in it.

        The edges come first. The message contains the vertices and the lengths of the rows of late ends,
        the ends and the states of their edges that were not removed before, and, for each removed edge,
        its row and its early end.
        """
        places, rows = self._oriented.places, self._rows
        late = self._late[edges]  # ascending, as edges are
        new = np.ones_like(late, bool)
        new[1:] = late[1:] != late[:-1]
        row = (np.cumsum(new) - 1).astype(late.dtype)
        late = late[new]
        offsets, _, at = entries_of(rows, late, self._g.member.threads)
        state = self._state[rows.weights[at]]
        remain = state != REMOVED
        at, lengths = at[remain], np.diff(offsets_of(remain)[offsets])
        ends = places[rows.ends[at]]
        message = places[late], lengths, ends, state[remain], row, places[self._early[edges]]
        return rows.weights[at], message

    def _answer(self, late: Any, lengths: Any, ends: Any, state: Any, row: Any, early: Any) -> Any:
        """Return the triangles that edges in another member's rows lose, as counted on this member."""
        g, o = self._g, self._oriented
        lost = np.zeros_like(ends, self._lost.dtype)
        if len(row):
            rows, has_label = relabel(g, o, lengths, ends)
            rows = rows._replace(
                weights=np.arange(len(rows.ends), dtype=self._whole.weights.dtype, like=ends)
            )
            late, early = (labels_of(g, o, places)[0] for places in (late, early))
            mine = np.zeros_like(rows.ends, lost.dtype)
            self._lose(rows, state[has_label], mine, row, late[row], early)
            lost[has_label] = mine
        return lost

    def _shrink(self) -> None:
        """Drop removed edges from the rows, once half of this member's edges are removed."""
        if self._remaining * 2 >= self._left:
            return
        self._left, rows = self._remaining, self._rows
        keep = self._state[rows.weights] != REMOVED
        offsets = offsets_of(keep)[rows.offsets]
        self._rows = Rows(offsets, rows.ends[keep], rows.weights[keep], 0)


def _keys(rows: Any, ends: Any, size: int) -> Any:
    """Return a number for each entry of rows, ascending in the rows and the ends."""
    return rows.astype("int64") * size + ends
