"""Label propagation: communities of vertices that adopt the label that most of their neighbors have.

The result has a row for every vertex with its label, which is the id of a vertex.

Every vertex starts with its own id as its label. In each iteration, all vertices at once adopt the label
that most of their neighbors had, and the smallest one if there is a tie [1]_. With weights, they adopt the
label whose neighbors had the largest sum of weights. Each vertex rounds the weights of its edges to whole
multiples of a unit, so sums and ties are the same for every partitioning. Simultaneous updates and ties by
order follow Graphalytics [2]_ and make the result deterministic. Labels can oscillate where updates of one
vertex at a time would converge, so the number of iterations is limited.

.. [1] U. N. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community structures in
   large-scale networks", Physical Review E 76, 2007.
.. [2] A. Iosup et al., "LDBC Graphalytics: A Benchmark for Large-Scale Graph Analysis on Parallel and
   Distributed Platforms", VLDB 2016.
"""

from __future__ import annotations

from typing import Annotated

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count
from dask_graphflow.operators.labels import labels_of_neighbors
from dask_graphflow.operators.view import GraphView


@algorithm(
    vertices({"label": "id"}),
    weights="optional",
    directed=False,
    cost=Cost("labels", 10, each=0.5, sparse=1.6, scratch=60),
)
def label_propagation(g: GraphView, *, max_iter: Annotated[int, Count()] = 10) -> Answer:
    """Return the community of each vertex, by label propagation.

    Every vertex starts with its own id as its label. In each iteration, all vertices at once adopt the most
    frequent label of their neighbors, and the smallest one if there is a tie. With weights, a label counts
    as much as the weights of the edges to the neighbors that have it. Edges with the weight 0 do not count.

    Parameters
    ----------
    directed : bool
        Whether an edge leads only from its source to its target. False by default. If True, a neighbor
        counts once for each edge to it and once for each edge from it.
    max_iter : int
        Maximum number of iterations; 10 by default. The algorithm stops earlier if no label changes.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or the largest weighted degree is not between 1e-200 and
        1e200. Raised when the result is computed.

    References
    ----------
    .. [1] U. N. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community structures
       in large-scale networks", Physical Review E 76, 2007.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3, 4, 4, 5], "b": [2, 3, 3, 4, 5, 6, 6]})
    >>> gf.label_propagation(ties, source="a", target="b").compute().label.tolist()
    [1, 1, 1, 3, 3, 3]
    >>> ties["weight"] = [5, 5, 5, 1, 5, 5, 5]
    >>> weighted = gf.label_propagation(ties, source="a", target="b", weight="weight")
    >>> weighted.compute().label.tolist()
    [1, 1, 1, 4, 4, 4]
    """
    labels, everyone = labels_of_neighbors(g), g.everyone()
    edges = everyone.leaving * (1 + g.directed)
    for iteration in range(1, max_iter + 1):
        with g.superstep("pull", len(everyone), edges):
            most_frequent = labels.best()
            changed = labels.replace(most_frequent, send=iteration < max_iter)
        if not changed:
            break
    return Answer({"label": labels.own})
