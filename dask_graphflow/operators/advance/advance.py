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
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dask_graphflow.operators.advance.direction import Direction
from dask_graphflow.operators.frontier import Frontier, VertexSet
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.after import After
from dask_graphflow.programs.edge_op import EdgeOp, with_after, without_values
from dask_graphflow.programs.rewrite import reading_before

from .local_advance import LocalAdvance, bind
from .shared_side import make_side
from .side import Side


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
        self._sides: dict[str, Side] = {}
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
            side = self._side("push")
            if g.member.alone:
                return self._alone(side, frontier, row)
            empties = op.target not in op.reads_dst and (op.slot == "add" or not self._own_changes)
            moved = side.push(self._params, frontier.own, empties=empties)
            return self._finish("push", side, *moved, row)

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
            ran = side.run(self._params, frontier, *limits)
            if ran is not None and len(ran[2]):
                return self._finish_run(side, ran, rule, time.perf_counter() - began)
        return self.push(frontier), 1

    def _side_to_run(self, frontier: Frontier) -> Side | None:
        """Return the side of pushes if several supersteps can run in one call from a frontier."""
        g, op = self._g, self._op
        # A program of several members must not read what only their owners have.
        several = self._shares and not op.reads_dst
        if frontier.own is None or self._balance != "auto" or not (g.member.alone or several):
            return None
        side = self._side("push")
        return side if side.is_small(frontier.leaving) else None

    def _finish_run(
        self, side: Side, ran: tuple[Any, ...], rule: Direction, seconds: float
    ) -> tuple[Frontier, int]:
        """Record the supersteps of one call, and return the next frontier and their number."""
        g, (vertices, (count, leaving), done) = self._g, ran
        self.supersteps += len(done)
        sizes, edges = done.T
        rule.record_levels(sizes, edges)
        g.fused(["push"] * len(done), sizes, edges, seconds)
        known = (g.degrees, leaving) if g.member.alone else None
        own = VertexSet(g.owned, vertices=vertices, edges=known)
        side.save(own)
        self._last = "push", None  # a pull looks for what changed in all supersteps
        return Frontier(own, count, leaving), len(done)

    def pull(self, frontier: Frontier) -> Frontier:
        """Pull from a frontier; return the vertices that changed."""
        g = self._g
        with g.superstep("pull", len(frontier), frontier.leaving) as row:
            side = self._side("pull")
            if g.member.alone:
                return self._alone(side, frontier, row)
            return self._finish("pull", side, *side.pull(self._params, frontier.own), row)

    def _alone(self, side: Side, frontier: Frontier, row: dict[str, Any]) -> Frontier:
        self.supersteps += 1
        superstep = None if self._op.after is None else self.supersteps
        changed, moved = side.step(self._params, frontier.own, superstep)
        if row:
            row["edges"] = moved.edges
        # On the host, this also counts the vertices of a bitmap.
        leaving = changed.edges(self._g.degrees)
        return Frontier(changed, len(changed), leaving)

    def _finish(
        self,
        way: str,
        side: Side,
        following: VertexSet,
        totals: tuple[int, ...],
        row: dict[str, Any],
    ) -> Frontier:
        """Copy the changes to the algorithm's column, and return the next frontier."""
        side.save(following)
        self._last = way, following
        if row:
            row["edges"] = totals[3]
        self.supersteps += 1
        if self._op.after is None:
            return Frontier(following, *totals[:2])
        kept = side.after(self._params, following, self.supersteps)
        sums = len(kept), kept.edges(self._g.degrees)
        return Frontier(kept, *self._g.all_reduce(sums).sums)

    def _side(self, way: str) -> Side:
        """Return the rows and columns of a direction, after updating its wide columns."""
        if self._before is not None:
            self._before[:] = self._columns[self._op.target]
        if way not in self._sides:
            side = make_side(self._g, way, self._op, self._columns, self._balance)
            self._sides[way] = side
            return side
        side, (last, changed) = self._sides[way], self._last
        others = not self._own_changes
        side.update(changed if last == way else None, target=others or last != way, others=others)
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
