"""An advance of members whose devices share memory: kernels write to the columns of other members.

A push sends each changed mirror to its owner with one atomic operation, and marks the vertex there. A pull
marks the frontier in the bitmaps of all members. Values that change are written to all mirrors. Each of
these begins once all members have done what comes before it in the superstep. No host waits for another
one, except for the totals of the superstep.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dask_graphflow.graph.local_rows import Local
from dask_graphflow.kernels import advance as advance_kernels
from dask_graphflow.operators.frontier import Frontier, VertexSet
from dask_graphflow.operators.shared_columns import SharedColumns, share_columns
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

from .local_advance import LocalAdvance, nothing
from .side import Changes, Side, wide_columns


def make_side(g: GraphView, way: str, op: EdgeOp, columns: Mapping[str, Any], balance: str) -> Side:
    """Return the side of a direction. All members call it."""
    rows = "out" if way == "push" else "into"
    local, mirrors, shared = g.member.local(rows), None, None
    if not g.member.alone:
        mirrors = g.member.mirrors(rows)
        dtypes = [columns[name].dtype for name in wide_columns(way, op)]
        shared = share_columns(g, local, mirrors, dtypes)
    if shared is not None:
        return SharedSide(shared, g, way, op, columns, balance, local)
    return Side(g, way, op, columns, balance, local, mirrors)


class SharedSide(Side):
    """The rows of one direction, by positions, and its columns, which all members can write to."""

    def __init__(
        self,
        shared: SharedColumns,
        g: GraphView,
        way: str,
        op: EdgeOp,
        columns: Mapping[str, Any],
        balance: str,
        local: Local,
    ) -> None:
        self._shared = shared
        self._wide = dict(zip(wide_columns(way, op), shared.wide, strict=True))
        self._run: tuple[LocalAdvance, advance_kernels.SharedRun] | tuple[()] | None = None
        super().__init__(g, way, op, columns, balance, local, shared.mirrors)

    def push(self, params: Mapping[str, Any], own: VertexSet | None, *, empties: bool) -> Changes:
        """See :meth:`.Side.push`."""
        changed, edges = self._none, 0
        if own is None or len(own):
            pushed, moved = self.step(params, own)
            changed, edges = pushed.vertices, moved.edges
        return self._with_totals(self._deliver(changed, empties=empties), edges)

    def pull(self, params: Mapping[str, Any], own: VertexSet | None) -> Changes:
        """See :meth:`.Side.pull`."""
        g = self._g
        changed, moved = self.step(params, None if own is None else self._mark(own))
        words, known = changed.words[: -(-g.owned // 64)], (self._degrees, moved.leaving)
        following = VertexSet(g.owned, words=words, count=len(changed), edges=known)
        return self._with_totals(following, moved.edges)

    def run(
        self, params: Mapping[str, Any], frontier: Frontier, *limits: Any
    ) -> tuple[Any, tuple[int, int], Any] | None:
        """Push several small supersteps in one call. None if a member has too little memory.

        Messages must read columns at their source alone.
        """
        if self._run is None:
            self._run = self._new_run()
        if not self._run:
            return None
        run, shared = self._run
        limits = *limits, shared
        return run.run(params, frontier, *limits)

    def save(self, changed: VertexSet) -> None:
        """See :meth:`.Side.save`."""
        own, wide = self._own[self._op.target], self._columns[self._op.target]
        if wide is not own:
            # To list the changes takes longer than to copy all entries.
            own[: self._g.owned] = wide[: self._g.owned]

    def _widen(self, name: str) -> Any:
        wide, owned = self._wide[name].own[: self._local.size], self._g.owned
        wide[:owned] = self._own[name][:owned]
        return wide

    def _send(self, name: str) -> None:
        self._mirrors.send(self._wide[name])

    def _refresh(self, name: str, changed: VertexSet | None, *, look: bool) -> None:
        owned = self._g.owned
        own, column = self._own[name][:owned], self._wide[name]
        words = None if changed is None else changed.words
        if name not in self._asked:
            if look:
                column.own[:owned] = own
        elif look:
            self._mirrors.update(own, column, words)
        else:
            self._mirrors.send(column, words)

    def _mark(self, frontier: VertexSet) -> VertexSet:
        """Return the frontier's masters and mirrors, which all members mark for each other."""
        marks, words = self._shared.marks, frontier.words
        marks.own[: len(words)] = words
        marks.own[len(words) :] = 0
        self._mirrors.send_marks(marks)
        size = self._local.size
        return VertexSet(size, words=marks.own[: -(-size // 64)])

    def _deliver(self, changed: Any, *, empties: bool) -> VertexSet:
        """Send the changed mirrors in a list to their owners; return the owned vertices that changed.

        `empties`: the mirrors are then empty.
        """
        g, memory, marks = self._g, self._shared.memory, self._shared.marks
        target = self._wide[self._op.target]
        neutral = nothing(self._op.slot, target.own.dtype) if empties else None
        words = marks.own[: -(-g.owned // 64)]
        words[:] = 0
        memory.align()  # no member reads its vertices any longer
        self._advance.deliver(memory, changed, self._local.slots, target, marks, neutral)
        memory.align()
        words = words.copy()
        count, leaving = advance_kernels.of(words).tally(words, self._degrees)
        return VertexSet(g.owned, words=words, count=count, edges=(self._degrees, leaving))

    def _new_run(self) -> tuple[LocalAdvance, advance_kernels.SharedRun] | tuple[()]:
        # Their ends are the numbers of all members' vertices.
        memory, rows = self._shared.memory, self._g.member.rows("out")
        columns = memory.columns(
            (rows.ends.dtype, advance_kernels.ring_of(memory.most)),
            ("uint32", memory.most),
            ("int64", memory.most + 1),
        )
        if columns is None:
            return ()
        own = {name: column[: self._g.owned] for name, column in self._columns.items()}
        shared = advance_kernels.SharedRun(memory, self._wide[self._op.target], *columns)
        return LocalAdvance(self._op, own, rows), shared
