"""Articulation points: the vertices without which a graph has more components.

A breadth-first search from a vertex of each component gives a spanning forest. Its edges are grouped into
blocks, one for each biconnected component; see :class:`.Blocks` [1]_. A vertex is an articulation point if
it is in several blocks. Each block has a top, its vertex that is nearest to the root. A vertex is also in
the block of the edge to its parent, so it is an articulation point if it is the top of any block. A root
has no parent, so it has to be the top of two blocks.

.. [1] J. Westbrook, R. E. Tarjan, "Maintaining Bridge-Connected and Biconnected Components On-Line",
   Algorithmica 7, 1992.
"""

from __future__ import annotations

from typing import Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.operators.forests.connected import find_components
from dask_graphflow.operators.forests.cycle_blocks import Blocks
from dask_graphflow.operators.view import GraphView

from .bfs import breadth_first


@algorithm(
    vertices({"articulation_point": "bool"}),
    directed=False,
    cost=Cost("searches", Cost.levels(), passes=1.5, step=Cost.FUSED, scratch=110),
)
def articulation_points(g: GraphView) -> Answer:
    """Return whether each vertex is an articulation point.

    Without an articulation point and its edges, the graph has more connected components. The directions of
    edges are ignored. Self-loops and parallel edges do not change the result.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
        ``articulation_point`` (bool).

    References
    ----------
    .. [1] J. Westbrook, R. E. Tarjan, "Maintaining Bridge-Connected and Biconnected Components On-Line",
       Algorithmica 7, 1992.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3, 4], "b": [2, 3, 3, 4, 5]})
    >>> found = gf.articulation_points(ties, source="a", target="b").compute()
    >>> found.vertex[found.articulation_point].tolist()
    [3, 4]
    """
    blocks, is_root = blocks_of(g.undirected)
    return Answer({"articulation_point": blocks.tops() > is_root})


def blocks_of(g: GraphView) -> tuple[Blocks, Any]:
    """Return the blocks of an undirected graph, and which owned vertices are roots of the search."""
    is_root = g.exists & (find_components(g) == g.numbers)
    search = breadth_first(g, is_root.nonzero()[0])
    return Blocks(g, search.level, search.parents()), is_root
