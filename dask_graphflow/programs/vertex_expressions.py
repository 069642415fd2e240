"""Expressions per vertex, in the language of edge programs.

An expression reads a column of the vertex by its name. ``before(column)`` is the column's value at the
beginning of the iteration, ``n`` is the number of vertices, and ``degree`` is the number of edges that
leave the vertex. ``total(x)`` and ``largest(x)`` are the sum and the maximum of x over all vertices of the
graph. Types are those of edge programs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import ClassVar

from dask_graphflow.showing.suggestions import nearest

from .expressions import INTEGERS, OPERATIONS, RESERVED, Node, Reader, Scope, in_order, promoted

NAMES = {"n": "int64", "degree": "int64"}  # in addition to columns and parameters
REDUCTIONS = ("total", "largest")


class VertexReader(Reader):
    """Reads an expression per vertex. Errors contain the label, which describes it.

    The columns and parameters are those that it may read, with their dtypes.
    """

    allowed: ClassVar[str] = (
        "allowed are numbers, True, False, inf, columns, before(column), n, degree, parameters, total(x), "
        f"largest(x), {OPERATIONS}"
    )

    def __init__(
        self, label: str, text: str, columns: Mapping[str, str], params: Mapping[str, str]
    ) -> None:
        super().__init__(label, text, Scope(NAMES, dict(columns), params))

    def value(self, target: str) -> Node:
        """Read the expression as a value for column `target`, with the column's dtype."""
        dtypes = self.scope.columns
        assert dtypes is not None
        return self.cond() if dtypes[target] == "bool" else self.signal(target)

    def begin(self) -> Node:
        """Read the expression as a value of any dtype. Literals alone give an int64 or a float64."""
        tree, node = self._root()
        return node if node.dtype == "bool" else self._convert(tree, node, promoted(node.dtype))

    def question(self) -> Node:
        """Read the expression as a yes-or-no question about the whole graph."""
        tree, node = self._root()
        node = self._truth(tree, node)
        if _per_vertex(node):
            raise self._error(
                tree,
                "this has an answer for each vertex, and one for the whole graph is needed; put columns "
                "and degree into total(...) or largest(...)",
            )
        return node

    def _read(self, tree: ast.expr) -> Node:
        match tree:
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if (
                name in REDUCTIONS
            ):
                return self._reduction(name, argument)
            case ast.Call(func=ast.Name(id="before"), args=[ast.Name(id=column)], keywords=[]):
                return self._named(tree, column, "before")
            case ast.Call(func=ast.Name(id="before")):
                raise self._error(tree, "before takes the name of a column")
            case ast.Call(func=ast.Name(id=name)) if name in REDUCTIONS:
                raise self._error(tree, f"{name} takes one value, not {len(tree.args)}")
        return super()._read(tree)

    def _reduction(self, name: str, argument: ast.expr) -> Node:
        node = self._number(argument)
        dtype = promoted(node.dtype)
        if name == "total" and dtype != "uint64":
            dtype = "int64" if dtype in INTEGERS else "float64"
        return Node(name, dtype, (self._convert(argument, node, dtype),))

    def _name(self, tree: ast.Name) -> Node:
        if tree.id == "inf" or tree.id in self.scope.params or tree.id in NAMES:
            return super()._name(tree)
        return self._named(tree, tree.id, "now")

    def _named(self, tree: ast.expr, column: str, when: str) -> Node:
        dtypes = self.scope.columns or {}
        if column not in dtypes:
            among = [*dtypes, *(self.scope.params if when == "now" else ()), *NAMES]
            raise self._error(
                tree,
                f"{column!r} is not a column or a parameter; there are {', '.join(among)}"
                f"{nearest(column, among)}",
            )
        if (column, when) not in self.columns:
            self.columns[column, when] = Node("column", dtypes[column], value=(column, when))
        return self.columns[column, when]

    def _column(self, tree: ast.Subscript) -> Node:
        end = tree.slice.id if isinstance(tree.slice, ast.Name) else ""
        at = f" without [{end}]" if end in RESERVED else ""
        raise self._error(tree, f"an expression per vertex reads a column by its name{at}")


def read_columns(root: Node) -> Iterator[tuple[str, str]]:
    """Return the columns that a tree reads, each with "now" or "before"."""
    return (node.value for node in in_order(root) if node.kind == "column")


def is_per_vertex(leaf: Node) -> bool:
    """Return whether a node reads a value of its own for each vertex."""
    return leaf.kind == "column" or (leaf.kind == "name" and leaf.value == "degree")


def _per_vertex(root: Node) -> bool:
    per_vertex: dict[Node, bool] = {}
    for node in in_order(root):
        per_vertex[node] = is_per_vertex(node) or (
            node.kind not in REDUCTIONS and any(per_vertex[argument] for argument in node.args)
        )
    return per_vertex[root]
