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

from .expressions import INTEGERS, LEAVES, Node, in_order


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


def _quotient(a: Any, b: Any) -> Any:
    zero, one = b.dtype.type(0), b.dtype.type(1)
    if b.dtype.kind == "u":
        return _chosen(b == zero, zero, a // _chosen(b == zero, one, b))
    special = (b == zero) | (b == -one)  # the smallest integer divided by -1 wraps around
    quotient = a // _chosen(special, one, b)
    return _chosen(special, _chosen(b == zero, zero, -a), quotient)


def _rest(a: Any, b: Any) -> Any:
    zero, one = b.dtype.type(0), b.dtype.type(1)
    special = (b == zero) | (b == -one) if b.dtype.kind == "i" else b == zero
    return _chosen(special, zero, a % _chosen(special, one, b))


def _float_rest(a: Any, b: Any) -> Any:
    # As in CPython and NumPy, from the exact remainder.
    rest = np.fmod(a, b)
    turned = _chosen((rest < 0) != (b < 0), rest + b, rest)
    return _chosen(b == 0, rest, _chosen(rest == 0, np.copysign(rest, b), turned))


def _float_quotient(a: Any, b: Any) -> Any:
    rest, one = np.fmod(a, b), b.dtype.type(1)
    quotient = (a - rest) / b
    quotient = _chosen((rest != 0) & ((rest < 0) != (b < 0)), quotient - one, quotient)
    whole = np.floor(quotient)
    whole = _chosen(quotient - whole > b.dtype.type(0.5), whole + one, whole)
    whole = _chosen(quotient == 0, np.copysign(quotient, a / b), whole)
    return _chosen(b == 0, a / b, whole)


def _shifted_left(a: Any, b: Any) -> Any:
    inside, zero = _fits(a, b), a.dtype.type(0)
    return _chosen(inside, a << _chosen(inside, b, zero), zero)


def _shifted_right(a: Any, b: Any) -> Any:
    inside = _fits(a, b)
    rest = a >> _chosen(inside, b, a.dtype.type(8 * a.dtype.itemsize - 1))
    return rest >> np.logical_not(inside).astype(a.dtype)  # a shift by all bits, in two steps


def _fits(a: Any, b: Any) -> Any:
    return (b >= b.dtype.type(0)) & (b < b.dtype.type(8 * a.dtype.itemsize))


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "~": operator.invert,
    "<<": _shifted_left,
    ">>": _shifted_right,
    "//": lambda a, b: (_float_quotient if a.dtype.kind == "f" else _quotient)(a, b),
    "%": lambda a, b: (_float_rest if a.dtype.kind == "f" else _rest)(a, b),
    "and": lambda *parts: functools.reduce(np.logical_and, parts),
    "or": lambda *parts: functools.reduce(np.logical_or, parts),
    "negative": operator.neg,
    "abs": abs,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "min": lambda a, b: _chosen(b < a, b, a),
    "max": lambda a, b: _chosen(b > a, b, a),
    "not": np.logical_not,
    "choose": _chosen,
}
