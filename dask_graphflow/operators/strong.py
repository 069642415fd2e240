"""The strongly connected components of what is left of a graph, if that is small."""

from __future__ import annotations

from typing import Any

from dask_graphflow.kernels import is_on_disk
from dask_graphflow.kernels.strong import find_strong
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
    member = g.member
    rows = member.rows("out")
    if not member.alone or member.shard.on_device or is_on_disk(rows.ends):
        return False
    remaining = g.positions(g.exists & (component < 0))
    edges = int(g.degrees[remaining].sum())
    if edges > FEW:
        return False
    with g.superstep("push", len(remaining), edges):
        find_strong(rows, remaining, component)
    return True
