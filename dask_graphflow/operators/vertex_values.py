"""What users' programs read and write per vertex: numbers of vertices, and values of expressions.

Vertices are numbered only for programs that read ``src``, ``dst`` or a column of vertices as numbers.

A sum or a maximum over all vertices takes its own pass over the columns, after the reductions that it
reads. Then one pass assigns the values of all expressions of a step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from dask_graphflow.exceptions import ExpressionError
from dask_graphflow.graph import vertex_numbers
from dask_graphflow.kernels import vertices as vertices_kernels
from dask_graphflow.kernels.fixed_point import units
from dask_graphflow.programs.arrays import evaluated
from dask_graphflow.programs.edge_op import EdgeOp
from dask_graphflow.programs.expressions import Node
from dask_graphflow.programs.rewrite import reading_numbers
from dask_graphflow.programs.vertex_program import Read, Reduction, compiled, without_reductions

from .access import gather
from .view import GraphView

WORD = 2**64


class VertexValues:
    """Evaluates expressions on the columns of a graph. All members create theirs, and call it, at once.

    `before` has the columns that ``before(column)`` reads.
    """

    def __init__(
        self,
        g: GraphView,
        columns: Mapping[str, Any],
        params: Mapping[str, Any],
        before: Mapping[str, Any] | None = None,
    ) -> None:
        self._g, self._params = g, dict(params)
        self._columns = {"now": columns, "before": before or {}}
        self._split, self._compiled = cache(without_reductions), cache(compiled)

    def assign(self, trees: Mapping[str, Node]) -> None:
        """Assign the values of expressions to columns with their dtypes.

        All expressions read the values from before the step.

        Raises
        ------
        ExpressionError
            ``total`` was called with a value that is infinite or NaN. All members raise it.
        """
        roots = self._reduce(tuple(trees.values()))
        program, reads = self._compiled(roots, assigns=True)
        columns = [self._columns["now"][name] for name in trees]
        vertices_kernels.of(columns[0]).assign(program, self._values_of(reads), columns)

    def shared(self, root: Node) -> Any:
        """Return the value of an expression that all vertices share, as a NumPy scalar.

        Raises
        ------
        ExpressionError
            See :meth:`assign`.
        """
        roots = self._reduce((root,))
        _, reads = self._compiled(roots)
        (value,) = evaluated(roots, dict(zip(reads, self._values_of(reads), strict=True)))
        return value

    def _reduce(self, roots: tuple[Node, ...]) -> tuple[Node, ...]:
        """Compute the reductions in some expressions. Return the expressions that read the results."""
        reductions, roots = self._split(roots)
        for reduction in reductions:
            compute = self._total if reduction.kind == "total" else self._largest
            self._params[reduction.name] = compute(reduction)
        return roots

    def _values_of(self, reads: Sequence[Read]) -> list[Any]:
        return [self._read(kind, value) for kind, value in reads]

    def _read(self, kind: str, value: Any) -> Any:
        if kind == "parameter":
            return self._params[value]
        if kind == "column":
            name, when = value
            return self._columns[when][name]
        return self._g.degrees if value == "degree" else np.int64(self._g.count)

    def _total(self, reduction: Reduction) -> Any:
        g, dtype = self._g, np.dtype(reduction.argument.dtype)
        program, reads = self._compiled((reduction.argument,))
        given = program, self._values_of(reads), g.exists
        kernels = vertices_kernels.of(g.exists)
        if dtype.kind != "f":  # integer sums wrap around
            own = kernels.integer_total(*given)
            low, high = g.all_reduce(sums=(own % 2**32, own >> 32)).sums
            return np.uint64((low + (high << 32)) % WORD).astype(dtype)
        total = kernels.new_float_total(*given, threads=g.member.threads)
        wrong, largest = g.all_reduce(sums=(total.wrong,), most=total.largest)
        if wrong[0]:
            raise ExpressionError(
                f"total(...) of values of which {wrong[0]} are infinite or NaN; give other values there, "
                "for example total(x if abs(x) < inf else 0.0)"
            )
        exponent = int(np.frexp(largest)[1])
        high, low = g.all_reduce(sums=total.parts(exponent, g.count)).sums
        coarse, fine = units(1.0, g.count)
        return np.ldexp(np.float64(high * coarse + low * fine), exponent)

    def _largest(self, reduction: Reduction) -> Any:
        g, dtype = self._g, np.dtype(reduction.argument.dtype)
        program, reads = self._compiled((reduction.argument,))
        kernels = vertices_kernels.of(g.exists)
        own = kernels.largest(program, self._values_of(reads), g.exists, dtype)
        maxima = gather(g, own)
        zero = dtype.type(0)
        return maxima.max() + zero if len(maxima) else zero  # turns -0.0 into 0.0


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
