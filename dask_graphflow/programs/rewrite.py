"""Rewrite edge programs in other terms, with the same meaning."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import replace

from .edge_op import EdgeOp
from .expressions import parsed


def reading_numbers(op: EdgeOp, columns: Collection[str]) -> tuple[EdgeOp, str]:
    """Return a program that reads the numbers of ``src`` and ``dst`` from a column, and its name.

    Inside a member, ``src`` and ``dst`` are positions. The new name does not occur in `columns`.
    """
    name = _free("number", op, columns)
    return _reading(op, {"src": name, "dst": name}), name


def reading_before(op: EdgeOp, columns: Collection[str]) -> tuple[EdgeOp, str]:
    """Return a program that reads its target from a copy of the column, and the name of the copy."""
    name = _free("before", op, columns)
    return _reading(op, {op.target: name}), name


def in_fixed_point(
    op: EdgeOp, columns: Collection[str]
) -> tuple[EdgeOp, EdgeOp, tuple[str, str, str]]:
    """Return two programs that add up floats as whole numbers, and the names of three additional columns.

    The first program keeps the largest magnitude of the messages in a column of float64. The second program
    multiplies messages by a column of float64 at ``dst``, and adds up the integer parts in a column of
    int64.
    """
    largest, scale, sums = [_free(name, op, columns) for name in ("largest", "scale", "sums")]
    message = f"float64({ast.unparse(parsed(str(op.signal)))})"
    find = replace(op, target=largest, signal=f"abs({message})", slot="max")
    add = replace(op, target=sums, signal=f"int({message} * {scale}[dst])")
    return find, add, (largest, scale, sums)


def _free(name: str, op: EdgeOp, columns: Collection[str]) -> str:
    while name in columns or name in op.params:
        name += "_"
    return name


def _reading(op: EdgeOp, instead: Mapping[str, str]) -> EdgeOp:
    """Return a program that reads other columns instead of some columns, or of ``src`` and ``dst``."""
    columns = _Renaming(instead)
    cond = None if op.cond is None else columns.written(op.cond)
    return replace(op, signal=columns.written(str(op.signal)), cond=cond)


class _Renaming(ast.NodeTransformer):
    """Writes ``new[src]`` for ``old[src]``, and ``new[src]`` for ``src`` by itself."""

    def __init__(self, instead: Mapping[str, str]) -> None:
        self._instead = instead

    def written(self, text: str) -> str:
        return ast.unparse(self.visit(parsed(text)))

    def visit_Subscript(self, tree: ast.Subscript) -> ast.expr:
        name = tree.value.id if isinstance(tree.value, ast.Name) else ""
        column = ast.Name(self._instead.get(name, name), ast.Load())
        return ast.Subscript(column, tree.slice, ast.Load())

    def visit_Name(self, tree: ast.Name) -> ast.expr:
        if tree.id not in self._instead:
            return tree
        return ast.Subscript(ast.Name(self._instead[tree.id], ast.Load()), tree, ast.Load())
