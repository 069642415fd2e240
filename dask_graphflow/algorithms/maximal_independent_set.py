"""Maximal independent set: vertices without an edge between them, to which no vertex can be added.

Every vertex has a random priority. The set is the one that a greedy search finds if it visits the vertices
by descending priority [1]_. Here all vertices decide as soon as they can. A vertex *waits* for each
neighbor of a higher priority. If one of them is selected, the vertex is excluded. If all of them are
excluded, the vertex is selected.

Priorities are a hash of the seed and of the vertex's rank among the sorted ids. So the set is the same for
every partitioning and number of threads.

.. [1] G. E. Blelloch, J. T. Fineman, J. Shun, "Greedy Sequential Maximal Independent Set and Matching are
   Parallel on Average", SPAA 2012.
"""

from __future__ import annotations

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Seed
from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.priorities import priorities
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.after import After
from dask_graphflow.programs.edge_op import EdgeOp

HIGHER = "priority[src] > priority[dst]"
WAIT = EdgeOp("wait", target="waits", signal=f"1 if {HIGHER} else 0", slot="add")
RELEASE = EdgeOp("release", target="waits", signal=f"-1 if {HIGHER} else 0", slot="add")
EXCLUDE = EdgeOp("exclude", target="excluded", signal="1", slot="max")
READY = After("waits[dst] == 0 and excluded[dst] == 0")


@algorithm(
    vertices({"selected": "bool"}),
    directed=False,
    cost=Cost("labels", Cost.rounds(0.05, 0.05), passes=1.2, rows=1, copies=1),
)
def maximal_independent_set(g: GraphView, *, seed: Seed = 0) -> Answer:
    """Return a maximal independent set of the vertices.

    No edge connects two selected vertices, and every vertex that is not selected has a selected neighbor.
    The directions of edges and self-loops are ignored, so a vertex without other edges is always selected.
    The set is the one that a greedy search finds if it visits the vertices in a random order.

    Parameters
    ----------
    seed : int
        Chooses the random order; 0 by default. The order depends only on the seed and on the order of the
        ids.

    References
    ----------
    .. [1] G. E. Blelloch, J. T. Fineman, J. Shun, "Greedy Sequential Maximal Independent Set and Matching
       are Parallel on Average", SPAA 2012.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 1, 1], "b": [2, 3, 4, 5]})
    >>> gf.maximal_independent_set(ties, source="a", target="b").compute().selected.tolist()
    [False, True, True, True, True]
    """
    g = g.undirected
    priority, waits = priorities(g.ranks, seed), g.column(0, "int64")
    excluded, selected = g.column(0, "int32"), g.column(False, "bool")
    Advance(g, WAIT, {"waits": waits, "priority": priority}, own_changes=True).pull(g.everyone())
    columns = {"waits": waits, "priority": priority, "excluded": excluded}
    release = Advance(g, RELEASE, columns, own_changes=True, after=READY)
    exclude = Advance(g, EXCLUDE, {"excluded": excluded}, own_changes=True)
    ready = g.frontier((g.exists & (waits == 0)).nonzero()[0])
    while ready:
        selected[ready.vertices] = True
        ready = release.push(exclude.push(ready))
    return Answer({"selected": selected})
