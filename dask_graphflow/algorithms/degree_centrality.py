"""Degree centrality: the degree of each vertex, divided by the largest that a simple graph allows."""

from __future__ import annotations

from typing import Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

LOOPS = EdgeOp("loops", target="loops", signal="1 if src == dst else 0", slot="add")


def _columns(spec: GraphSpec, options: Any) -> dict[str, str]:
    prefixes = ["", "in_", "out_"] if spec.directed else [""]
    return {f"{prefix}degree_centrality": "float64" for prefix in prefixes}


NETWORKX = ("degree_centrality", "in_degree_centrality", "out_degree_centrality")


@algorithm(
    vertices(_columns),
    supersteps=False,
    cost=Cost("labels", 0, passes=0.6),
    networkx={name: name for name in NETWORKX},
)
def degree_centrality(g: GraphView) -> Answer:
    """Return the degree centrality of each vertex.

    This is the degree of the vertex divided by n - 1, the number of other vertices. It is at most 1 unless
    there are self-loops or parallel edges. A self-loop adds 2 to a degree, as it has both ends there. In a
    graph with a single vertex, all values are 1.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex. The columns are ``vertex`` (the dtype of the ids) and
        ``degree_centrality`` (float64). A directed graph also has ``in_degree_centrality`` and
        ``out_degree_centrality`` (float64), which sum to it.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2], "b": [2, 3, 3]})
    >>> gf.degree_centrality(ties, source="a", target="b").compute()
       vertex  degree_centrality  in_degree_centrality  out_degree_centrality
    0       1                1.0                   0.0                    1.0
    1       2                1.0                   0.5                    0.5
    2       3                1.0                   1.0                    0.0
    """
    exists, others = g.exists, g.count - 1

    def central(degrees: Any) -> Any:
        return degrees / others if others > 0 else exists.astype("float64")

    if not g.directed:
        degrees, (at, loops) = g.degrees, _self_loops(g)
        if len(at):
            degrees = degrees.copy()
            degrees[at] += loops
        return Answer({"degree_centrality": central(degrees)})
    entering, leaving = g.T.degrees, g.degrees
    return Answer(
        {
            "degree_centrality": central(entering + leaving),
            "in_degree_centrality": central(entering),
            "out_degree_centrality": central(leaving),
        }
    )


def _self_loops(g: GraphView) -> tuple[Any, Any]:
    """Return the positions of the vertices with self-loops, and their numbers of self-loops.

    They are cached with the graph.
    """

    def make() -> tuple[Any, Any]:
        loops = g.column(0, "int64")
        Advance(g, LOOPS, {"loops": loops}).pull(g.everyone())
        at = loops.nonzero()[0]
        return at, loops[at]

    found: tuple[Any, Any] = g.keep("self-loops", make)
    return found
