"""Harmonic centrality: the sum of one divided by the distance from every other vertex.

Searches from 64 sources at a time count how many of them reach each vertex, and at which distance. If edges
have weights, there is one search per source. With `k`, a random sample of
the vertices are sources, as for closeness centrality.

.. [1] P. Boldi, S. Vigna, "Axioms for Centrality", Internet Mathematics 10, 2014.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count, Seed
from dask_graphflow.operators.priorities import sample_places
from dask_graphflow.operators.search.multi_search import sum_inverses
from dask_graphflow.operators.view import GraphView

from .sssp.distances_by_source import distances_from_each


@algorithm(
    vertices({"harmonic": "float64"}),
    weights="optional",
    edge_bytes=(0, 24),
    networkx={"harmonic_centrality": "harmonic"},
    cost=Cost(
        "labels", Cost.levels(), passes=4, step=Cost.FUSED, sparse=12, sources=64, rows=1, scratch=260,
        weighted=Cost.by_weight(1),
    ),
)  # fmt: skip
def harmonic_centrality(
    g: GraphView, *, k: Annotated[int | None, Count()] = None, seed: Seed = 0
) -> Answer:
    """Return the harmonic centrality of each vertex.

    This is the sum of one divided by the distance from each other vertex. A vertex from which there is no
    path adds 0, and so does a vertex at a distance of 0. In a directed graph, these are distances along
    incoming edges. A distance is the smallest sum of weights along a path, or a number of edges if the
    graph has no weights.

    Raises
    ------
    WeightError
        A weight is negative, null or NaN. Raised when the result is computed.

    References
    ----------
    .. [1] P. Boldi, S. Vigna, "Axioms for Centrality", Internet Mathematics 10, 2014.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 2, 3], "b": [2, 3, 5]})
    >>> scores = gf.harmonic_centrality(ties, source="a", target="b", directed=False)
    >>> scores.compute().harmonic.round(3).tolist()
    [1.833, 2.5, 2.5, 1.833]
    """
    places, count = sample_places(g, k, seed)
    every = g.count
    harmonic = (_weighted_sums if g.weighted else sum_inverses)(g, places, count)
    if count < every:
        harmonic *= (every - 1) / np.maximum(count - (places >= 0), 1)
    return Answer({"harmonic": harmonic})


def _weighted_sums(g: GraphView, places: Any, count: int) -> Any:
    """Return the sums of 1 divided by the weighted distance; see :func:`.sum_inverses`."""
    harmonic = g.column(0, "float64")
    for distance in distances_from_each(g, places, count):
        with np.errstate(divide="ignore", over="ignore"):
            harmonic += np.where(distance > 0, 1 / distance, 0)
    return harmonic
