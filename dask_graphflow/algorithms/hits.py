"""HITS: hubs have edges to good authorities, and authorities have edges from good hubs.

In each iteration, vertices pull the hub scores of the vertices that have an edge to them, and then the
authority scores of the vertices that they have an edge to. Both are divided by their totals [1]_.

Scores are summed as whole numbers, so they are bit-identical for every partitioning and number of threads.

.. [1] J. M. Kleinberg, "Authoritative Sources in a Hyperlinked Environment", JACM 46, 1999.
"""

from __future__ import annotations

from typing import Any

from dask_graphflow.operators.neighbor_sums import NeighborSums
from dask_graphflow.operators.view import GraphView
from dask_graphflow.runtime.algorithm import algorithm
from dask_graphflow.runtime.answer import Answer
from dask_graphflow.runtime.convergence import MaxIter, Tolerance, not_converged


@algorithm(
    columns={"hub": "float64", "authority": "float64"},
    weights="optional",
)
def hits(
    g: GraphView,
    *,
    max_iter: MaxIter = 100,
    tol: Tolerance = 1e-8,
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
    hubs = NeighborSums(g)
    authorities = NeighborSums(g.T) if g.directed else hubs
    hub = authority = hubs.column(1 / max(1, hubs.count))
    if not hubs.most_entering:
        return _answer(hubs, hub, authority)
    for _ in range(max_iter):
        # Scores sum to 1, so all edges together carry at most what leaves a single vertex.
        before, authority = hub, _normalized_sums(g, hubs, hub, authorities.most_entering)
        hub = _normalized_sums(g, authorities, authority, hubs.most_entering)
        change = g.total(abs(hub - before), 1.0)
        if change < tol:
            break
    else:
        if fail_on_nonconvergence:
            so_far = f"hub scores still change by {change:.2g} together"
            raise not_converged(so_far, tol, max_iter)
    return _answer(hubs, hub, authority)


def _normalized_sums(g: GraphView, sums: NeighborSums, scores: Any, bound: float) -> Any:
    """Return the sums of the scores of neighbors, divided by the total of all sums."""
    total, _ = sums.pull(scores, bound)
    return total / float(g.all_reduce(sums=(int(total.sum()),)).sums[0])


def _answer(sums: NeighborSums, hub: Any, authority: Any) -> Answer:
    return Answer({"hub": sums.by_vertex(hub), "authority": sums.by_vertex(authority)})
