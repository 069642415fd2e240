"""Connected components of a graph that is built: the trees into which the edges join the vertices.

Edges that are not built into a graph have a faster way, which reads them once:
:func:`dask_graphflow.connected_components`.
"""

from __future__ import annotations

from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.previous import Previous
from dask_graphflow.operators.forests.connected import find_components
from dask_graphflow.operators.forests.reconnect import pays, reconnect
from dask_graphflow.operators.view import GraphView


@algorithm(
    vertices({"component": "id"}),
    directed=False,
    cost=Cost("labels", 1, passes=0.4, sparse=3, scratch=24),
)
def connected_components(
    g: GraphView,
    *,
    previous: Annotated[Any | None, Previous({"component": -1}, alone=True, pays=pays)] = None,
) -> Answer:
    """Return the connected component of each vertex.

    Use this if the graph is already built. Otherwise call :func:`dask_graphflow.connected_components` on
    the edges: it does not build a graph, and is several times faster than building one. The directions of
    the edges do not matter: in a directed graph the components are the weakly connected ones.

    With `previous`, only vertices near deleted edges are searched, and the components at both ends of
    inserted edges are joined. All components are computed again if the graph has fewer than 65,536 vertices
    and about a million edges, if more than one edge per 1,000 vertices was deleted, if deleted edges have
    long detours, as in road networks, if the ids are not integers, or if the graph has several members or
    is on a GPU. The same holds if edges were deleted from a directed graph, unless an earlier call has
    already made the list of edges that enter each vertex.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` and ``component``, the smallest id
        of the component (both the dtype of the ids).

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 5, 8], "b": [5, 2, 9]})
    >>> g = gf.Graph(ties, source="a", target="b", directed=False)
    >>> g.connected_components().compute().component.tolist()
    [1, 1, 1, 8, 8]
    """
    every = g.everyone()
    with g.superstep("push", len(every), every.leaving):
        found = None if previous is None else reconnect(g, previous["component"])
        return Answer({"component": find_components(g) if found is None else found})
