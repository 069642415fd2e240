"""Bipartite matching: as many edges as possible without a common vertex, or those of the largest weight.

Without weights, each vertex first takes the free neighbor with the fewest edges. The matching is then
augmented along disjoint shortest paths until no path is left [1]_. With weights, vertices first bid for
their neighbors [2]_, and then those without one look for the shortest augmenting path [3]_. Weights are
whole multiples of a unit, so all sums are exact.

Every member has all edges, and finds the same matching: vertices and their edges are followed in the order
of the ids.

.. [1] J. E. Hopcroft, R. M. Karp, "An n^(5/2) Algorithm for Maximum Matchings in Bipartite Graphs", SIAM
   Journal on Computing 2(4), 1973.
.. [2] D. P. Bertsekas, "The Auction Algorithm: A Distributed Relaxation Method for the Assignment Problem",
   Annals of Operations Research 14, 1988.
.. [3] R. Jonker, A. Volgenant, "A Shortest Augmenting Path Algorithm for Dense and Sparse Linear Assignment
   Problems", Computing 38, 1987.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.operators.matching import match
from dask_graphflow.operators.view import GraphView


def _columns(spec: GraphSpec, options: Mapping[str, Any]) -> dict[str, Any]:
    return {"source": "id", "target": "id"} | (
        {"weight": spec.weight_dtype} if spec.weighted else {}
    )


@algorithm(
    rows(_columns),
    weights="optional",
    cost=Cost("paths", 1, passes=4, rows=1, copies=1, scratch=96, edge=16),
)
def bipartite_matching(g: GraphView) -> Answer:
    """Return a maximum matching of a bipartite graph.

    A matching is a set of edges of which no two have a vertex in common, for example one job for each
    person and one person for each job. Without weights, the result has as many edges as possible. With
    weights, the sum of its weights is as large as possible; it can then have fewer edges. Weights of 0 are
    not matched.

    The edges of a directed graph lead from one side to the other. In an undirected graph, the sides are
    found, and the smallest vertex of each connected component is a source.

    Integers are added up exactly. Floats are first rounded to whole multiples of a unit, which is a power
    of 2: the number of edges times the largest weight is at most 2**61 units. So the rounding does not
    change whole numbers and short binary fractions.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per edge of the matching, sorted by source. The columns are ``source`` and ``target`` (the
        dtype of the ids) and, if the graph has weights, ``weight`` (the dtype of the weights). Of parallel
        edges, the heaviest counts.

    Raises
    ------
    EdgeListError
        The graph is not bipartite, or an edge of a directed graph begins and another one ends at the same
        vertex. Raised when the result is computed.
    WeightError
        A weight is negative, infinite or NaN, the sum of integers is above 2**61, or a float is below half
        of the unit. Raised when the result is computed.
    GraphMemoryError
        The graph has several shards, and a worker has no room for a copy of all edges. Raised when the
        result is computed.

    References
    ----------
    .. [1] J. E. Hopcroft, R. M. Karp, "An n^(5/2) Algorithm for Maximum Matchings in Bipartite Graphs",
       SIAM Journal on Computing 2(4), 1973.
    .. [2] D. P. Bertsekas, "The Auction Algorithm: A Distributed Relaxation Method for the Assignment
       Problem", Annals of Operations Research 14, 1988.
    .. [3] R. Jonker, A. Volgenant, "A Shortest Augmenting Path Algorithm for Dense and Sparse Linear
       Assignment Problems", Computing 38, 1987.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> can = pd.DataFrame(
    ...     {"who": ["ada", "ada", "bob", "eve"], "job": ["code", "test", "code", "code"]}
    ... )
    >>> gf.bipartite_matching(can, source="who", target="job").compute()
      source target
    0    ada   test
    1    eve   code
    >>> paid = can.assign(score=[5, 3, 3, 4])
    >>> gf.bipartite_matching(paid, source="who", target="job", weight="score").compute()
      source target  weight
    0    ada   test       3
    1    eve   code       4
    """
    columns = match(g)
    return Answer(dict(zip(("source", "target", "weight"), columns, strict=False)))
