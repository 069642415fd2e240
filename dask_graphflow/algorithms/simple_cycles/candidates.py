"""The vertices that can be on short cycles."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.algorithms.bfs import breadth_first
from dask_graphflow.algorithms.core_number import core_vertices
from dask_graphflow.algorithms.strongly_connected_components import strongly_connected_components
from dask_graphflow.operators.access import combine, fetch
from dask_graphflow.operators.edge_set import repeated_neighbors
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import sum_loops


def near(g: GraphView, through: Any, length: int) -> Any:
    """Return which owned positions have a closed walk of at most `length` edges to some vertices."""
    far = length - 1 if g.directed else length // 2
    there = breadth_first(g, through, depth_limit=far).level
    back = breadth_first(g.T, through, depth_limit=far).level if g.directed else there
    return (there >= 0) & (back >= 0) & (there + back <= length)


def on_cycles(g: GraphView, least: int) -> tuple[Any, Any]:
    """Return which owned positions can be on cycles, and a group for each, which no cycle leaves.

    Cycles have at least so many edges.
    """
    if g.directed:
        component = strongly_connected_components(g).columns["component"]
        size = g.column(0, "int64")
        own = np.flatnonzero(g.exists)
        combine(g, size, component[own], np.ones_like(own), "add")
        inside = g.exists.copy()
        inside[own] = fetch(g, size, component[own]) > 1
    else:
        component, inside = None, core_vertices(g, 2)
        if least <= 2:
            inside |= repeated_neighbors(g)
    if least == 1:
        inside |= g.exists & (sum_loops(g, None) > 0)
    return inside, component
