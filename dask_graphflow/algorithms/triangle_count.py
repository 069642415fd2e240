"""Triangles: how many there are at each vertex.

Each edge is directed from the end of lower degree to the end of higher degree. Then each triangle is found
once, where the rows of two adjacent vertices have an end in common [1]_.

.. [1] J. Shun, K. Tangwongsan, "Multicore Triangle Computations Without Tuning", ICDE 2015.
"""

from __future__ import annotations

from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.previous import Previous
from dask_graphflow.operators.intersect import add_triangle_changes, changed_edges, count_triangles
from dask_graphflow.operators.view import GraphView


@algorithm(
    vertices({"triangles": "int64"}),
    directed=False,
    cost=Cost("labels", 1, passes=5, rows=1, copies=1),
)
def triangle_count(
    g: GraphView, *, previous: Annotated[Any | None, Previous({"triangles": 0})] = None
) -> Answer:
    """Return the number of triangles at each vertex.

    A triangle is a set of three vertices with an edge between any two of them. The directions of edges,
    self-loops and parallel edges are ignored. Each triangle counts at its three vertices, so the number of
    triangles in the graph is the sum of the column divided by 3.

    References
    ----------
    .. [1] J. Shun, K. Tangwongsan, "Multicore Triangle Computations Without Tuning", ICDE 2015.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3], "b": [2, 3, 3, 4]})
    >>> gf.triangle_count(ties, source="a", target="b").compute().triangles.tolist()
    [1, 1, 1, 0]
    """
    if previous is not None and (edges := changed_edges(g)) is not None:
        add_triangle_changes(g, edges, previous["triangles"])
        return Answer(previous)
    return Answer({"triangles": count_triangles(g.undirected).totals})
