"""Eigenvector centrality: vertices score high if vertices that score high have edges to them.

The scores are the eigenvector of the largest eigenvalue of the transposed adjacency matrix [1]_. Each
iteration multiplies the scores by this matrix plus the identity, which has the same eigenvectors and keeps
scores of bipartite graphs from swapping forever. Then it scales them so that their squares sum to 1.

Scores are summed as whole numbers, so they are bit-identical for every partitioning and number of threads.

.. [1] P. Bonacich, "Power and Centrality: A Family of Measures", American Journal of Sociology 92, 1987.
"""

from __future__ import annotations

import math

from dask_graphflow.costs.cost import Cost, converging
from dask_graphflow.operators.neighbor_sums import NeighborSums
from dask_graphflow.operators.view import GraphView

from .algorithm import Answer, algorithm
from .convergence import CONVERGENCE, not_converged

__all__ = ["eigenvector_centrality"]


@algorithm(
    columns={"eigenvector": "float64"},
    checks=CONVERGENCE,
    weights="optional",
    cost=Cost("pulls", converging, each=1, sparse=10, rows=1.7, copies=1, scratch=90),
)
def eigenvector_centrality(
    g: GraphView,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
    fail_on_nonconvergence: bool = True,
) -> Answer:
    """Return the eigenvector centrality of each vertex.

    The score of a vertex is proportional to the sum of the scores of the vertices that have an edge to it,
    times the weights. If no cycle leads to a vertex, as in a graph without cycles, its score is 0 in the
    limit, and the iterations may end before they reach it. The squares of the scores sum to 1.

    Parameters
    ----------
    tol : float
        Stop when the mean absolute change per vertex is less than this; 1e-6 by default.

    References
    ----------
    .. [1] P. Bonacich, "Power and Centrality: A Family of Measures", American Journal of Sociology 92,
       1987.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 1, 2], "b": [2, 3, 4, 3]})
    >>> found = gf.eigenvector_centrality(ties, source="a", target="b", directed=False)
    >>> found.compute().eigenvector.round(3).tolist()
    [0.612, 0.523, 0.523, 0.282]
    """
    sums = NeighborSums(g)
    entering, count, change = sums.most_entering, sums.count, math.inf
    most = 1 / max(1, count)
    score = sums.column(most)
    for _ in range(max_iter):
        before = score
        found, unit = sums.pull(before, most * entering)
        score = before + unit * found
        largest = g.largest(score)
        norm = math.sqrt(g.total(score * score, largest * largest)) or 1.0
        score /= norm
        most = largest / norm
        change = g.total(abs(score - before), 1.0)
        if change < tol * count or not count:
            return Answer({"eigenvector": sums.by_vertex(score)})
    if fail_on_nonconvergence:
        so_far = f"scores still change by {change / count:.2g} per vertex"
        raise not_converged(so_far, tol, max_iter)
    return Answer({"eigenvector": sums.by_vertex(score)})
