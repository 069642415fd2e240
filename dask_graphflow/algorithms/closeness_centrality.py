"""Closeness centrality: one divided by the mean distance from the vertices that reach a vertex.

Searches from 64 sources at a time count how many of them reach each vertex, and at which distance. If edges
have weights, there is one search per source. With `k`, a random sample of
the vertices are sources [2]_.

.. [1] L. C. Freeman, "Centrality in Social Networks: Conceptual Clarification", Social Networks 1, 1979.
.. [2] D. Eppstein, J. Wang, "Fast Approximation of Centrality", Journal of Graph Algorithms and
   Applications 8(1), 2004.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count, Seed
from dask_graphflow.operators.priorities import sample_places
from dask_graphflow.operators.search.multi_search import sum_distances
from dask_graphflow.operators.view import GraphView

from .sssp.distances_by_source import distances_from_each


@algorithm(
    vertices({"closeness": "float64"}),
    weights="optional",
    edge_bytes=(0, 24),
    networkx={"closeness_centrality": "closeness"},
    cost=Cost(
        "labels", Cost.levels(), passes=4, step=Cost.FUSED, sparse=12, sources=64, rows=1, scratch=260,
        weighted=Cost.by_weight(1),
    ),
)  # fmt: skip
def closeness_centrality(
    g: GraphView,
    *,
    wf_improved: bool = True,
    k: Annotated[int | None, Count()] = None,
    seed: Seed = 0,
) -> Answer:
    """Return the closeness centrality of each vertex.

    The closeness of a vertex is one divided by the mean distance from the other vertices that reach it, and
    0 if no other vertex does. In a directed graph, these are distances along incoming edges. A distance is
    the smallest sum of weights along a path, or a number of edges if the graph has no weights.

    Parameters
    ----------
    wf_improved : bool
        Whether to multiply by the part of the other vertices that reach the vertex (Wasserman and Faust),
        so that vertices in small components do not score high; True by default.

    Raises
    ------
    WeightError
        A weight is negative, null or NaN. Raised when the result is computed.

    References
    ----------
    .. [1] L. C. Freeman, "Centrality in Social Networks: Conceptual Clarification", Social Networks 1,
       1979.
    .. [2] D. Eppstein, J. Wang, "Fast Approximation of Centrality", Journal of Graph Algorithms and
       Applications 8(1), 2004.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 2, 3], "b": [2, 3, 4]})
    >>> scores = gf.closeness_centrality(ties, source="a", target="b", directed=False)
    >>> scores.compute().closeness.tolist()
    [0.5, 0.75, 0.75, 0.5]
    """
    places, count = sample_places(g, k, seed)
    sums = _weighted_sums if g.weighted else sum_distances
    farness, reaching = sums(g, places, count)
    far = farness > 0
    closeness = np.where(far, reaching / np.where(far, farness, 1), 0)
    if wf_improved:
        closeness *= reaching / np.maximum(count - (places >= 0), 1)
    return Answer({"closeness": closeness})


def _weighted_sums(g: GraphView, places: Any, count: int) -> tuple[Any, Any]:
    """Return the sums and the numbers of weighted distances; see :func:`.sum_distances`."""
    farness, reaching = g.column(0, "float64"), g.column(0, "int64")
    for distance in distances_from_each(g, places, count):
        reached = np.isfinite(distance)
        with np.errstate(over="ignore"):
            farness += np.where(reached, distance, 0)
        reaching += reached
    return farness, reaching - (places >= 0)
