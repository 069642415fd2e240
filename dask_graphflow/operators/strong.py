"""The strongly connected components of the remaining vertices, if they have few edges."""

from __future__ import annotations

from typing import Any

from dask_graphflow.kernels import strong as strong_kernels
from dask_graphflow.operators.view import GraphView

FEW = 1 << 19  # edges that one thread follows faster than all threads in supersteps


def search_strong(g: GraphView, component: Any) -> bool:
    """Find the components of all vertices without one, if a single member has few of their edges.

    A depth-first search by one thread takes each edge once, while a search of all threads takes a superstep
    per level. If the result is false, nothing has changed.

    Parameters
    ----------
    g : GraphView
    component : array of index, shape (V_p,)
        The smallest number of the component of each vertex, and negative for vertices without a component.
    """
    if not g.member.alone_in_memory:
        return False
    rows = g.member.rows("out")
    remaining = g.positions(g.exists & (component < 0))
    edges = int(g.degrees[remaining].sum())
    if edges > FEW:
        return False
    with g.superstep("push", len(remaining), edges):
        strong_kernels.of(rows.ends).find_strong(rows, remaining, component)
    return True
