"""The shortest path between the vertices of each of some pairs.

A pair is searched from both ends. Many pairs with the same source share a search, which ends when it has
reached their targets (Dijkstra's algorithm). The path is the one that leads back along the predecessors of
:func:`.sssp`.
"""

from __future__ import annotations

from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.vertex_options import VertexPairs
from dask_graphflow.operators.routes import find_shortest
from dask_graphflow.operators.view import GraphView

COLUMNS = {"source": "id", "target": "id", "length": "float64", "step": "int32", "vertex": "id"}


@algorithm(rows(COLUMNS), weights="optional", supersteps=False)
def shortest_paths(g: GraphView, pairs: Annotated[Any, VertexPairs()]) -> Answer:
    """Return the vertices on the shortest path of each pair; see :meth:`.Graph.shortest_paths`."""
    found = find_shortest(g, pairs)._asdict()
    return Answer({name: found[name] for name in COLUMNS})
