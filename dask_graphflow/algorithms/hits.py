"""HITS: hubs have edges to good authorities, and authorities have edges from good hubs.

In each iteration, vertices pull the hub scores of the vertices that have an edge to them, and then the
authority scores of the vertices that they have an edge to. Both are divided by their totals [1]_.

Scores are summed as whole numbers, so they are bit-identical for every partitioning and number of threads.

.. [1] J. M. Kleinberg, "Authoritative Sources in a Hyperlinked Environment", JACM 46, 1999.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphflow.exceptions import ConvergenceError, WeightError
from dask_graphflow.kernels.edge_op import EdgeOp
from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.view import GraphView
from dask_graphflow.showing.tables import counted

from .algorithm import Answer, algorithm
from .options import Count, Number

__all__ = ["hits"]

SUM = EdgeOp("sum", target="sums", signal="int(share[src])", slot="add")
WEIGHTED_SUM = EdgeOp("weighted_sum", target="sums", signal="int(share[src] * weight)", slot="add")
ONE = 2.0**60  # a change of 1 as a whole number


@algorithm(
    columns={"hub": "float64", "authority": "float64"},
    checks={"max_iter": Count(), "tol": Number(above=0)},
    weights="optional",
)
def hits(g: GraphView, *, max_iter: int = 100, tol: float = 1e-8) -> Answer:
    """Return the hub score and the authority score of each vertex.

    Good hubs have edges to good authorities, and good authorities have edges from good hubs. Weights
    multiply what an edge carries. If no edge has a weight above 0, all scores are the same.

    Parameters
    ----------
    max_iter : int
        Maximum number of iterations; 100 by default.
    tol : float
        Stop when the sum of the absolute changes of all hub scores is less than this; 1e-8 by default.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids), ``hub``
        and ``authority`` (both float64). Each of the two sums to 1.

    Raises
    ------
    ConvergenceError
        `max_iter` iterations did not reach `tol`. Raised when the result is computed.
    WeightError
        A weight is negative, infinite, NaN, or far too large or small. Raised when the result is computed.

    References
    ----------
    .. [1] J. M. Kleinberg, "Authoritative Sources in a Hyperlinked Environment", JACM 46, 1999.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2], "b": [3, 4, 4]})
    >>> gf.hits(links, source="a", target="b").compute().round(3)
       vertex    hub  authority
    0       1  0.618      0.000
    1       2  0.382      0.000
    2       3  0.000      0.382
    3       4  0.000      0.618
    """
    hub = g.exists / max(1, g.all_reduce(sums=(int(g.exists.sum()),)).sums[0])
    sum_hubs, sum_authorities = _summing(g), _summing(g.T)
    if sum_hubs is None or sum_authorities is None:
        return Answer({"hub": hub, "authority": hub.copy()})
    for _ in range(max_iter):
        before, authority = hub, sum_hubs(hub)
        hub = sum_authorities(authority)
        moved = int((abs(hub - before) * ONE).astype("int64").sum())
        change = g.all_reduce(sums=(moved,)).sums[0] / ONE
        if change < tol:
            return Answer({"hub": hub, "authority": authority})
    raise ConvergenceError(
        f"after {counted(max_iter, 'iteration')} hub scores still change by {change:.2g} together, which "
        f"is not below tol={tol:g}; give a larger max_iter or tol"
    )


def _summing(g: GraphView) -> Callable[[Any], Any] | None:
    """Return a function that sums scores along the edges, or None if no weight is above 0."""
    degrees = g.weighted_degrees
    largest = g.all_reduce(most=float(degrees.max()) if len(degrees) else 0.0).most
    if largest == 0:
        return None
    if not 1e-200 < largest < 1e200:
        message = f"the weights of a vertex's edges sum to {largest:g}; scale them to about 1"
        raise WeightError(message)
    # Scores sum to 1, so all edges together carry at most the largest degree: 2**61 as a whole number.
    unit = math.ldexp(1.0, 61 - math.frexp(largest)[1])
    share, sums = g.column(0, "float64"), g.column(0, "int64")
    op, everyone = WEIGHTED_SUM if g.weighted else SUM, g.everyone()
    step = Advance(g, op, {"share": share, "sums": sums})

    def summed(score: Any) -> Any:
        np.multiply(score, unit, out=share)
        sums[:] = 0
        step.pull(everyone)
        return sums / float(g.all_reduce(sums=(int(sums.sum()),)).sums[0])

    return summed
