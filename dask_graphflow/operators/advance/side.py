"""A side of an advance: the rows of one direction, and its columns of masters and mirrors.

:class:`Side` is that of a single member, and of members that send each other messages. The side of members
whose devices share memory has the same methods: see :mod:`.shared_side`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from dask_graphflow.graph.local_rows import Local
from dask_graphflow.kernels import sorted_unique
from dask_graphflow.operators.frontier import Frontier, VertexSet
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

from .local_advance import LocalAdvance, nothing

SHORT_LIST = 64  # a list of less than 1/64 of all vertices is sorted; otherwise a bitmap is faster

Changes = tuple[VertexSet, tuple[int, ...]]
"""The owned vertices that changed; their number, their edges, 0, and the edges read, of all members."""


def read_at_far_end(way: str, op: EdgeOp) -> tuple[str, ...]:
    """Return the columns that messages read at the other ends of the rows' edges."""
    return op.reads_dst if way == "push" else op.reads_src


def wide_columns(way: str, op: EdgeOp) -> list[str]:
    """Return the columns that need entries for mirrors."""
    return sorted({*read_at_far_end(way, op), *((op.target,) if way == "push" else ())})


class Side:
    """The rows of one direction, by positions, and its columns of masters and mirrors.

    Parameters
    ----------
    g : GraphView
    way : {"push", "pull"}
    op : EdgeOp
    columns : mapping of str to array
        The algorithm's columns; see :class:`.Advance`.
    balance : str
    local : Local
    mirrors : Mirrors, optional
        None for a single member.
    """

    def __init__(
        self,
        g: GraphView,
        way: str,
        op: EdgeOp,
        columns: Mapping[str, Any],
        balance: str,
        local: Local,
        mirrors: Any,
    ) -> None:
        self._g, self._way, self._op, self._balance = g, way, op, balance
        self._own, self._local, self._mirrors = columns, local, mirrors
        self._degrees = g.degrees  # the members make them together, at the first call
        self._asked = read_at_far_end(way, op)
        self._wide_names = [] if mirrors is None else wide_columns(way, op)
        self._columns = dict(columns)
        for name in self._wide_names:
            column = self._columns[name] = self._widen(name)
            if name in self._asked:
                self._send(name)
            else:
                column[g.owned :] = nothing(op.slot, column.dtype)
        self._advance = LocalAdvance(op, self._columns, local.rows)

    def update(self, changed: VertexSet | None, *, target: bool, others: bool) -> None:
        """Update the wide columns with the changes of the algorithm's columns.

        The last step changed the target's entries of the masters `changed`, and has not sent them to the
        mirrors. The algorithm may have changed more: entries of the `target`, or of the `others`.
        """
        for name in self._wide_names:
            if name == self._op.target:
                self._refresh(name, changed, look=target)
            elif others:
                self._refresh(name, None, look=True)

    def step(
        self, params: Mapping[str, Any], active: VertexSet | None, superstep: int | None = None
    ) -> tuple[VertexSet, Any]:
        """Advance along this member's rows; see :meth:`.LocalAdvance.step`."""
        how = self._way, self._balance, self._g.member.threads, self._degrees, superstep
        return self._advance.step(params, active, *how)

    def push(self, params: Mapping[str, Any], own: VertexSet | None, *, empties: bool) -> Changes:
        """Push on several members, from the masters `own`. `empties`: no mirror keeps what it has sent."""
        g, op, column = self._g, self._op, self._columns[self._op.target]
        masters, mirrors, leaving, edges = self._move(params, own)
        following = VertexSet(g.owned, vertices=masters, edges=leaving)
        # If no member changed a mirror, these totals are final.
        sums = len(masters), following.edges(self._degrees), len(mirrors), edges
        self._mirrors.reduce(column, mirrors - g.owned, sums)
        if empties:
            column[mirrors] = nothing(op.slot, column.dtype)
        changed = [masters]

        def apply(at: Any, values: Any) -> None:
            changed.append(_combine(op.slot, column, at, values))

        totals: tuple[int, ...] = self._mirrors.receive(apply).sums
        if not totals[2]:
            return following, totals
        if len(changed) > 1:
            following = _union(changed, g.owned)
        return self._with_totals(following, edges)

    def pull(self, params: Mapping[str, Any], own: VertexSet | None) -> Changes:
        """Pull on several members, from the masters `own`."""
        active = own
        if own is not None:
            there = self._broadcast(None, own.vertices)
            active = VertexSet(self._local.size, vertices=np.concatenate([own.vertices, *there]))
        masters, _, leaving, edges = self._move(params, active)
        following = VertexSet(self._g.owned, vertices=masters, edges=leaving)
        return self._with_totals(following, edges)

    def is_small(self, edges: int) -> bool:
        """Return whether so few edges leave a frontier that :meth:`run` takes several supersteps."""
        return self._advance.is_small(edges)

    def run(
        self, params: Mapping[str, Any], frontier: Frontier, *limits: Any
    ) -> tuple[Any, tuple[int, int], Any] | None:
        """Push several small supersteps in one call; see :meth:`.LocalAdvance.run`. None if it cannot."""
        return self._advance.run(params, frontier, *limits) if self._mirrors is None else None

    def save(self, changed: VertexSet) -> None:
        """Copy the target's entries of the masters that changed to the algorithm's column."""
        own, wide = self._own[self._op.target], self._columns[self._op.target]
        if wide is not own:
            own[changed.vertices] = wide[changed.vertices]

    def after(self, params: Mapping[str, Any], changed: VertexSet, superstep: int) -> VertexSet:
        """Do what the program does with owned vertices that changed; return the next frontier."""
        local = LocalAdvance(self._op, self._own, self._local.rows)
        return local.after(params, changed, superstep, self._degrees)

    def _widen(self, name: str) -> Any:
        """Return a wide column, with the masters' entries of the algorithm's column."""
        own, owned = self._own[name], self._g.owned
        if name not in self._asked and len(own) >= self._local.size:
            return own
        wide = np.empty_like(own, shape=self._local.size)
        wide[:owned] = own[:owned]
        return wide

    def _send(self, name: str) -> None:
        """Send all masters' entries of a wide column to the mirrors."""
        self._broadcast(self._columns[name])

    def _refresh(self, name: str, changed: VertexSet | None, *, look: bool) -> None:
        """Update a wide column; see :meth:`update`."""
        at: Any = None
        own, wide, owned = self._own[name], self._columns[name], self._g.owned
        if look and wide is not own:
            at = differing = np.flatnonzero(wide[:owned] != own)
            wide[differing] = own[differing]
            if changed is not None:
                at = _union([differing, changed.vertices], owned).vertices
        elif changed is not None:
            at = changed.vertices
        if name in self._asked:
            self._broadcast(wide, at)

    def _broadcast(self, column: Any, changed: Any = None) -> list[Any]:
        """Send masters' values, or only which masters changed, to mirrors; return the mirrors set here."""
        updated = []

        def apply(at: Any, values: Any) -> None:
            if values is not None:
                column[at] = values
            if isinstance(at, slice):
                at = np.arange(at.start, at.stop, like=self._local.slots)
            updated.append(at)

        self._mirrors.broadcast(column, changed)
        self._mirrors.receive(apply)
        return updated

    def _move(
        self, params: Mapping[str, Any], active: VertexSet | None
    ) -> tuple[Any, Any, tuple[Any, int] | None, int]:
        """Advance along this member's rows.

        Returns the masters and the mirrors that changed, both ascending, the masters' degrees and their sum
        if it is known, and the number of edges that were read.
        """
        if active is not None and not len(active):
            return self._none, self._none, None, 0
        changed, moved = self.step(params, active)
        if changed.sparse and len(changed) * SHORT_LIST < changed.size:
            vertices = np.sort(changed.vertices)
        else:
            vertices = VertexSet(changed.size, words=changed.words, count=len(changed)).vertices
        owned = moved.owned
        if owned is None:
            owned = int(np.searchsorted(vertices, self._g.owned))
        leaving = None if moved.leaving is None else (self._degrees, moved.leaving)
        return vertices[:owned], vertices[owned:], leaving, moved.edges

    @property
    def _none(self) -> Any:
        """An empty list of vertices."""
        return self._local.rows.ends[:0]

    def _with_totals(self, changed: VertexSet, edges: int) -> Changes:
        sums = len(changed), changed.edges(self._degrees), 0, edges
        return changed, self._g.all_reduce(sums).sums


def _union(lists: Sequence[Any], size: int) -> VertexSet:
    """Return the vertices that are in at least one list."""
    if sum(map(len, lists)) * SHORT_LIST < size:
        return VertexSet(size, vertices=sorted_unique(np.concatenate(lists)))
    words = (VertexSet(size, vertices=one).words for one in lists)
    return VertexSet(size, words=reduce(np.bitwise_or, words))


def _combine(slot: str, column: Any, at: Any, values: Any) -> Any:
    """Combine messages into masters, in place; return the masters that changed."""
    if slot == "add":
        column[at] += values
        return at
    old = column[at]
    if slot == "or":
        values = values | old
        better = values != old
    else:
        better = values < old if slot == "min" else values > old
        better |= (values != values) & (old == old)  # a NaN wins once, and then stays
    at = at[better]
    column[at] = values[better]
    return at
