"""Maximum flow: how much can flow from some vertices to others at the same time.

Two trees of shortest paths with spare capacity grow from the sources and from the sinks. Flow is sent where
they meet, and vertices that it cuts off from their tree look for another way to its root [1]_. A flow
between near vertices only reads the edges around them.

Every member has the whole network, and finds the same flow. Amounts are whole numbers, and the edges of a
vertex are followed in the order of the ids at their other ends. So the flow is the same for every
partitioning.

.. [1] A. V. Goldberg, S. Hed, H. Kaplan, R. E. Tarjan, R. F. Werneck, "Maximum Flows by Incremental
   Breadth-First Search", ESA 2011.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.operators import flow
from dask_graphflow.operators.view import GraphView

COST = Cost("paths", 1, passes=2, sparse=3, rows=2, copies=2, edge=80)


def amount_dtype(spec: GraphSpec) -> str:
    """Return the dtype of sums of capacities."""
    return "float64" if spec.weighted and spec.weight_dtype.kind == "f" else "int64"


def _columns(spec: GraphSpec, options: Mapping[str, Any]) -> dict[str, Any]:
    return {"source": "id", "target": "id", "flow": amount_dtype(spec)}


@algorithm(rows(_columns), weights="optional", cost=COST)
def maximum_flow(
    g: GraphView, sources: Annotated[Any, VertexIds()], sinks: Annotated[Any, VertexIds()]
) -> Answer:
    """Return a maximum flow from some vertices to others, and how much of it each edge has.

    The weights of the edges are their capacities. Without weights, each edge has the capacity 1, so the
    flow is the largest number of paths that have no edge in common. The capacities of parallel edges are
    added up. An edge of an undirected graph has its capacity in both directions.

    Integers are added up exactly. Floats are first rounded to whole multiples of a unit, which is a power
    of 2: the number of edges times the largest capacity is at most 2**61 units. So the rounding does not
    change whole numbers and short binary fractions.

    Parameters
    ----------
    sources : id, or list, Series or DataFrame of ids
        Vertices at which flow begins, each any amount.
    sinks : id, or list, Series or DataFrame of ids
        Vertices at which flow ends, each any amount.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per pair of vertices with a flow from one to the other, sorted by source and target. The
        columns are ``source`` and ``target`` (the dtype of the ids) and ``flow`` (int64, or float64 if the
        capacities are floats). Flow between two vertices has one direction. No flow enters a source
        or leaves a sink, so the value of the flow is the sum of what leaves the sources.

    Raises
    ------
    OptionError
        A vertex is among the sources and among the sinks. Raised when the result is computed.
    WeightError
        A capacity is negative, infinite or NaN, the sum of integers is above 2**61, or a float is below
        half of the unit. Raised when the result is computed.
    GraphMemoryError
        The network does not fit in the memory of each worker. Raised when the result is computed.

    References
    ----------
    .. [1] A. V. Goldberg, S. Hed, H. Kaplan, R. E. Tarjan, R. F. Werneck, "Maximum Flows by Incremental
       Breadth-First Search", ESA 2011.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> pipes = pd.DataFrame(
    ...     {"a": [1, 1, 2, 2, 3], "b": [2, 3, 3, 4, 4], "liters": [5, 2, 3, 1, 9]}
    ... )
    >>> ends = {"source": "a", "target": "b", "weight": "liters"}
    >>> gf.maximum_flow(pipes, **ends, sources=1, sinks=4).compute()
       source  target  flow
    0       1       2     4
    1       1       3     2
    2       2       3     3
    3       2       4     1
    4       3       4     5
    """
    columns = flow.maximum_flow(g, sources, sinks)
    return Answer(dict(zip(("source", "target", "flow"), columns, strict=True)))
