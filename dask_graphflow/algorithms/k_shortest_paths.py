"""The k shortest simple paths between the vertices of each of some pairs.

The paths of a pair that have not been found yet are divided into sets: the paths that begin like a path
that was found, up to some vertex, and then continue otherwise [1]_. Only sets that the last path has
changed are searched again [2]_. A search for the shortest path of a set is directed by lower bounds, the
distances to the target in the whole graph, and it ends when the path cannot be among the k shortest.

Paths are sorted by their lengths, then by the sequence of their ids. A length is summed along its path,
starting at the source, so the result has the same bits for every partitioning.

.. [1] J. Y. Yen, "Finding the K Shortest Loopless Paths in a Network", Management Science 17(11), 1971.
.. [2] E. L. Lawler, "A Procedure for Computing the K Best Solutions to Discrete Optimization Problems and
   Its Application to the Shortest Path Problem", Management Science 18(7), 1972.
"""

from __future__ import annotations

from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count
from dask_graphflow.declarations.vertex_options import VertexPairs
from dask_graphflow.operators.routes import find_alternatives
from dask_graphflow.operators.view import GraphView

MOST = 2**62  # more paths than there is room for
COLUMNS = {"source": "id", "target": "id", "rank": "int32", "length": "float64", "step": "int32"}


@algorithm(
    rows({**COLUMNS, "vertex": "id"}),
    weights="optional",
    supersteps=False,
    cost=Cost("paths", 1, passes=0.5, sparse=3, sources=1, rows=1, copies=1, scratch=80),
)
def k_shortest_paths(
    g: GraphView,
    pairs: Annotated[Any, VertexPairs()],
    *,
    k: Annotated[int, Count()],
) -> Answer:
    """Return the `k` shortest paths without repeated vertices between the vertices of each pair.

    The length of a path is the sum of the weights of its edges, or its number of edges if the graph has no
    weights. A path is a sequence of vertices, so parallel edges do not make several paths: the lightest of
    them counts. Edges with infinite weights are not followed.

    Parameters
    ----------
    pairs : DataFrame
        The pairs: the first two columns are ids (if an id has several columns, those of the first vertex
        and then those of the last). A pair that is given several times counts once.
    k : int
        Number of paths per pair. A pair with fewer paths has all of them.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex of a path, sorted by source, target, rank and step. The columns are ``source``
        and ``target`` (the dtype of the ids), ``rank`` (int32, 0 for the shortest path), ``length``
        (float64, the length of the whole path), ``step`` (int32, 0 at the source) and ``vertex`` (the dtype
        of the ids). Paths of the same length are sorted by the sequence of their ids. Lengths are sums of
        floats, so the order of two paths can depend on how their sums are rounded. The path from a vertex
        to itself has one row, and a pair that no path connects has none.

    Raises
    ------
    WeightError
        A weight is negative or NaN. Raised when the result is computed.
    GraphMemoryError
        The graph has several shards, and a worker has no room for a copy of all edges. Raised when the
        result is computed.

    References
    ----------
    .. [1] J. Y. Yen, "Finding the K Shortest Loopless Paths in a Network", Management Science 17(11), 1971.
    .. [2] E. L. Lawler, "A Procedure for Computing the K Best Solutions to Discrete Optimization Problems
       and Its Application to the Shortest Path Problem", Management Science 18(7), 1972.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> roads = pd.DataFrame({"a": [1, 1, 2, 2, 5], "b": [2, 5, 5, 7, 7], "km": [1, 4, 2, 6, 1]})
    >>> trips = pd.DataFrame({"start": [1], "end": [7]})
    >>> ends = {"source": "a", "target": "b", "weight": "km"}
    >>> gf.k_shortest_paths(roads, **ends, pairs=trips, k=2).compute()
       source  target  rank  length  step  vertex
    0       1       7     0     4.0     0       1
    1       1       7     0     4.0     1       2
    2       1       7     0     4.0     2       5
    3       1       7     0     4.0     3       7
    4       1       7     1     5.0     0       1
    5       1       7     1     5.0     1       5
    6       1       7     1     5.0     2       7
    """
    return Answer(find_alternatives(g, pairs, min(k, MOST))._asdict())
