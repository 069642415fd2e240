"""Numbers of vertices in edge programs: the values of ``src``, ``dst`` and "vertex" columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dask_graphflow.exceptions import ExpressionError
from dask_graphflow.graph import vertex_numbers
from dask_graphflow.programs.edge_op import EdgeOp
from dask_graphflow.programs.rewrite import reading_numbers

from .view import GraphView


class VertexNumbers:
    """The numbers 0 to n - 1 of the n vertices of a graph. All members create theirs at once.

    Numbers are counted, which takes a round, only if they are needed.
    """

    def __init__(self, g: GraphView, *, needed: bool) -> None:
        self._g, m = g, g.member
        if needed:
            self._numbered = vertex_numbers.number(m.shard, m.exchange, m.threads)
        else:
            self._numbered = vertex_numbers.Numbered(m.shard.numbers, m.shard.count)

    @property
    def own(self) -> Any:
        """The number of each owned vertex: array of index, shape (V_p,)."""
        return self._numbered.own

    def bind(self, op: EdgeOp, columns: Mapping[str, Any]) -> tuple[EdgeOp, dict[str, Any]]:
        """Return an edge program that reads numbers in a column, and the columns that it reads.

        On a single member, positions can be the numbers.
        """
        read = {name: columns[name] for name in op.columns}
        if op.reads_numbers and not (self._g.member.alone and self._numbered.indices is None):
            op, name = reading_numbers(op, columns)
            read[name] = self.own
        return op, read

    def check(self, op: EdgeOp, name: str, column: Any) -> None:
        """Raise in all members if a program put a number that belongs to no vertex into a column."""
        m = self._g.member
        vertex_numbers.check(str(op), name, self._numbered, m.shard, m.exchange, column)

    def answer(self, column: Any) -> Any:
        """Return a column of such numbers as :attr:`.GraphView.numbers`. All members call it."""
        m = self._g.member
        return vertex_numbers.indices(self._numbered, m.shard, m.exchange, column)


def check_expressions(g: GraphView, op: EdgeOp) -> None:
    """Raise if a program's functions are written by hand, and the graph has several members."""
    if not g.member.alone and not isinstance(op.signal, str):
        raise ExpressionError(
            f"{op} consists of functions written by hand, which cannot run on a graph of several "
            "shards, because src and dst would be positions in one shard. Write the program in "
            "expressions, or build the graph with shards=1"
        )
