"""Eigenvector centrality: vertices score high if vertices that score high have edges to them.

The scores are the eigenvector of the largest eigenvalue of the transposed adjacency matrix [1]_. Each
iteration multiplies the scores by this matrix plus a multiple of the identity, which has the same
eigenvectors and keeps scores of bipartite graphs from swapping forever. Then it scales them so that their
squares sum to 1. The multiple is 1, or near the mean weight, so that the scale of the weights changes
nothing.

Scores are summed as whole numbers, so they are bit-identical for every partitioning and number of threads.

.. [1] P. Bonacich, "Power and Centrality: A Family of Measures", American Journal of Sociology 92, 1987.
"""

from __future__ import annotations

import itertools
import math

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.convergence import MaxIter, Precision, Tolerance, not_converged
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.operators.pull import NeighborSums
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import sum_leaving


@algorithm(
    vertices({"eigenvector": "float64"}),
    weights="optional",
    cost=Cost("pulls", Cost.iterations(), each=1, sparse=10, rows=1.7, copies=1, scratch=90),
)
def eigenvector_centrality(
    g: GraphView,
    *,
    max_iter: MaxIter = 100,
    tol: Tolerance = 1e-6,
    precision: Precision = "float64",
    fail_on_nonconvergence: bool = True,
) -> Answer:
    """Return the eigenvector centrality of each vertex.

    The score of a vertex is proportional to the sum of the scores of the vertices that have an edge to it,
    times the weights. If no cycle leads to a vertex, as in a graph without cycles, its score is 0 in the
    limit, and the iterations may end before they reach it. The squares of the scores sum to 1.

    Parameters
    ----------
    tol : float
        Stop when the mean absolute change per vertex is less than this; 1e-6 by default. With weights, if
        the eigenvalue is less than their mean, the change is divided by the ratio of the two.

    References
    ----------
    .. [1] P. Bonacich, "Power and Centrality: A Family of Measures", American Journal of Sociology 92,
       1987.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 1, 2], "b": [2, 3, 4, 3]})
    >>> scores = gf.eigenvector_centrality(ties, source="a", target="b", directed=False)
    >>> scores.compute().eigenvector.round(3).tolist()
    [0.612, 0.523, 0.523, 0.282]
    """
    sums = NeighborSums(g, precision)
    shift, count, change = _shift(g, sums), sums.count, math.inf
    # The matrix stretches scores by at most the root of its largest column sum times its largest row sum.
    ratio = math.sqrt(sums.most_entering / shift) * math.sqrt(_most_leaving(g, sums) / shift)
    sums.begin(1 / max(1, count))
    for iteration in itertools.count():
        with g.superstep("pull", count, sums.edges) as step:
            sums.publish()
            if iteration:
                change = sums.change()
            if g.weighted and sums.norm > 1:
                # The norm tends to 1 plus the eigenvalue divided by the shift.
                change /= min(1.0, sums.norm - 1)
            if iteration == max_iter or (iteration and (change < tol * count or not count)):
                step.clear()
                break
            # The error of the sums is harmless, because `most_entering` is at most the number of edges
            # times twice the shift, and the norm of the new scores is at least 1.
            total, unit = sums.pull()
            sums.combine(total, unit / shift, squares=(1 + ratio) ** 2)
    if fail_on_nonconvergence and count and change >= tol * count:
        so_far = f"scores still change by {change / count:.2g} per vertex"
        raise not_converged(so_far, tol, max_iter)
    return Answer({"eigenvector": sums.by_vertex(sums.scores)})


def _most_leaving(g: GraphView, sums: NeighborSums) -> float:
    """Return the largest sum of the weights of the edges that leave a vertex, or their number."""
    return sum_leaving(g)[1] if g.weighted else g.largest(sums.leaving)


def _shift(g: GraphView, sums: NeighborSums) -> float:
    """Return what is added to the diagonal: 1, or the mean of the weights above 0, as a power of 2."""
    if not sums.most_entering or sums.entering is None:
        return 1.0
    edges = g.count_true(sums.layout.rows.weights > 0)
    return math.ldexp(0.5, math.frexp(g.total(sums.entering, sums.most_entering) / edges)[1])
