"""Advance: edges carry messages from a frontier, and the vertices that change are the next frontier.

An :class:`Advance` runs one superstep of an edge program on all members. A push follows the edges that
leave owned vertices. It combines messages in masters and mirrors alike, and sends each changed mirror to
its owner once. A pull sends the frontier, and the columns that messages read, to the mirrors, and follows
the edges that enter owned vertices (Gemini [1]_). Both change the columns in the same way.

A column that has entries for mirrors is *wide*: the masters' entries come first, and then the mirrors'. It
stays allocated between supersteps, and only changes are sent. A single member has no mirrors, and works
directly on the algorithm's columns. Members whose devices share memory do the same without messages: see
:mod:`.shared_side`.

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from dask_graphflow.kernels import sorted_unique
from dask_graphflow.operators.advance.direction import Direction
from dask_graphflow.operators.frontier import Frontier, VertexSet
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.after import After
from dask_graphflow.programs.edge_op import EdgeOp, with_after, without_values
from dask_graphflow.programs.rewrite import reading_before

from .local_advance import LocalAdvance, bind, nothing
from .shared_side import SharedSide, share_side

SHORT_LIST = 64  # a list of less than 1/64 of all vertices is sorted; otherwise a bitmap is faster


def along(g: GraphView, op: EdgeOp) -> tuple[GraphView, EdgeOp]:
    """Return the graph along whose edges a program runs, reversed if necessary, and the program."""
    return (g.T, replace(op, reverse=False)) if op.reverse else (g, op)


class Advance:
    """An edge program on columns of a graph. All members create theirs, and run its steps, at once.

    Parameters
    ----------
    g : GraphView
        For ``g.T``, edges are followed backwards.
    op : EdgeOp
        The edge program. In it, ``src`` and ``dst`` only index columns, or are compared with each other.
    columns : mapping of str to array, shape (V_p,)
        The program's columns. The column of ``op.target`` is changed in place. The algorithm can change all
        of them between steps. A column that pushes write but do not read can have an entry for each mirror,
        too: then no step makes a wide copy of it.
    balance : str
        How edges are divided among threads; see :meth:`.Graph.run`.
    own_changes : bool
        Whether only the steps change the columns. Then no step has to look for other changes.
    synchronous : bool
        Whether messages read the values from before each step. Otherwise a program that reads the column
        that it writes can see a message in the same step. A sum always reads the values from before.
    after : After, optional
        What is done with each vertex that a step changes, and whether the step returns it.

    Attributes
    ----------
    supersteps : int
        Number of steps so far; the algorithm can set it. `after` takes the number that includes the step.

    Raises
    ------
    UnknownColumnError, WeightError, ExpressionError
        See ``op.bind``.
    """

    def __init__(
        self,
        g: GraphView,
        op: EdgeOp,
        columns: Mapping[str, Any],
        *,
        balance: str = "auto",
        own_changes: bool = False,
        synchronous: bool = False,
        after: After | None = None,
    ) -> None:
        columns, self._before = dict(columns), None
        reads_itself = op.target in (*op.reads_src, *op.reads_dst) and isinstance(op.signal, str)
        if reads_itself and (op.slot == "add" or synchronous):
            op, name = reading_before(op, columns)
            self._before = columns[name] = columns[op.target].copy()
        weights = g.member.shard.out.weights
        dtypes = tuple((name, column.dtype) for name, column in columns.items())
        bind(without_values(op), dtypes, g.index, None if weights is None else weights.dtype)
        self._g, self._balance = g, balance
        self._shares = not g.member.alone and g.member.shared_memory() is not None
        self._own_changes = own_changes and self._before is None
        self._own_changes &= after is None or not after.changes
        # If vertices are placed, the first neighbor in a row may not be the smallest.
        self._op = op if g.member.shard.placed is None else replace(op, first_hit=False)
        if after is not None:
            self._op = op = with_after(self._op, after)
        self.supersteps = 0
        self._params = dict(op.params)
        self._columns = {name: columns[name] for name in op.columns}
        self._sides: dict[str, _Side | SharedSide] = {}
        # Direction of the last step, and the masters that it changed.
        self._last: tuple[str, VertexSet | None] = "", None

    def step(self, way: str, frontier: Frontier, **params: Any) -> Frontier:
        """Push or pull; return the vertices that changed.

        New values of parameters must have the same dtypes, and also apply to the steps after this one.
        """
        self._params.update(params)
        return self.push(frontier) if way == "push" else self.pull(frontier)

    def push(self, frontier: Frontier) -> Frontier:
        """Push from a frontier; return the vertices that changed."""
        g, op = self._g, self._op
        with g.superstep("push", len(frontier), frontier.leaving) as row:
            side = self._side("push", "out", op.reads_dst)
            if side.mirrors is None:
                return self._alone(side, frontier, "push", row)
            column, owned = side.columns[op.target], g.owned
            empties = op.target not in op.reads_dst and (op.slot == "add" or not self._own_changes)
            if isinstance(side, SharedSide):
                moved = self._push_shared(side, frontier.own, empties=empties)
                return self._finish("push", side, *moved, row)
            masters, mirrors, leaving, edges = self._move(side, frontier.own, "push")
            following = VertexSet(owned, vertices=masters, edges=leaving)
            # If no member changed a mirror, these totals are final.
            sums = len(masters), following.edges(g.degrees), len(mirrors), edges
            side.mirrors.reduce(column, mirrors - owned, sums)
            if empties:
                column[mirrors] = nothing(op.slot, column.dtype)
            changed = [masters]

            def apply(at: Any, values: Any) -> None:
                changed.append(_combine(op.slot, column, at, values))

            totals = side.mirrors.receive(apply).sums
            if totals[2]:
                if len(changed) > 1:
                    following = _union(changed, owned)
                totals = self._totals(following, edges)
            return self._finish("push", side, following, totals, row)

    def push_on(
        self, frontier: Frontier, rule: Direction, most: int | None = None
    ) -> tuple[Frontier, int]:
        """Push from a frontier, and perhaps from the vertices that change, and so on, `most` times at most.

        A single member, or members that share memory, take several small supersteps in one call, which ends
        before a superstep that `rule` pulls. Returns the vertices that the last superstep changed, and the
        number of supersteps.
        """
        side = self._side_to_run(frontier)
        if side is not None:
            began, most = time.perf_counter(), self._g.size + 1 if most is None else most
            limits = self.supersteps, most, rule.limits(frontier), self._before
            run = side.run if isinstance(side, SharedSide) else side.advance.run
            ran = run(self._params, frontier, *limits)
            if ran is not None and len(ran[2]):
                return self._finish_run(side, ran, rule, time.perf_counter() - began)
        return self.push(frontier), 1

    def _side_to_run(self, frontier: Frontier) -> _Side | SharedSide | None:
        """Return the side of pushes if several supersteps can run in one call from a frontier."""
        g, op = self._g, self._op
        # A program of several members must not read what only their owners have.
        several = self._shares and not op.reads_dst
        if frontier.own is None or self._balance != "auto" or not (g.member.alone or several):
            return None
        side = self._side("push", "out", op.reads_dst)
        able = g.member.alone or isinstance(side, SharedSide)
        return side if able and side.advance.is_small(frontier.leaving) else None

    def _finish_run(
        self, side: _Side | SharedSide, ran: tuple[Any, ...], rule: Direction, seconds: float
    ) -> tuple[Frontier, int]:
        """Record the supersteps of one call, and return the next frontier and their number."""
        g, (vertices, (count, leaving), done) = self._g, ran
        self.supersteps += len(done)
        sizes, edges = done.T
        rule.record_levels(sizes, edges)
        if isinstance(side, SharedSide):
            column = self._columns[self._op.target]
            column[: g.owned] = side.columns[self._op.target][: g.owned]
            # A pull looks for what changed.
            self._last = "push", None
        g.fused(["push"] * len(done), sizes, edges, seconds)
        known = (g.degrees, leaving) if g.member.alone else None
        return Frontier(VertexSet(g.owned, vertices=vertices, edges=known), count, leaving), len(
            done
        )

    def pull(self, frontier: Frontier) -> Frontier:
        """Pull from a frontier; return the vertices that changed."""
        g, op = self._g, self._op
        with g.superstep("pull", len(frontier), frontier.leaving) as row:
            side = self._side("pull", "into", op.reads_src)
            if side.mirrors is None:
                return self._alone(side, frontier, "pull", row)
            active = frontier.own
            if isinstance(side, SharedSide):
                return self._finish("pull", side, *self._pull_shared(side, active), row)
            if active is not None:
                there = side.broadcast(None, active.vertices)
                vertices = np.concatenate([active.vertices, *there])
                active = VertexSet(side.local.size, vertices=vertices)
            moved, _, leaving, edges = self._move(side, active, "pull")
            following = VertexSet(g.owned, vertices=moved, edges=leaving)
            return self._finish("pull", side, following, self._totals(following, edges), row)

    def _alone(
        self, side: _Side | SharedSide, frontier: Frontier, way: str, row: dict[str, Any]
    ) -> Frontier:
        self.supersteps += 1
        step = None if self._op.after is None else self.supersteps
        changed, moved = self._advance(side, frontier.own, way, step)
        if row:
            row["edges"] = moved.edges
        # On the host, this also counts the vertices of a bitmap.
        leaving = changed.edges(self._g.degrees)
        return Frontier(changed, len(changed), leaving)

    def _advance(
        self,
        side: _Side | SharedSide,
        active: VertexSet | None,
        way: str,
        superstep: int | None = None,
    ) -> tuple[VertexSet, Any]:
        """Advance along this member's rows; see :meth:`.LocalAdvance.step`."""
        g = self._g
        how = way, self._balance, g.member.threads, g.degrees, superstep
        return side.advance.step(self._params, active, *how)

    def _move(
        self, side: _Side, active: VertexSet | None, way: str
    ) -> tuple[Any, Any, tuple[Any, int] | None, int]:
        """Advance along this member's rows.

        Returns the masters and the mirrors that changed, both ascending, the masters' degrees and their sum
        if it is known, and the number of edges that were read.
        """
        if active is not None and not len(active):
            return side.local.rows.ends[:0], side.local.rows.ends[:0], None, 0
        changed, moved = self._advance(side, active, way)
        if changed.sparse and len(changed) * SHORT_LIST < changed.size:
            vertices = np.sort(changed.vertices)
        else:
            vertices = VertexSet(changed.size, words=changed.words, count=len(changed)).vertices
        owned = moved.owned
        if owned is None:
            owned = int(np.searchsorted(vertices, self._g.owned))
        leaving = None if moved.leaving is None else (self._g.degrees, moved.leaving)
        return vertices[:owned], vertices[owned:], leaving, moved.edges

    def _push_shared(
        self, side: SharedSide, own: VertexSet | None, *, empties: bool
    ) -> tuple[VertexSet, tuple[int, ...]]:
        """Push on members that share memory; return the owned vertices that changed, and the totals."""
        changed, edges = side.local.rows.ends[:0], 0
        if own is None or len(own):
            pushed, moved = self._advance(side, own, "push")
            changed, edges = pushed.vertices, moved.edges
        following = side.deliver(changed, self._g.degrees, empties=empties)
        return following, self._totals(following, edges)

    def _pull_shared(
        self, side: SharedSide, own: VertexSet | None
    ) -> tuple[VertexSet, tuple[int, ...]]:
        """Pull on members that share memory; return the owned vertices that changed, and the totals."""
        g = self._g
        changed, moved = self._advance(side, side.mark(own), "pull")
        words = changed.words[: -(-g.owned // 64)]
        known = g.degrees, moved.leaving
        following = VertexSet(g.owned, words=words, count=len(changed), edges=known)
        return following, self._totals(following, moved.edges)

    def _totals(self, own: VertexSet, edges: int) -> tuple[int, ...]:
        return self._g.all_reduce((len(own), own.edges(self._g.degrees), 0, edges)).sums

    def _finish(
        self,
        way: str,
        side: _Side | SharedSide,
        following: VertexSet,
        totals: tuple[int, ...],
        row: dict[str, Any],
    ) -> Frontier:
        """Copy the changes to the algorithm's column, and return the next frontier."""
        column, wide = self._columns[self._op.target], side.columns[self._op.target]
        if wide is not column and isinstance(side, SharedSide):
            # A copy of all entries is faster than a list of those that changed.
            column[: side.local.owned] = wide[: side.local.owned]
        elif wide is not column:
            at = following.vertices
            column[at] = wide[at]
        self._last = way, following
        if row:
            row["edges"] = totals[3]
        self.supersteps += 1
        if self._op.after is not None:
            local = LocalAdvance(self._op, self._columns, side.local.rows)
            step = self.supersteps
            following = local.after(self._params, following, step, self._g.degrees)
            totals = self._totals(following, 0)
        return Frontier(following, *totals[:2])

    def _side(self, way: str, rows: str, asked: tuple[str, ...]) -> _Side | SharedSide:
        """Return the rows and columns of a direction, after updating its wide columns."""
        if self._before is not None:
            self._before[:] = self._columns[self._op.target]
        if way not in self._sides:
            target = self._op.target
            wide = {*asked, target} if way == "push" else {*asked}
            given = self._g, rows, self._op, self._columns, wide, asked
            self._sides[way] = share_side(*given) or _Side(*given)
            return self._sides[way]
        side, (last, changed) = self._sides[way], self._last
        if side.mirrors is not None:
            for name in side.wide_names:
                mine = changed if last == way and name == self._op.target else None
                if not self._own_changes:
                    side.refresh(name, mine)
                elif name == self._op.target:
                    side.refresh(name, mine, look=last != way)
        return side


class EachVertex:
    """Something that is done with vertices, on columns of a graph. All members create theirs at once."""

    def __init__(self, g: GraphView, columns: Mapping[str, Any], after: After) -> None:
        # Only `after` of this edge program runs: it sends nothing along edges.
        name = next(iter(after.always))
        op = with_after(EdgeOp("each", target=name, signal=f"{name}[dst]", slot="max"), after)
        self._g, self._local = g, LocalAdvance(op, columns, g.member.local("out").rows)

    def __call__(self, frontier: Frontier) -> Frontier:
        """Do it with the vertices of a frontier, and return those that are kept."""
        assert frontier.own is not None
        kept = self._local.after({}, frontier.own, 1, self._g.degrees)
        sums = len(kept), kept.edges(self._g.degrees)
        return Frontier(kept, *self._g.all_reduce(sums).sums)


class _Side:
    """The rows of one direction, by positions, and its columns of masters and mirrors."""

    def __init__(
        self,
        g: GraphView,
        rows: str,
        op: EdgeOp,
        columns: Mapping[str, Any],
        wide: set[str],
        asked: tuple[str, ...],
    ) -> None:
        self.local = local = g.member.local(rows)
        self.mirrors = None if g.member.alone else g.member.mirrors(rows)
        self.columns, self._own, self._owned = dict(columns), columns, g.owned
        self.wide_names = sorted(wide)
        self._asked = asked
        for name in () if self.mirrors is None else self.wide_names:
            column = own = columns[name]
            if name in asked or len(own) < local.size:
                column = self.columns[name] = np.empty_like(own, shape=local.size)
                column[: g.owned] = own
            if name in asked:
                self.broadcast(column)
            else:
                column[g.owned :] = nothing(op.slot, column.dtype)
        self.advance = LocalAdvance(op, self.columns, local.rows)

    def refresh(self, name: str, changed: VertexSet | None = None, *, look: bool = True) -> None:
        """Update a wide column with the changes of the algorithm's column.

        `changed` are masters that the last step changed, and that were not sent to the mirrors yet. `look`:
        the algorithm may have changed other masters.
        """
        at: Any = None
        own, wide = self._own[name], self.columns[name]
        if look and wide is not own:
            at = differing = np.flatnonzero(wide[: self._owned] != own)
            wide[differing] = own[differing]
            if changed is not None:
                at = _union([differing, changed.vertices], self._owned).vertices
        elif changed is not None:
            at = changed.vertices
        if name in self._asked:
            self.broadcast(wide, at)

    def broadcast(self, column: Any, changed: Any = None) -> list[Any]:
        """Send masters' values, or only which masters changed, to mirrors; return the mirrors set here."""
        assert self.mirrors is not None
        updated = []

        def apply(at: Any, values: Any) -> None:
            if values is not None:
                column[at] = values
            if isinstance(at, slice):
                at = np.arange(at.start, at.stop, like=self.local.slots)
            updated.append(at)

        self.mirrors.broadcast(column, changed)
        self.mirrors.receive(apply)
        return updated


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
