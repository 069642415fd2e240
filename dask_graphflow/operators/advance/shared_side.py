"""An advance of members whose devices share memory: kernels write to the columns of other members.

A push sends each changed mirror to its owner with one atomic operation, and marks the vertex there. A pull
marks the frontier in the bitmaps of all members. Values that change are written to all mirrors. Each of
these begins once all members have done what comes before it in the superstep. No host waits for another
one, except for the totals of the superstep.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dask_graphflow.comm.peers import SharedMemory
from dask_graphflow.kernels import advance as advance_kernels
from dask_graphflow.operators.frontier import VertexSet
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

from .local_advance import LocalAdvance, nothing


class SharedColumns(NamedTuple):
    """What members share for the rows of one direction."""

    memory: SharedMemory
    mirrors: Any  # SharedMirrors: writes to the mirrors of this member's vertices
    marks: Any  # Column of uint64. A bitmap of masters and mirrors.
    wide: dict[str, Any]  # columns that have an entry for each master, and then for each mirror


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
    memory = None if g.member.alone else g.member.shared_memory()
    if memory is None:
        return None
    local, mirrored = g.member.local(rows), g.member.mirrors(rows).mirrored
    begins = [local.owned + bound for bound in local.slot_bounds[:-1]]
    members = memory.swap((local.size, begins))
    most, rank = max(size for size, _ in members), g.member.exchange.rank
    names = sorted(wide)
    of_names = ((columns[name].dtype, most) for name in names)
    shared = memory.columns(("uint64", -(-most // 64)), *of_names)
    if shared is None:
        return None
    mirrors = memory.mirrors(mirrored, [there[rank] for _, there in members])
    given = SharedColumns(memory, mirrors, shared[0], dict(zip(names, shared[1:], strict=True)))
    return SharedSide(g, rows, op, columns, asked, given)


class SharedSide:
    """The rows of one direction, by positions, and its columns, which all members can write to."""

    def __init__(
        self,
        g: GraphView,
        rows: str,
        op: EdgeOp,
        columns: Mapping[str, Any],
        asked: tuple[str, ...],
        shared: SharedColumns,
    ) -> None:
        self.local = local = g.member.local(rows)
        self.columns, self._own, self._owned = dict(columns), columns, g.owned
        self.mirrors, self._shared = shared.mirrors, shared
        self.wide_names = sorted(shared.wide)
        self._op, self._asked = op, asked
        for name, column in shared.wide.items():
            wide = self.columns[name] = column.own[: local.size]
            wide[: g.owned] = columns[name][: g.owned]
            if name in asked:
                self.mirrors.send(column)
            else:
                wide[g.owned :] = nothing(op.slot, wide.dtype)
        self.advance = LocalAdvance(op, self.columns, local.rows)

    def refresh(self, name: str, changed: VertexSet | None = None, *, look: bool = True) -> None:
        """Update a wide column with the changes of the algorithm's column.

        `changed` are masters that the last step changed, and that were not sent to the mirrors yet. `look`:
        the algorithm may have changed other masters.
        """
        own, column = self._own[name][: self._owned], self._shared.wide[name]
        words = None if changed is None else changed.words
        if name not in self._asked:
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

    def deliver(self, changed: Any, degrees: Any, *, empties: bool) -> VertexSet:
        """Send the changed mirrors in a list to their owners; return the owned vertices that changed.

        `empties`: the mirrors are then empty.
        """
        memory, marks = self._shared.memory, self._shared.marks
        target = self._shared.wide[self._op.target]
        neutral = nothing(self._op.slot, target.own.dtype) if empties else None
        words = marks.own[: -(-self._owned // 64)]
        words[:] = 0
        memory.align()  # no member reads its vertices any longer
        self.advance.deliver(memory, changed, self.local.slots, target, marks, neutral)
        memory.align()
        words = words.copy()
        count, leaving = advance_kernels.of(words).tally(words, degrees)
        return VertexSet(self._owned, words=words, count=count, edges=(degrees, leaving))
