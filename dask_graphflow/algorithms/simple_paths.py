"""Simple paths: all ways from one vertex to another that have few edges and visit no vertex twice.

Searches from all first and last vertices leave out the vertices that are too far away. The remaining edges
are gathered by all members. Then a depth-first search for each pair only follows edges from which it knows
that there is a short enough walk to the last vertex [1]_; see :mod:`.simple_cycles`.

.. [1] S. Sun, Y. Chen, B. He, B. Hooi, "PathEnum: Towards Real-Time Hop-Constrained s-t Path Enumeration",
   SIGMOD 2021.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count
from dask_graphflow.declarations.vertex_options import VertexPairs
from dask_graphflow.operators.bounded_paths.paths import find_paths
from dask_graphflow.operators.gathered import gather_edges
from dask_graphflow.operators.view import GraphView

from .bfs import breadth_first


@algorithm(
    rows({"source": "id", "target": "id", "path": "int64", "step": "int32", "vertex": "id"}),
    cost=Cost("searches", Cost.levels(2), passes=3, rows=1, copies=1, edge=48),
)
def simple_paths(
    g: GraphView,
    pairs: Annotated[Any, VertexPairs()],
    *,
    max_length: Annotated[int, Count()],
) -> Answer:
    """Return the simple paths of at most so many edges between the vertices of pairs.

    A simple path visits no vertex twice. Paths are sequences of vertices, so parallel edges do not make
    another path. The only path from a vertex to itself is the vertex alone.

    Parameters
    ----------
    pairs : DataFrame
        The ids of the first vertex, then those of the last vertex of paths, in the first columns. A pair
        that is given twice is in the result twice.
    max_length : int
        Maximum number of edges of a path; 1 or more. The number of paths, and the time, can grow by a
        factor with every additional edge.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex of a path, sorted by path, then by step. The columns are ``source`` and
        ``target`` (the pair, of the dtype of the ids), ``path`` (int64, from 0 on, in the order of the
        pairs; the shorter paths of a pair come first, and paths of the same length are sorted by their
        vertices), ``step`` (int32, 0 at the source) and ``vertex`` (the dtype of the ids). A pair without
        such a path has no row.

    Raises
    ------
    GraphMemoryError
        There are more paths than memory has room for, or the edges that can be on paths do not fit in the
        memory of each member. Paths are counted before memory is used for them. Raised when the result is
        computed.

    References
    ----------
    .. [1] S. Sun, Y. Chen, B. He, B. Hooi, "PathEnum: Towards Real-Time Hop-Constrained s-t Path
       Enumeration", SIGMOD 2021.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2, 3], "b": [2, 3, 3, 4]})
    >>> ends = pd.DataFrame({"from": [1], "to": [4]})
    >>> gf.simple_paths(links, source="a", target="b", pairs=ends, max_length=3).compute()
       source  target  path  step  vertex
    0       1       4     0     0       1
    1       1       4     0     1       3
    2       1       4     0     2       4
    3       1       4     1     0       1
    4       1       4     1     1       2
    5       1       4     1     2       3
    6       1       4     1     3       4
    """
    there, back = (
        breadth_first(side, _own(g, places), depth_limit=max_length).level
        for side, places in zip((g, g.T), pairs, strict=True)
    )
    near = (there >= 0) & (back >= 0) & (there + back <= max_length)
    columns = find_paths(g, gather_edges(g, near), pairs, max_length)
    return Answer(dict(zip(("source", "target", "path", "step", "vertex"), columns, strict=True)))


def _own(g: GraphView, places: Any) -> Any:
    """Return the positions of this member's vertices at some places, each once."""
    at = places - g.member.shard.low
    return np.unique(at[(at >= 0) & (at < g.owned)]).astype(g.index)
