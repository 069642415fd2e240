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


def share_side(
    g: GraphView,
    rows: str,
    op: EdgeOp,
    columns: Mapping[str, Any],
    wide: set[str],
    asked: tuple[str, ...],
) -> SharedSide | None:
    """Return the rows and columns of a direction if all members share memory. All members call it.

    `wide` are the columns that need entries for mirrors, and `asked` those whose mirrors are read.
    """
    if g.member.alone or g.member.shared_memory() is None:
        return None
    names = sorted(wide)
    local, mirrors = g.member.local(rows), g.member.mirrors(rows)
    shared = share_columns(g, local, mirrors, [columns[name].dtype for name in names])
    if shared is None:
        return None
    return SharedSide(
        g, op, columns, local, dict(zip(names, shared.wide, strict=True)), asked, shared
    )


class SharedSide:
    """The rows of one direction, by positions, and its columns, which all members can write to."""

    def __init__(
        self,
        g: GraphView,
        op: EdgeOp,
        columns: Mapping[str, Any],
        local: Local,
        wide: Mapping[str, Any],
        asked: tuple[str, ...],
        shared: SharedColumns,
    ) -> None:
        self.local, self.mirrors = local, shared.mirrors
        self.columns, self._own, self._owned = dict(columns), columns, g.owned
        self.wide_names = sorted(wide)
        self._wide, self._shared = wide, shared
        self._op, self._asked = op, asked
        self._g = g
        self._run: tuple[LocalAdvance, advance_kernels.SharedRun] | tuple[()] | None = None
        for name, column in wide.items():
            entries = self.columns[name] = column.own[: local.size]
            entries[: g.owned] = columns[name][: g.owned]
            if name in asked:
                self.mirrors.send(column)
            else:
                entries[g.owned :] = nothing(op.slot, entries.dtype)
        self.advance = LocalAdvance(op, self.columns, local.rows)

    def refresh(self, name: str, changed: VertexSet | None = None, *, look: bool = True) -> None:
        """Update a wide column with the changes of the algorithm's column.

        `changed` are masters that the last step changed, and that were not sent to the mirrors yet. `look`:
        the algorithm may have changed other masters.
        """
        own, column = self._own[name][: self._owned], self._wide[name]
        words = None if changed is None else changed.words
        if name not in self._asked:
            if look:
                column.own[: self._owned] = own
        elif look:
            self.mirrors.update(own, column, words)
        else:
            self.mirrors.send(column, words)

    def mark(self, frontier: VertexSet | None) -> VertexSet | None:
        """Return the frontier's masters and mirrors, which all members mark for each other."""
        if frontier is None:
            return None
        marks, words = self._shared.marks, frontier.words
        marks.own[: len(words)] = words
        marks.own[len(words) :] = 0
        self.mirrors.send_marks(marks)
        return VertexSet(self.local.size, words=marks.own[: -(-self.local.size // 64)])

    def run(
        self,
        params: Mapping[str, Any],
        frontier: Frontier,
        first: int,
        most: int,
        dense: tuple[int, int, bool],
        before: Any,
    ) -> tuple[Any, tuple[int, int], Any] | None:
        """Push several small supersteps in one call; see :meth:`.LocalAdvance.run`. None if it cannot.

        Messages must read columns at their source alone.
        """
        if self._run is None:
            self._run = self._new_run()
        if not self._run:
            return None
        run, shared = self._run
        return run.run(params, frontier, first, most, dense, before, shared)

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
        own = {name: column[: self._owned] for name, column in self.columns.items()}
        shared = advance_kernels.SharedRun(memory, self._wide[self._op.target], *columns)
        return LocalAdvance(self._op, own, rows), shared

    def deliver(self, changed: Any, degrees: Any, *, empties: bool) -> VertexSet:
        """Send the changed mirrors in a list to their owners; return the owned vertices that changed.

        `empties`: the mirrors are then empty.
        """
        memory, marks = self._shared.memory, self._shared.marks
        target = self._wide[self._op.target]
        neutral = nothing(self._op.slot, target.own.dtype) if empties else None
        words = marks.own[: -(-self._owned // 64)]
        words[:] = 0
        memory.align()  # no member reads its vertices any longer
        self.advance.deliver(memory, changed, self.local.slots, target, marks, neutral)
        memory.align()
        words = words.copy()
        count, leaving = advance_kernels.of(words).tally(words, degrees)
        return VertexSet(self._owned, words=words, count=count, edges=(degrees, leaving))
