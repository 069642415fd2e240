"""Strongly connected components: vertices that reach each other along the directions of the edges.

The components are found in three steps, after Multistep [2]_:

1. A vertex that no remaining vertex leads to is *trimmed*: it is a component of its own. Then others may be
   trimmed. The same is done with the edges reversed, and once more after the next step.
2. A forward and a backward search from a vertex of high degree meet in the component of that vertex [1]_,
   which is the giant component of most graphs.
3. All other components are found by *coloring*, in rounds. Each vertex has a random priority, and takes as
   its color the smallest priority among the vertices that reach it. A vertex that keeps its own priority is
   a root. The vertices of its color that reach the root are its component.

If a single member has few edges left before or after the second step, one thread finds the other components
by a depth-first search [4]_.

Two vertices of different colors are in different components, so later rounds ignore the edges between them.
In each round, the expected number of vertices that reach a vertex falls by half. So a long chain of
components needs few rounds, as in [3]_.

.. [1] L. K. Fleischer, B. Hendrickson, A. Pinar, "On Identifying Strongly Connected Components in
   Parallel", IPDPS Workshops 2000.
.. [2] G. M. Slota, S. Rajamanickam, K. Madduri, "BFS and Coloring-based Parallel Algorithms for Strongly
   Connected Components and Related Problems", IPDPS 2014.
.. [3] L. Wang, X. Dong, Y. Gu, Y. Sun, "Parallel Strong Connectivity Based on Faster Reachability", SIGMOD
   2023.
.. [4] D. J. Pearce, "A Space-Efficient Algorithm for Finding Strongly Connected Components", Information
   Processing Letters 116, 2016.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.algorithms.bfs import breadth_first
from dask_graphflow.algorithms.connected_components import connected_components
from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.operators.advance import fixpoint
from dask_graphflow.operators.peel import Peel
from dask_graphflow.operators.strong import search_strong
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

from .coloring import color_remaining

COUNT = EdgeOp("count", target="entering", signal="1 if src != dst else 0", slot="add")
NEVER = 2**62  # a vertex that is not to be removed gets this number of remaining edges


@algorithm(vertices({"component": "id"}), cost=Cost("labels", Cost.levels(2), passes=2))
def strongly_connected_components(g: GraphView) -> Answer:
    """Return the strongly connected component of each vertex.

    Two vertices are in the same component if each of them can be reached from the other one along the
    directions of the edges. In an undirected graph, these are the connected components.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` and ``component``, the smallest id
        of the component (both the dtype of the ids).

    References
    ----------
    .. [1] L. K. Fleischer, B. Hendrickson, A. Pinar, "On Identifying Strongly Connected Components in
       Parallel", IPDPS Workshops 2000.
    .. [2] G. M. Slota, S. Rajamanickam, K. Madduri, "BFS and Coloring-based Parallel Algorithms for
       Strongly Connected Components and Related Problems", IPDPS 2014.
    .. [3] L. Wang, X. Dong, Y. Gu, Y. Sun, "Parallel Strong Connectivity Based on Faster Reachability",
       SIGMOD 2023.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 2, 3, 3], "b": [2, 3, 2, 4]})
    >>> components = gf.strongly_connected_components(links, source="a", target="b")
    >>> components.compute().component.tolist()
    [1, 2, 2, 4]
    """
    if not g.directed:
        return connected_components(g)
    component = g.column(-1, g.index)
    back = g.T
    trimmed = _trim(g, back.degrees, component)
    if g.all_sum(trimmed) < g.count and not search_strong(g, component):
        _trim(back, g.degrees, component)  # no remaining vertex leads to a trimmed one
        _take_giant(g, back, component)
        if not search_strong(g, component):
            _trim(g, _count_entering(g, component), component)
            _trim(back, _count_entering(back, component), component)
            color_remaining(g, back, component)
    return Answer({"component": component})


def _take_giant(g: GraphView, back: GraphView, component: Any) -> None:
    """Find the component of a vertex that many edges enter and leave."""
    paths = g.degrees.astype("float64") * back.degrees * (component < 0)
    most = g.largest(paths)
    if most > 0:
        pivot = g.positions(g.numbers == _find_smallest(g, paths == most))
        reached = (breadth_first(g, pivot).level >= 0) & (breadth_first(back, pivot).level >= 0)
        component[reached] = _find_smallest(g, reached)


def _find_smallest(g: GraphView, among: Any) -> int:
    """Return the smallest number of some vertices of all members."""
    numbers = np.where(among, g.numbers, np.iinfo(g.index).max)
    return -int(g.all_reduce(most=-float(numbers.min()) if len(numbers) else -np.inf).most)


def _count_entering(g: GraphView, component: Any) -> Any:
    """Return how many edges lead from remaining vertices to each vertex, without self-loops."""
    entering, remaining = g.column(0, "int64"), g.positions(g.exists & (component < 0))
    fixpoint(g, COUNT, {"entering": entering}, g.frontier(remaining), max_iter=1)
    return entering


def _trim(g: GraphView, entering: Any, component: Any) -> int:
    """Remove vertices that no remaining vertex leads to, until there are none. Return their number."""
    entering = np.where(component < 0, entering, NEVER)  # not in place: degrees are cached
    trimmed = Peel(g, entering).remove(g.positions(g.exists & (entering == 0)), 0)
    component[trimmed] = g.numbers[trimmed]
    return len(trimmed)
