"""Motifs: how many connected induced patterns of three or four vertices contain each vertex.

Patterns are first counted with further edges allowed, by formulas from degrees, triangles, 4-cycles and
cliques [1]_, [2]_. Vertices that induce one pattern contain each other pattern a certain number of times.
So the numbers of induced patterns follow from these counts by subtraction.

.. [1] N. K. Ahmed, J. Neville, R. A. Rossi, N. Duffield, "Efficient Graphlet Counting for Large Networks",
   ICDM 2015.
.. [2] A. Pinar, C. Seshadhri, V. Vishal, "ESCAPE: Efficiently Counting All 5-Vertex Subgraphs", WWW 2017.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count
from dask_graphflow.exceptions import GraphflowError
from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.intersect import count_triangles
from dask_graphflow.operators.motifs import count_four_vertices
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

SUM = EdgeOp("sum_over_neighbors", target="total", signal="value[src]", slot="add")
LARGEST = 2.0**59  # of a count with further edges allowed, so that a few of them can be added up
HALF = 2**31  # a value is summed in two parts, each of fewer bits
MOTIFS = {3: ("path", "triangle"), 4: ("star", "path", "cycle", "paw", "diamond", "clique")}


def _columns(spec: Any, options: Mapping[str, Any]) -> dict[str, str]:
    return dict.fromkeys(MOTIFS[options["size"]], "int64")


@algorithm(
    vertices(_columns),
    directed=False,
    cost=Cost("labels", 2, passes=8, rows=1, copies=1, scratch=120),
)
def motif_counts(g: GraphView, *, size: Annotated[int, Count(least=3, most=4)] = 3) -> Answer:
    """Return how many connected induced patterns of each kind contain each vertex.

    An induced pattern consists of some vertices, and of all edges between them. The directions of edges,
    self-loops and parallel edges are ignored. Each pattern counts at all of its vertices, so the number of
    patterns in the graph is the sum of a column divided by `size`.

    Parameters
    ----------
    size : int
        Number of vertices of the patterns, 3 or 4; 3 by default. For 4, each worker needs memory for all
        edges, and the work of a GPU is done by the CPU.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the column ``vertex`` (the dtype of the ids), and a
        column for each pattern (int64). For a size of 3, these are ``path`` and ``triangle``. For 4, they
        are ``star``, ``path``, ``cycle``, ``paw`` (a triangle with a further edge), ``diamond`` (two
        triangles that share an edge) and ``clique``.

    Raises
    ------
    GraphflowError
        A vertex is in more than about 10**17 patterns. Raised when the result is computed.

    References
    ----------
    .. [1] N. K. Ahmed, J. Neville, R. A. Rossi, N. Duffield, "Efficient Graphlet Counting for Large
       Networks", ICDM 2015.
    .. [2] A. Pinar, C. Seshadhri, V. Vishal, "ESCAPE: Efficiently Counting All 5-Vertex Subgraphs", WWW
       2017.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3, 4], "b": [2, 3, 3, 4, 5]})
    >>> gf.motif_counts(ties, source="a", target="b", size=4).compute()
       vertex  star  path  cycle  paw  diamond  clique
    0       1     0     1      0    1        0       0
    1       2     0     1      0    1        0       0
    2       3     0     2      0    1        0       0
    3       4     0     2      0    1        0       0
    4       5     0     2      0    0        0       0
    """
    g = g.undirected.simple
    return Answer(_of_three(g) if size == 3 else _of_four(g))


def _of_three(g: GraphView) -> dict[str, Any]:
    degrees, triangles = g.degrees, count_triangles(g).totals
    centers = _product(g, degrees, degrees - 1) // 2
    return {
        "path": centers + _over_neighbors(g, degrees - 1) - 3 * triangles,
        "triangle": triangles,
    }


def _of_four(g: GraphView) -> dict[str, Any]:
    """Count patterns with further edges allowed, and then leave out those that have further edges."""
    others = g.degrees - 1
    second = _over_neighbors(g, others)  # walks of two edges that do not return
    centers = _product(g, g.degrees * others // 2, others - 1) // 3
    star = centers + _over_neighbors(g, _product(g, others, others - 1) // 2)
    # A vertex is the end of some paths, and inside of others. Walks that return are left out here, and
    # those that close a triangle once these are known.
    walks = _over_neighbors(g, second) + _product(g, others, second) - g.degrees * others

    found = count_four_vertices(g)
    triangles = found.triangles
    path = walks - 4 * triangles
    in_paw = triangles * (others - 1) + found.tails
    paw = in_paw + _over_neighbors(g, triangles) - 2 * triangles
    diamond = found.chords + found.opposite - triangles
    clique, cycle = found.cliques, found.cycles

    diamond -= 6 * clique
    cycle -= diamond + 3 * clique
    paw -= 4 * diamond + 12 * clique
    path -= 4 * cycle + 2 * paw + 6 * diamond + 12 * clique
    star -= paw + 2 * diamond + 4 * clique
    counts = star, path, cycle, paw, diamond, clique
    return dict(zip(MOTIFS[4], counts, strict=True))


def _over_neighbors(g: GraphView, values: Any) -> Any:
    """Return the sum of the values of each vertex's neighbors."""
    total, more = g.column(0, "int64"), g.column(0, "int64")
    low, high = values % HALF, values // HALF
    Advance(g, SUM, {"value": low, "total": total}).pull(g.everyone())
    if g.largest(high):
        Advance(g, SUM, {"value": high, "total": more}).pull(g.everyone())
        _check(g, more * float(HALF) + total)
    return more * HALF + total


def _product(g: GraphView, one: Any, other: Any) -> Any:
    _check(g, one.astype("float64") * other)
    return one * other


def _check(g: GraphView, counts: Any) -> None:
    if (largest := g.largest(abs(counts))) > LARGEST:
        raise GraphflowError(
            f"a vertex is in about {largest:.2g} patterns, and the largest number that can be counted is "
            f"{LARGEST:.2g}. Leave out the vertices with the most neighbors, or give size=3"
        )
