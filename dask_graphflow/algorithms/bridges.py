"""Bridges: the edges without which a graph has more components.

A bridge is in no cycle, so it is in every spanning forest, and is the only edge of its biconnected
component. These are found as in :mod:`.articulation_points` [1]_. A second edge between the same vertices
closes a cycle, and neither of the two is a bridge.

.. [1] J. Westbrook, R. E. Tarjan, "Maintaining Bridge-Connected and Biconnected Components On-Line",
   Algorithmica 7, 1992.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.operators.access import send_home
from dask_graphflow.operators.view import GraphView

from .articulation_points import blocks_of


@algorithm(
    rows({"source": "id", "target": "id"}),
    directed=False,
    parallel="all",
    cost=Cost("searches", Cost.levels(), passes=1.5, step=Cost.FUSED, scratch=110),
)
def bridges(g: GraphView) -> Answer:
    """Return the bridges of a graph.

    Without a bridge, the graph has more connected components. The directions of edges are ignored.
    Self-loops and parallel edges are not bridges. Opposite edges count as parallel edges. If the edge list
    has each edge in both directions, use a :class:`~dask_graphflow.Graph` with ``directed=False`` and
    ``multi="first"``.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per bridge, sorted by source and target, with the columns ``source`` and ``target`` (the
        dtype of the ids). The source is the end with the smaller id.

    References
    ----------
    .. [1] J. Westbrook, R. E. Tarjan, "Maintaining Bridge-Connected and Biconnected Components On-Line",
       Algorithmica 7, 1992.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3, 4], "b": [2, 3, 3, 4, 5]})
    >>> gf.bridges(ties, source="a", target="b").compute()
       source  target
    0       3       4
    1       4       5
    """
    g = g.undirected
    blocks, _ = blocks_of(g)
    at, upper = blocks.bridges()
    lower = g.numbers[at]
    ends = [np.minimum(lower, upper), np.maximum(lower, upper)]
    return Answer(dict(zip(("source", "target"), send_home(g, ends, keys=2), strict=True)))
