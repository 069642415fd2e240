"""Topological order: the generation of each vertex of a directed graph without cycles.

The vertices that no edge enters are generation 0. They are removed with their edges. Then the vertices that
no remaining edge enters are the next generation, and so on [1]_. So the generation of a vertex is the
number of edges of the longest path that leads to it. One pass over all edges counts those that enter each
vertex. After that, each edge is followed once. If a single member has a small graph, one thread removes all
generations, because they often have few vertices.

Vertices on cycles, and those that a cycle leads to, are never removed. Then the strongly connected
components show a vertex on a cycle.

.. [1] A. B. Kahn, "Topological Sorting of Large Networks", Communications of the ACM 5, 1962.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.exceptions import CycleError
from dask_graphflow.operators.access import count_entering, gather
from dask_graphflow.operators.acyclic import number_generations
from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.advance.direction import Direction
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import sum_loops
from dask_graphflow.programs.after import After
from dask_graphflow.programs.edge_op import EdgeOp

from .strongly_connected_components import strongly_connected_components

REMOVE = EdgeOp("remove", target="entering", signal="-1", slot="add")
# A vertex that no remaining edge enters is in the generation with the number of the superstep.
NEXT = After("entering[dst] == 0", kept={"generation": "int32(step)"})


@algorithm(
    vertices({"generation": "int32"}),
    cost=Cost("labels", Cost.rounds(0.2, 2), passes=2, step=Cost.FUSED),
)
def topological_order(g: GraphView) -> Answer:
    """Return the generation of each vertex in the topological order of a directed graph without cycles.

    The generation of a vertex is the number of edges of the longest path that leads to it. Every edge leads
    to a later generation, so the vertices sorted by generation and id are in topological order, and the
    vertices of a generation do not depend on each other. Weights and parallel edges do not change the
    result.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
        ``generation`` (int32, 0 for vertices that no edge enters).

    Raises
    ------
    CycleError
        The graph has a cycle. A self-loop is a cycle, and so is an edge without a direction. Raised when
        the result is computed.

    References
    ----------
    .. [1] A. B. Kahn, "Topological Sorting of Large Networks", Communications of the ACM 5, 1962.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> tasks = pd.DataFrame({"first": [1, 1, 2, 5], "then": [2, 3, 3, 3]})
    >>> found = gf.topological_order(tasks, source="first", target="then").compute()
    >>> found.sort_values(["generation", "vertex"])
       vertex  generation
    0       1           0
    3       5           0
    1       2           1
    2       3           2
    """
    everyone, generation = g.everyone(), g.column(-1, "int32")
    with g.superstep("push", len(everyone), everyone.leaving):
        entering = count_entering(g)
    ready = g.frontier(np.flatnonzero(g.exists & (entering == 0)))
    if not number_generations(g, ready.vertices, entering, generation):
        generation[ready.vertices] = 0
        remove = Advance(g, REMOVE, {"entering": entering, "generation": generation}, after=NEXT)
        rule = Direction("push", g)
        while ready:
            ready, _ = remove.push_on(ready, rule)
    _check_all_removed(g, generation)
    return Answer({"generation": generation})


def _check_all_removed(g: GraphView, generation: Any) -> None:
    """Raise in all members if a vertex was not removed. All members call it."""
    if not g.count_true(g.exists & (generation < 0)):
        return
    component = strongly_connected_components(g).columns["component"]
    several = g.exists & (component != g.numbers)
    looped = g.positions((sum_loops(g, None) > 0) & g.exists)
    on_cycles = gather(g, np.concatenate([component[several], g.numbers[looped]]))
    first = g.show(on_cycles.min()[None])
    raise CycleError(
        f"the graph has a cycle through vertex {first}; only a graph without cycles has a topological "
        "order. Remove an edge of each cycle: strongly_connected_components finds the vertices that are "
        "on cycles together"
    )
