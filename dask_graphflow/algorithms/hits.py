"""HITS: hubs have edges to good authorities, and authorities have edges from good hubs.

In each iteration, vertices pull the hub scores of the vertices that have an edge to them, and then the
authority scores of the vertices that they have an edge to. Both are divided by their totals [1]_.

Scores are summed as whole numbers, so they are bit-identical for every partitioning and number of threads.

.. [1] J. M. Kleinberg, "Authoritative Sources in a Hyperlinked Environment", JACM 46, 1999.
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


@algorithm(
    vertices({"hub": "float64", "authority": "float64"}),
    weights="optional",
    cost=Cost("pulls", Cost.iterations(), each=2, sparse=4, rows=1.7, copies=2, scratch=80),
)
def hits(
    g: GraphView,
    *,
    max_iter: MaxIter = 100,
    tol: Tolerance = 1e-8,
    precision: Precision = "float64",
    fail_on_nonconvergence: bool = True,
) -> Answer:
    """Return the hub score and the authority score of each vertex.

    Good hubs have edges to good authorities, and good authorities have edges from good hubs. Weights
    multiply what an edge carries. If no edge has a weight above 0, all scores are the same. Each of
    the two scores sums to 1.

    Parameters
    ----------
    tol : float
        Stop when the sum of the absolute changes of all hub scores is less than this; 1e-8 by default.

    References
    ----------
    .. [1] J. M. Kleinberg, "Authoritative Sources in a Hyperlinked Environment", JACM 46, 1999.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2], "b": [3, 4, 4]})
    >>> gf.hits(links, source="a", target="b").compute().round(3)
       vertex    hub  authority
    0       1  0.618      0.000
    1       2  0.382      0.000
    2       3  0.000      0.382
    3       4  0.000      0.618
    """
    hubs, authorities = NeighborSums(g, precision), NeighborSums(g.T, precision)
    authorities.totals = hubs.totals  # an iteration sums along both
    equal, change = 1 / max(1, hubs.count), math.inf
    # Scores sum to 1, so all edges together carry at most what leaves a single vertex.
    hubs.begin(equal, authorities.most_entering)
    authorities.begin(equal, hubs.most_entering)
    for iteration in itertools.count():
        if not hubs.most_entering:
            break
        with g.superstep("pull", hubs.count, hubs.edges) as step:
            hubs.publish()
            if iteration:
                change = hubs.change()
            if iteration == max_iter or change < tol:
                step.clear()
                break
            hubs.pull()
            hubs.normalize(authorities)
        with g.superstep("pull", hubs.count, hubs.edges):
            authorities.publish()
            authorities.pull()
            authorities.normalize(hubs)
    if fail_on_nonconvergence and hubs.most_entering and change >= tol:
        so_far = f"hub scores still change by {change:.2g} together"
        raise not_converged(so_far, tol, max_iter)
    scores = {"hub": hubs, "authority": authorities}
    return Answer({name: hubs.by_vertex(sums.scores) for name, sums in scores.items()})
