"""Rewrite edge programs in other terms, with the same meaning."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import replace

from .edge_op import EdgeOp
from .expressions import parsed


def reading_numbers(op: EdgeOp, columns: Collection[str]) -> tuple[EdgeOp, str]:
    """Return a program that reads the numbers of ``src`` and ``dst`` from a column, and its name.

    Inside a member, ``src`` and ``dst`` are positions. The new name does not occur in `columns`.
    """
    name = _free("number", op, columns)
    numbers = _Numbers(name)
    cond = None if op.cond is None else numbers.written(op.cond)
    return replace(op, signal=numbers.written(str(op.signal)), cond=cond), name


def reading_before(op: EdgeOp, columns: Collection[str]) -> tuple[EdgeOp, str]:
    """Return a program that reads its target from a copy of the column, and the name of the copy."""
    name = _free("before", op, columns)
    before = _Before(op.target, name)
    cond = None if op.cond is None else before.written(op.cond)
    return replace(op, signal=before.written(str(op.signal)), cond=cond), name


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


class _Rewriter(ast.NodeTransformer):
    def written(self, text: str) -> str:
        return ast.unparse(self.visit(parsed(text)))


class _Numbers(_Rewriter):
    """Replaces ``src`` by ``column[src]``, except in an index; ``dst`` likewise."""

    def __init__(self, column: str) -> None:
        self._column = column

    def visit_Subscript(self, tree: ast.Subscript) -> ast.expr:
        return tree

    def visit_Name(self, tree: ast.Name) -> ast.expr:
        if tree.id not in ("src", "dst"):
            return tree
        return ast.Subscript(ast.Name(self._column, ast.Load()), tree, ast.Load())


class _Before(_Rewriter):
    """Replaces ``target[...]`` by ``before[...]``."""

    def __init__(self, target: str, column: str) -> None:
        self._target, self._column = target, column

    def visit_Subscript(self, tree: ast.Subscript) -> ast.expr:
        if isinstance(tree.value, ast.Name) and tree.value.id == self._target:
            return ast.Subscript(ast.Name(self._column, ast.Load()), tree.slice, ast.Load())
        return tree
