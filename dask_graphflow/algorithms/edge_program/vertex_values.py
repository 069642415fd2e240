"""Values of expressions per vertex: the tree of an expression, computed with the columns of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dask_graphflow.exceptions import ExpressionError
from dask_graphflow.kernels import kernels_for
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.arrays import computed
from dask_graphflow.programs.expressions import Node, in_order

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
        values: dict[Node, Any] = {}
        nodes = in_order(root)
        # Values are dropped after their last use.
        last = {argument: node for node in nodes for argument in node.args}
        with np.errstate(all="ignore"):
            for node in nodes:
                given = self._of(node, [values[argument] for argument in node.args])
                # With a scalar, CuPy may return a smaller dtype.
                values[node] = given.astype(node.dtype, copy=False)
                for argument in {one for one in node.args if last[one] is node}:
                    del values[argument]
        return values[root]

    def _of(self, node: Node, args: list[Any]) -> Any:
        match node.kind:
            case "parameter":
                return self._params[node.value]
            case "column":
                name, when = node.value
                return self._columns[when][name]
            case "name" if node.value == "degree":
                return self._g.degrees
            case "name":
                return np.int64(self._g.count)
            case "total":
                return self._total(*args)
            case "largest":
                return self._largest(*args)
        return computed(node, args)

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
        maxima = np.concatenate(self._g.exchange.all_gather(kernels_for(own).to_host(own)))
        zero = maxima.dtype.type(0)
        return maxima.max() + zero if len(maxima) else zero  # turns -0.0 into 0.0
