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
from dask_graphflow.operators.advance.direction import Direction
from dask_graphflow.operators.frontier import Frontier
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.after import After
from dask_graphflow.programs.edge_op import EdgeOp
from dask_graphflow.programs.rewrite import in_fixed_point

from .advance import Advance, EachVertex

BITS = 63  # every sum is below 2**63 as a whole number
SMALLEST = 1000  # no unit is below 2**-1000, so messages times the largest scale stay finite
# Set the scale of a vertex from the largest magnitude of its messages; keep it if that is not finite.
SCALE = f"power_of_two(min({BITS} - exponent(largest[dst]) - spare[dst], {SMALLEST}))"
UNIT = After("not largest[dst] < inf", always={"largest": "0.0", "scale": SCALE})


def make_advance(
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
        spare = np.frexp(g.T.degrees)[1]  # bits by which the sum of all messages may grow
        units = {"largest": self._largest, "scale": self._scale, "spare": spare}
        self._units = EachVertex(g, units, UNIT)
        sums = {"target": self._target, "sums": self._sums, "scale": self._scale}
        self._apply = EachVertex(g, sums, _apply_sums(self._target.dtype.name))

    def push(self, frontier: Frontier) -> Frontier:
        """Push from a frontier; return the vertices that changed."""
        return self._step("push", frontier)

    def push_on(
        self, frontier: Frontier, rule: Direction, most: int | None = None
    ) -> tuple[Frontier, int]:
        """Push one superstep; see :meth:`.Advance.push_on`."""
        return self.push(frontier), 1

    def pull(self, frontier: Frontier) -> Frontier:
        """Pull from a frontier; return the vertices that changed."""
        return self._step("pull", frontier)

    def _step(self, way: str, frontier: Frontier) -> Frontier:
        with self._g.superstep(way, len(frontier), frontier.leaving):
            receiving = self._find.step(way, frontier)
            if self._units(receiving):
                raise ExpressionError(
                    f"{self._op}: a message is infinite or NaN, and slot='add' takes finite numbers only; "
                    "send another number in its place, for example x[src] if abs(x[src]) < inf else 0.0"
                )
            self._add.step(way, frontier)
            return self._apply(receiving)


def _apply_sums(dtype: str) -> After:
    """Return what adds its sum to a vertex, and keeps it if its value changes."""
    old, new = "target[dst]", f"{dtype}(float64(target[dst]) + float64(sums[dst]) / scale[dst])"
    # A NaN that stays is not a change, and a sum that no float can hold is infinite.
    changed = f"{new} != {old} and ({new} == {new} or {old} == {old})"
    return After(changed, always={"target": new, "sums": "0"})
