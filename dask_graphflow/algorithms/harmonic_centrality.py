"""Harmonic centrality: the sum of one divided by the distance from every other vertex.

Searches from 64 sources at a time count how many of them reach each vertex, and at which distance. With
`k`, a random sample of the vertices are sources, as for closeness centrality.

.. [1] P. Boldi, S. Vigna, "Axioms for Centrality", Internet Mathematics 10, 2014.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from dask_graphflow.operators.multi_search import inverse_sums
from dask_graphflow.operators.priorities import sampled
from dask_graphflow.operators.view import GraphView
from dask_graphflow.runtime.algorithm import algorithm
from dask_graphflow.runtime.answer import Answer
from dask_graphflow.runtime.number_options import Count, Seed


@algorithm(
    columns={"harmonic": "float64"},
)
def harmonic_centrality(
    g: GraphView, *, k: Annotated[int | None, Count()] = None, seed: Seed = 0
) -> Answer:
    """Return the harmonic centrality of each vertex.

    This is the sum of one divided by the distance in edges from each other vertex; a vertex from which
    there is no path adds 0. In a directed graph, these are distances along incoming edges. Weights are
    ignored.

    Parameters
    ----------
    k : int, optional
        Number of randomly sampled vertices from which distances are measured; the sum is scaled to all
        vertices. By default all vertices, which is exact, and takes time in proportion to V times E.
    seed : int
        Chooses the sample; 0 by default. It depends only on the seed and on the order of the ids.

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
    places, count = sampled(g, k, seed)
    every = g.count
    harmonic = inverse_sums(g, places, count)
    if count < every:
        harmonic *= (every - 1) / np.maximum(count - (places >= 0), 1)
    return Answer({"harmonic": harmonic})
