"""Degrees: the number of edges that enter and leave each vertex."""

from __future__ import annotations

from typing import Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.operators.view import GraphView


def _columns(spec: GraphSpec, _: Any) -> dict[str, str]:
    names = ["in_degree", "out_degree"] if spec.directed else ["degree"]
    return dict.fromkeys(names, "int64")


@algorithm(vertices(_columns), supersteps=False, cost=Cost("labels", 0, passes=0.6))
def degrees(g: GraphView) -> Answer:
    """Return the number of edges that enter and leave each vertex.

    A self-loop counts once. Parallel edges count separately, unless the graph merges them; see `multi` of
    :class:`~dask_graphflow.Graph`.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex. The columns are ``vertex`` (the dtype of the ids),
        ``in_degree`` and ``out_degree`` (int64) for a directed graph, or ``vertex`` and ``degree`` (int64)
        for an undirected one.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2], "b": [2, 5, 5]})
    >>> gf.degrees(links, source="a", target="b").compute()
       vertex  in_degree  out_degree
    0       1          0           2
    1       2          1           1
    2       5          2           0
    """
    if not g.directed:
        return Answer({"degree": g.degrees})
    return Answer({"in_degree": g.T.degrees, "out_degree": g.degrees})
