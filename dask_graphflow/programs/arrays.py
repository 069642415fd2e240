"""Expressions per vertex, computed with arrays of NumPy.

The operations have the same meaning as in an edge program. Each of them is one call of NumPy, which rounds
separately, so the host and a GPU give the same bits.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .expressions import ARITHMETIC, COMPARISONS, INTEGERS, LEAVES, Node, in_order


def evaluated(roots: Sequence[Node], given: Mapping[tuple[str, Any], Any]) -> list[Any]:
    """Return the values of expressions: arrays or, if all vertices share a value, scalars.

    `given` has the values of nodes that are not operations, by their kind and value.
    """
    values: dict[Node, Any] = {}
    nodes = in_order(*roots)
    # Values are dropped after their last use.
    last = {argument: at for at, node in enumerate(nodes) for argument in node.args}
    with np.errstate(all="ignore"):
        for at, node in enumerate(nodes):
            if node.kind in LEAVES:
                values[node] = given[node.kind, node.value]
            elif node.kind == "literal":
                values[node] = np.dtype(node.dtype).type(node.value)
            else:
                values[node] = _computed(node, [values[argument] for argument in node.args])
            for argument in {one for one in node.args if last[one] == at}:
                del values[argument]
    return [values[root] for root in roots]


def _computed(node: Node, args: Sequence[Any]) -> Any:
    if node.kind == "convert":
        return _converted(args[0], node.dtype)
    return _OPERATIONS[node.kind](*args)


def _chosen(test: Any, one: Any, other: Any) -> Any:
    if np.ndim(test) == 0:
        return one if test else other
    return np.where(test, one, other)


def _converted(x: Any, dtype: str) -> Any:
    if dtype not in INTEGERS or x.dtype.kind != "f":
        return x.astype(dtype)
    limits, kind = np.iinfo(dtype), np.dtype(dtype).type
    low, high = x.dtype.type(limits.min), x.dtype.type(limits.max)
    inside = _chosen((x > low) & (x < high), x, x.dtype.type(0)).astype(dtype)  # 0 for a NaN
    return _chosen(x >= high, kind(limits.max), _chosen(x <= low, kind(limits.min), inside))


_OPERATIONS: dict[str, Callable[..., Any]] = {
    **dict(ARITHMETIC.values()),
    **dict(COMPARISONS.values()),
    "~": operator.invert,
    "negative": operator.neg,
    "abs": abs,
    "min": lambda a, b: _chosen(b < a, b, a),
    "max": lambda a, b: _chosen(b > a, b, a),
    "not": np.logical_not,
    "and": lambda *parts: functools.reduce(np.logical_and, parts),
    "or": lambda *parts: functools.reduce(np.logical_or, parts),
    "choose": _chosen,
}
