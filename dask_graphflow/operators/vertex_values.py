"""Values of expressions per vertex: the tree of an expression, computed with arrays.

The operations have the same meaning as in an edge program. Each of them is one call of NumPy or CuPy, which
rounds separately, so the host and a GPU give the same bits.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dask_graphflow.exceptions import ExpressionError
from dask_graphflow.kernels import kernels_for
from dask_graphflow.programs.expressions import INTEGERS, Node, in_order

from .view import GraphView

__all__ = ["VertexValues"]

WORD = 2**64


class VertexValues:
    """Evaluates expressions on the columns of a graph. All members create theirs, and call it, at once.

    Parameters
    ----------
    g : GraphView
    columns : mapping of str to array, shape (V_p,)
    params : mapping of str to NumPy scalar
    before : mapping of str to array, optional
        The columns that ``before(column)`` reads.
    """

    def __init__(
        self,
        g: GraphView,
        columns: Mapping[str, Any],
        params: Mapping[str, Any],
        before: Mapping[str, Any] | None = None,
    ) -> None:
        self._g, self._params = g, params
        self._columns = {"now": columns, "before": before or {}}

    def of(self, root: Node) -> Any:
        """Return the value of a tree: an array of shape (V_p,) or, if all vertices share it, a scalar.

        Raises
        ------
        ExpressionError
            ``total`` was called with a value that is infinite or NaN. All members raise it.
        """
        found: dict[Node, Any] = {}
        nodes = in_order(root)
        # Values are dropped after their last use.
        last = {argument: node for node in nodes for argument in node.args}
        with np.errstate(all="ignore"):
            for node in nodes:
                given = self._of(node, [found[argument] for argument in node.args])
                # With a scalar, CuPy may return a smaller dtype.
                found[node] = given.astype(node.dtype, copy=False)
                for argument in {one for one in node.args if last[one] is node}:
                    del found[argument]
        return found[root]

    def _of(self, node: Node, args: list[Any]) -> Any:
        match node.kind:
            case "literal":
                return np.dtype(node.dtype).type(node.value)
            case "parameter":
                return self._params[node.value]
            case "column":
                name, when = node.value
                return self._columns[when][name]
            case "name" if node.value == "degree":
                return self._g.degrees
            case "name":
                return np.int64(self._g.count)
            case "convert":
                return _converted(args[0], node.dtype)
            case "total":
                return self._total(*args)
            case "largest":
                return self._largest(*args)
            case "and" | "or":
                return functools.reduce(
                    np.logical_and if node.kind == "and" else np.logical_or, args
                )
        whole = node.dtype in INTEGERS
        if node.kind in ("//", "%"):
            return (_WHOLE if whole else _FLOAT)[node.kind](*args)
        return _OPERATIONS[node.kind](*args)

    def _column(self, values: Any) -> Any:
        return self._g.column(values, values.dtype) if np.ndim(values) == 0 else values

    def _total(self, values: Any) -> Any:
        g, dtype = self._g, values.dtype
        values = np.where(g.exists, self._column(values), dtype.type(0))
        if dtype.kind != "f":  # integer sums wrap around
            own = int(values.sum()) % WORD
            low, high = g.all_reduce(sums=(own % 2**32, own >> 32)).sums
            return np.uint64((low + (high << 32)) % WORD).astype(dtype)
        finite = np.isfinite(values)
        largest = float(abs(np.where(finite, values, 0.0)).max()) if len(values) else 0.0
        wrong, largest = g.all_reduce(sums=(int((~finite).sum()),), most=largest)
        if wrong[0]:
            raise ExpressionError(
                f"total(...) of values of which {wrong[0]} are infinite or NaN; give other values there, "
                "for example total(x if abs(x) < inf else 0.0)"
            )
        exponent = int(np.frexp(largest)[1])
        total = g.total(np.ldexp(values, -exponent), 1.0)
        return np.ldexp(np.float64(total), exponent)

    def _largest(self, values: Any) -> Any:
        own = self._column(values)[self._g.exists]
        own = own.max(keepdims=True) if len(own) else own
        told = self._g.exchange.all_gather(kernels_for(own).to_host(own))
        found = np.concatenate(told)
        zero = found.dtype.type(0)
        return found.max() + zero if len(found) else zero  # turns -0.0 into 0.0


def _chosen(test: Any, one: Any, other: Any) -> Any:
    if np.ndim(test) == 0:
        return one if test else other
    return np.where(test, one, other)


def _converted(x: Any, dtype: str) -> Any:
    if dtype not in INTEGERS or x.dtype.kind != "f":
        return x.astype(dtype)
    limits, kind = np.iinfo(dtype), np.dtype(dtype).type
    low, high = x.dtype.type(limits.min), x.dtype.type(limits.max)
    found = _chosen((x > low) & (x < high), x, x.dtype.type(0)).astype(dtype)  # 0 for a NaN
    return _chosen(x >= high, kind(limits.max), _chosen(x <= low, kind(limits.min), found))


def _quotient(a: Any, b: Any) -> Any:
    zero, one = b.dtype.type(0), b.dtype.type(1)
    if b.dtype.kind == "u":
        return _chosen(b == zero, zero, a // _chosen(b == zero, one, b))
    special = (b == zero) | (b == -one)  # the smallest integer divided by -1 wraps around
    found = a // _chosen(special, one, b)
    return _chosen(special, _chosen(b == zero, zero, -a), found)


def _rest(a: Any, b: Any) -> Any:
    zero, one = b.dtype.type(0), b.dtype.type(1)
    special = (b == zero) | (b == -one) if b.dtype.kind == "i" else b == zero
    return _chosen(special, zero, a % _chosen(special, one, b))


def _float_rest(a: Any, b: Any) -> Any:
    # As in CPython and NumPy, from the exact remainder. CuPy uses another formula.
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


_WHOLE: dict[str, Callable[..., Any]] = {"//": _quotient, "%": _rest}
_FLOAT: dict[str, Callable[..., Any]] = {"//": _float_quotient, "%": _float_rest}
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
