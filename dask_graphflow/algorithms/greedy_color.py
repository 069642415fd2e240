"""Greedy coloring: neighbors get different colors, and each vertex the smallest color that is left.

Vertices are colored by descending number of neighbors, and those of equal number in a random order. Each
takes the smallest color that no neighbor before it has. A single member visits its vertices in one call.
Several members color all vertices at once that *wait* for no other vertex, because all neighbors before
them have colors [1]_. Both give the colors of a sequential greedy coloring in this order.

A vertex collects the colors of its neighbors as bits of a 64-bit word, its *window*. At first, it stands
for the colors 0 to 63. When a window is full, the vertex moves it on by 64 colors.

.. [1] M. T. Jones, P. E. Plassmann, "A Parallel Graph Coloring Heuristic", SIAM Journal on Scientific
   Computing 14, 1993.
.. [2] W. Hasenplaugh, T. Kaler, T. B. Schardl, C. E. Leiserson, "Ordering Heuristics for Parallel Graph
   Coloring", SPAA 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Seed
from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.priorities import priorities, take_first_free
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

WINDOW = 64  # colors
FULL = 2**64 - 1

BEFORE = "degree[src] > degree[dst] or degree[src] == degree[dst] and priority[src] > priority[dst]"
WAIT = EdgeOp("wait", target="waits", signal=f"1 if {BEFORE} else 0", slot="add")
RELEASE = EdgeOp("release", target="waits", signal="-1", slot="add")
INSIDE = f"color[src] >= base[dst] and color[src] - base[dst] < {WINDOW}"
BIT = f"uint64(1) << uint64(color[src] - base[dst]) if {INSIDE} else uint64(0)"
USE = EdgeOp("use", target="used", signal=BIT, slot="or")
COLLECT = EdgeOp("collect", target="used", signal=BIT, slot="or", cond="moved[dst]")


@algorithm(
    vertices({"color": "int32"}),
    directed=False,
    networkx={"greedy_color": "color"},
    cost=Cost(
        "labels", Cost.rounds(3, 0.3), passes=1, step=Cost.FUSED, rows=1, copies=1, scratch=80
    ),
)
def greedy_color(g: GraphView, *, seed: Seed = 0) -> Answer:
    """Return a color for each vertex, such that neighbors have different colors.

    Vertices are colored by descending number of neighbors. Each vertex takes the smallest color that none
    of its neighbors has yet. So there are at most as many colors as the largest number of neighbors, plus
    one. Fewer colors may be possible. The directions of edges, parallel edges and self-loops are ignored.
    Colors are numbered from 0.

    Parameters
    ----------
    seed : int
        Chooses the random order of vertices with the same number of neighbors; 0 by default. The order
        depends only on the seed and on the order of the ids.

    References
    ----------
    .. [1] M. T. Jones, P. E. Plassmann, "A Parallel Graph Coloring Heuristic", SIAM Journal on Scientific
       Computing 14, 1993.
    .. [2] W. Hasenplaugh, T. Kaler, T. B. Schardl, C. E. Leiserson, "Ordering Heuristics for Parallel
       Graph Coloring", SPAA 2014.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> conflicts = pd.DataFrame({"a": [1, 1, 1, 2], "b": [2, 3, 4, 3]})
    >>> gf.greedy_color(conflicts, source="a", target="b").compute().color.tolist()
    [0, 1, 2, 1]
    """
    g = g.undirected.simple
    priority = priorities(g.ranks, seed)
    color = take_first_free(g, priority)
    return Answer({"color": _color_together(g, priority) if color is None else color})


def _color_together(g: GraphView, priority: Any) -> Any:
    """Return the color of each owned vertex, -1 for other positions. All members call it."""
    waits, color = g.column(0, "int64"), g.column(-1, "int32")
    used, base, moved = g.column(0, "uint64"), g.column(0, "int32"), g.column(False, "bool")
    windows = {"used": used, "base": base, "color": color, "moved": moved}
    order = {"degree": g.degrees, "priority": priority}
    Advance(g, WAIT, {"waits": waits, **order}, own_changes=True).pull(g.everyone())
    release = Advance(g, RELEASE, {"waits": waits}, own_changes=True)
    use, collect = Advance(g, USE, windows, own_changes=True), Advance(g, COLLECT, windows)
    ready = g.frontier((g.exists & (waits == 0)).nonzero()[0])
    while ready:
        at = ready.vertices
        full = at[used[at] == FULL]
        while g.all_sum(len(full)):
            base[full] += WINDOW
            used[full], moved[full] = 0, True
            collect.pull(g.everyone())
            moved[full] = False
            full = full[used[full] == FULL]
            # The windows were changed here, and an Advance with `own_changes` does not look for that.
            use = Advance(g, USE, windows, own_changes=True)
        color[at] = base[at] + _lowest_zero(used[at])
        use.push(ready)
        # From now on, neighbors that have a color have a negative count, so they are not ready again.
        released = release.push(ready).vertices
        ready = g.frontier(released[(waits[released] == 0) & (color[released] < 0)])
    return color


def _lowest_zero(words: Any) -> Any:
    """Return the position of the lowest bit that is 0 in each word."""
    lowest = ~words & (words + np.uint64(1))
    return np.frexp(lowest.astype("float64"))[1] - 1
