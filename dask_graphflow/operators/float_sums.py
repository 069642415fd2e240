"""Sums of floats along the edges, with the same bits in every order.

A first pass finds the largest magnitude of the messages to each vertex. Together with the number of its
edges, this bounds the vertex's sum and determines its unit: the smallest power of two with which no sum can
overflow. A second pass adds up the messages as whole multiples of the unit, rounded toward zero. If k edges
enter a vertex, the error of each message is less than k * 2**-61 of the largest message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dask_graphflow.exceptions import ExpressionError
from dask_graphflow.programs.edge_op import EdgeOp
from dask_graphflow.programs.rewrite import in_fixed_point

from .advance import Advance
from .direction import Direction
from .view import Frontier, GraphView

BITS = 63  # every sum is below 2**63 as a whole number
SMALLEST = 1000  # no unit is below 2**-1000, so messages times the largest scale stay finite


def advancing(
    g: GraphView, op: EdgeOp, columns: Mapping[str, Any], *, balance: str = "auto", **options: Any
) -> Advance | FloatSums:
    """Return an object that runs an edge program's steps; see :class:`.Advance` for the parameters."""
    if op.slot == "add" and columns[op.target].dtype.kind == "f" and isinstance(op.signal, str):
        return FloatSums(g, op, columns, balance=balance)
    return Advance(g, op, columns, balance=balance, **options)


class FloatSums:
    """An edge program that adds floats to its target; used like :class:`.Advance`.

    Messages read the values from before the step. A step adds up the messages of a vertex and adds the sum
    to its value. It rounds once for each of the two.
    """

    def __init__(
        self, g: GraphView, op: EdgeOp, columns: Mapping[str, Any], *, balance: str = "auto"
    ) -> None:
        self._g, self._op, self._target = g, op, columns[op.target]
        find, add, names = in_fixed_point(op, columns)
        self._largest, self._scale = g.column(0.0, "float64"), g.column(0.0, "float64")
        self._sums = g.column(0, "int64")
        both = dict(columns) | dict(
            zip(names, (self._largest, self._scale, self._sums), strict=True)
        )
        self._find = Advance(g.quiet, find, both, balance=balance)
        self._add = Advance(g.quiet, add, both, balance=balance)
        self._spare = np.frexp(g.T.degrees)[1]  # bits by which the sum of all messages may grow

    def push(self, frontier: Frontier) -> Frontier:
        """Push from a frontier; return the vertices that changed."""
        with self._g.superstep("push", len(frontier), frontier.leaving):
            unit = self._units(self._find.push(frontier))
            self._add.push(frontier)
            return self._added(*unit)

    def push_on(
        self, frontier: Frontier, rule: Direction, most: int | None = None
    ) -> tuple[Frontier, int]:
        """Push one superstep; see :meth:`.Advance.push_on`."""
        return self.push(frontier), 1

    def pull(self, frontier: Frontier) -> Frontier:
        """Pull from a frontier; return the vertices that changed."""
        with self._g.superstep("pull", len(frontier), frontier.leaving):
            unit = self._units(self._find.pull(frontier))
            self._add.pull(frontier)
            return self._added(*unit)

    def _units(self, receiving: Frontier) -> tuple[Any, Any]:
        """Set the scale of vertices that receive messages; return these and their scales' exponents."""
        at = receiving.vertices
        largest = self._largest[at]
        self._largest[at] = 0
        if self._g.all_reduce(sums=(int((~np.isfinite(largest)).sum()),)).sums[0]:
            raise ExpressionError(
                f"{self._op}: a message is infinite or NaN, and slot='add' takes finite numbers only; send "
                "another number in its place, for example x[src] if abs(x[src]) < inf else 0.0"
            )
        exponents = np.minimum(BITS - np.frexp(largest)[1] - self._spare[at], SMALLEST)
        self._scale[at] = np.ldexp(np.ones_like(largest), exponents)
        return at, exponents

    def _added(self, at: Any, exponents: Any) -> Frontier:
        old = self._target[at]
        with np.errstate(over="ignore"):  # a sum that no float can hold is infinite
            sums = np.ldexp(self._sums[at].astype("float64"), -exponents)
            new = (old + sums).astype(old.dtype)
        self._sums[at] = 0
        self._target[at] = new
        changed = (new != old) & ((new == new) | (old == old))  # a NaN that stays is not a change
        return self._g.frontier(at[changed])
