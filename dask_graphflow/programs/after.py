"""What is done with each vertex that a superstep changes, in the language of edge programs."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from .expressions import Node, Reader, Scope, in_order

OWN_FUNCTIONS = {
    "count_ones": ("uint64", "int64"),
    "exponent": ("float64", "int64"),
    "power_of_two": ("int64", "float64"),
}
"""The dtypes of the argument and of the result of functions that only these expressions can call.

``count_ones(x)`` is the number of bits that are set. ``exponent(x)`` is the smallest k with
``abs(x) < 2.0**k`` if x is finite and not 0, and 0 if x is 0. ``power_of_two(k)`` is ``2.0**k``.
"""


@dataclass(frozen=True)
class After:
    """What is done with each vertex that a superstep changes, after all messages.

    Expressions read ``dst``, ``column[dst]``, and ``step``, the number of the superstep, which is at least
    1. All of them read the values from before.
    """

    keep: str  # a condition: whether the vertex is in the next frontier
    # New values by column: of each vertex, and of the vertices that are kept.
    always: Mapping[str, str] = field(default_factory=dict, hash=False)
    kept: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def changes(self) -> tuple[str, ...]:
        """The columns that it changes."""
        return *self.always, *self.kept

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads or changes."""
        nodes = in_order(*self.read().roots)
        return *self.changes, *(node.value[0] for node in nodes if node.kind == "column")

    def read(self, index: str = "number", columns: dict[str, str] | None = None) -> TypedAfter:
        """Return the expressions as trees. The defaults stand for dtypes that are not known."""
        scope = Scope({"dst": index, "step": "int64"}, columns)
        read: dict[tuple[str, str], Node] = {}  # shared, so that each column is read once

        def reader(text: str) -> _AfterReader:
            return _AfterReader("after", text, scope, read)

        always, kept = (
            {name: reader(text).signal(name) for name, text in texts.items()}
            for texts in (self.always, self.kept)
        )
        return TypedAfter(reader(self.keep).cond(), always, kept)


class TypedAfter(NamedTuple):
    """The expressions of an :class:`After` as typed trees."""

    keep: Node
    always: dict[str, Node]
    kept: dict[str, Node]

    @property
    def roots(self) -> tuple[Node, ...]:
        """All trees."""
        return self.keep, *self.always.values(), *self.kept.values()


class _AfterReader(Reader):
    def _read(self, tree: ast.expr) -> Node:
        match tree:
            case ast.Call(func=ast.Name(id=name), args=[argument]) if name in OWN_FUNCTIONS:
                takes, returns = OWN_FUNCTIONS[name]
                operand = self._convert(argument, self._number(argument), takes)
                return Node(name, returns, (operand,))
        return super()._read(tree)
