"""Expressions per vertex, as the kernels take them.

Values that belong to the whole graph are computed first, and are then parameters of the expressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from dask_graphflow.kernels.program import VertexProgram

from . import cuda
from .arrays import evaluated
from .expressions import LEAVES, Node, in_order
from .vertex_expressions import REDUCTIONS, is_per_vertex

#: What an expression reads: the kind of the node, and its value.
Read = tuple[str, Any]


class Reduction(NamedTuple):
    """A ``total`` or ``largest`` of an expression."""

    name: str  # the parameter that stands for it in other expressions
    kind: str  # ``total`` or ``largest``
    argument: Node


def without_reductions(roots: Sequence[Node]) -> tuple[list[Reduction], tuple[Node, ...]]:
    """Return the reductions in some expressions, inner ones first, and the expressions with parameters."""
    made: dict[Node, Node] = {}
    reductions: list[Reduction] = []
    for node in in_order(*roots):
        made[node] = replace(node, args=tuple(made[argument] for argument in node.args))
        if node.kind in REDUCTIONS:
            # The space keeps the name from being that of another parameter.
            reduction = Reduction(f"{node.kind} {len(reductions)}", node.kind, *made[node].args)
            reductions.append(reduction)
            made[node] = Node("parameter", node.dtype, value=reduction.name)
    return reductions, tuple(made[root] for root in roots)


def compiled(
    roots: Sequence[Node], *, assigns: bool = False
) -> tuple[VertexProgram, tuple[Read, ...]]:
    """Return expressions without reductions as kernels take them, and what they read, in order.

    Unless `assigns` says that values are assigned to columns, there is one expression, to reduce.
    """
    dtypes: dict[Read, tuple[str, bool]] = {}
    for node in in_order(*roots):
        if node.kind in LEAVES:
            dtypes[node.kind, node.value] = node.dtype, is_per_vertex(node)
    reads = tuple(dtypes)
    struct, layout = cuda.vertex_struct(roots, dtypes, assigns=assigns)
    return VertexProgram(partial(_values, roots, reads), struct, layout), reads


def _values(roots: Sequence[Node], reads: Sequence[Read], given: Sequence[Any]) -> list[Any]:
    return evaluated(roots, dict(zip(reads, given, strict=True)))
