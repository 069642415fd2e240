"""Minimum cut: the edges of the smallest capacity without which nothing flows from some vertices to others.

After a maximum flow (:mod:`.maximum_flow`), the vertices to which more could flow are the source side of a
minimum cut [1]_. They are on the source side of every minimum cut, so they do not depend on the flow.

.. [1] L. R. Ford, D. R. Fulkerson, "Maximal Flow Through a Network", Canadian Journal of Mathematics 8,
   1956.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.operators import flow
from dask_graphflow.operators.view import GraphView

from .maximum_flow import COST, amount_dtype


def _columns(spec: GraphSpec, options: Mapping[str, Any]) -> dict[str, Any]:
    return {"source_side": "bool", "cut": amount_dtype(spec)}


@algorithm(vertices(_columns), weights="optional", cost=COST)
def minimum_cut(
    g: GraphView, sources: Annotated[Any, VertexIds()], sinks: Annotated[Any, VertexIds()]
) -> Answer:
    """Return the two sides of a minimum cut between some vertices and others.

    A cut divides the vertices into a side with all sources and a side with all sinks. Its value is the sum
    of the capacities of the edges that lead from the first side to the other. A minimum cut has the
    smallest value, which is that of a maximum flow. If there are several, the result is the one with the
    fewest vertices on the source side. For capacities, see :func:`dask_graphflow.maximum_flow`.

    Parameters
    ----------
    sources : id, or list, Series or DataFrame of ids
        Vertices of the source side.
    sinks : id, or list, Series or DataFrame of ids
        Vertices of the other side.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex. The columns are ``vertex`` (the dtype of the ids),
        ``source_side`` (bool) and ``cut`` (int64, or float64 if the capacities are floats): the capacity of
        the vertex's edges that lead from the source side to the other side. The value of the cut is the sum
        of this column.

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
    .. [1] L. R. Ford, D. R. Fulkerson, "Maximal Flow Through a Network", Canadian Journal of Mathematics 8,
       1956.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> pipes = pd.DataFrame(
    ...     {"a": [1, 1, 2, 2, 3], "b": [2, 3, 3, 4, 4], "liters": [5, 2, 3, 1, 9]}
    ... )
    >>> ends = {"source": "a", "target": "b", "weight": "liters"}
    >>> gf.minimum_cut(pipes, **ends, sources=1, sinks=4).compute()
       vertex  source_side  cut
    0       1         True    2
    1       2         True    4
    2       3        False    0
    3       4        False    0
    """
    side, capacity = flow.minimum_cut(g, sources, sinks)
    return Answer({"source_side": side, "cut": capacity})
