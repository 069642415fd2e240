"""Minimum spanning forest: the lightest edges that connect the vertices of each component.

Each member finds the forest of its own edges. An edge that is the heaviest one of some cycle is in no
minimum spanning forest [1]_, so edges outside of that forest are not needed any more. Then pairs of members
merge their forests into the forest of both, until one member has the forest of the whole graph.

.. [1] R. E. Tarjan, "Data Structures and Network Algorithms", SIAM 1983.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.kernels import kernels_of
from dask_graphflow.operators.send_rows import send_rows
from dask_graphflow.operators.spanning_forest import spanning_forest
from dask_graphflow.operators.view import GraphView
from dask_graphflow.runtime.spec import GraphSpec

from .algorithm import Answer, algorithm

__all__ = ["minimum_spanning_forest"]

Columns = dict[str, Any]


def _columns(spec: GraphSpec, options: Any) -> Any:
    return spec.row_columns("edges", weighted=True)


@algorithm(
    columns=_columns,
    weights="optional",
    directed=False,
    supersteps=False,
    rows="listed",
)
def minimum_spanning_forest(g: GraphView) -> Answer:
    """Return the edges of the minimum spanning forest.

    These are edges that connect the vertices of each component without a cycle, and whose weights have the
    smallest sum. Edges of the same weight are taken in the order of their sources and targets, so the
    forest is unique. The directions of edges are ignored. Without weights, all edges weigh the same.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per edge of the forest, sorted by source and target, with the columns ``source`` and
        ``target`` (the dtype of the ids) and, if edges have weights, ``weight``. The source is the end with
        the smaller id.

    Raises
    ------
    WeightError
        A weight is NaN. Raised when the result is computed.

    References
    ----------
    .. [1] R. E. Tarjan, "Data Structures and Network Algorithms", SIAM 1983.
    .. [2] A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A High-Performance MST Implementation for GPUs",
       SC 2023.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> roads = pd.DataFrame({"a": [1, 1, 2, 3], "b": [2, 3, 3, 4], "km": [3.0, 1.0, 2.0, 5.0]})
    >>> gf.minimum_spanning_forest(roads, source="a", target="b", weight="km").compute()
       source  target  weight
    0       1       3     1.0
    1       2       3     2.0
    2       3       4     5.0
    """
    g = g.undirected
    columns = _taken(_edges(g), g)
    exchange, step = g.exchange, 1
    while step < exchange.size:
        step *= 2
        columns = _sent(g, columns, np.full_like(columns["source"], exchange.rank // step * step))
        columns = _taken(columns, g)
    source = columns["source"]
    homes = np.asarray(g.shard.homes[1:], like=source)
    return Answer(_sent(g, columns, np.searchsorted(homes, source, side="right")))


def _edges(g: GraphView) -> Columns:
    """Return this member's edges by the numbers of their ends, in the order of these."""
    rows = g.rows("out")
    source = kernels_of("rows", rows.ends).owners(rows, rows.ends.dtype, threads=g.threads)
    columns = {"source": source, "target": rows.ends}
    if rows.weights is not None:
        columns["weight"] = rows.weights
        wrong = g.all_reduce(sums=(int((rows.weights != rows.weights).sum()),)).sums[0]
        if wrong:
            raise WeightError(
                "a weight is NaN, so edges cannot be ordered by weight. Remove these edges, or leave out "
                "weight="
            )
    if g.shard.placed is None:
        return columns
    for name in ("source", "target"):
        columns[name] = g.shard.numbers_at(columns[name], g.threads)
    return _sorted(columns)


def _taken(columns: Columns, g: GraphView) -> Columns:
    """Return the columns of the edges of the forest."""
    forest = spanning_forest(g.shard.count, *columns.values())
    return {name: values[forest] for name, values in columns.items()}


def _sent(g: GraphView, columns: Columns, to: Any) -> Columns:
    """Send each edge to a member; return the edges that this one receives, in order."""
    send = send_rows(g.exchange, to)
    columns = {name: send(values) for name, values in columns.items()}
    # Otherwise a member of a higher rank has larger sources.
    return columns if g.shard.placed is None else _sorted(columns)


def _sorted(columns: Columns) -> Columns:
    order = np.argsort(columns["target"], kind="stable")
    order = order[np.argsort(columns["source"][order], kind="stable")]
    return {name: values[order] for name, values in columns.items()}
