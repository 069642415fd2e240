"""FastRP: vectors of vertices, which are similar if the neighborhoods of the vertices are [1]_.

Each vertex begins with a sparse random vector [2]_, times a power of its degree. In each iteration, the
vector of a vertex becomes the average of its neighbors' vectors. The result is the weighted sum of the
vectors of all iterations, each divided by its length.

A random vector depends only on the seed and on the id of the vertex. Averages are computed with whole
numbers, for 16 dimensions in each pass over the edges. So vectors have the same bits for every partitioning
and number of threads.

.. [1] H. Chen, S. F. Sultan, Y. Tian, M. Chen, S. Skiena, "Fast and Accurate Network Embeddings via Very
   Sparse Random Projection", CIKM 2019.
.. [2] P. Li, T. J. Hastie, K. W. Church, "Very Sparse Random Projections", KDD 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count, Number, Seed
from dask_graphflow.operators.pull import NeighborAverages
from dask_graphflow.operators.pull.batched_pull import WIDTH
from dask_graphflow.operators.random_signs import random_signs, vertex_keys
from dask_graphflow.operators.view import GraphView

from .options import IterationWeights, columns

# Vectors whose entries are smaller than this, relative to the largest one of a random vector, count as 0:
# neighbors cancel each other out, and only rounding errors are left.
NOISE = 2.0**-32


@algorithm(
    vertices(columns),
    weights="optional",
    directed=False,
    cost=Cost("pulls", 24, each=5, scratch=2000),
    edge_bytes=(0, 8),
)
def fast_rp(
    g: GraphView,
    *,
    dimensions: Annotated[int, Count(most=10_000)] = 128,
    weights: Annotated[Sequence[float], IterationWeights()] = (0, 1, 1),
    normalization: Annotated[float, Number(low=-1, high=1)] = -0.5,
    seed: Seed = 0,
) -> Answer:
    """Return a vector for each vertex, by fast random projection (FastRP).

    Vertices with similar neighborhoods have similar vectors. The columns are features for a classifier, or
    for a search for the most similar vertices.

    In each iteration, the vector of a vertex becomes the average of its neighbors' vectors, weighted by the
    weights of the edges. In a directed graph, the neighbors are the vertices that its edges lead to. The
    vector of a vertex without neighbors is 0.

    Parameters
    ----------
    dimensions : int
        Number of dimensions; 128 by default.
    weights : sequence of float
        How much each iteration counts. Iteration k looks at vertices k edges away. (0, 1, 1) by default,
        which makes three iterations, and leaves out the direct neighbors.
    normalization : float
        Exponent of the degree of a vertex, by which the random vector at the beginning is multiplied, from
        -1 to 1; -0.5 by default. Smaller numbers let vertices with many edges count less.
    seed : int
        Chooses the random vectors; 0 by default. They depend only on the seed and on the ids. So the
        vectors of a changed graph can be compared with those from before the change.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the column ``vertex`` (the dtype of the ids), and a
        column for each dimension, ``fast_rp_0``, ``fast_rp_1`` and so on (float32).

    References
    ----------
    .. [1] H. Chen, S. F. Sultan, Y. Tian, M. Chen, S. Skiena, "Fast and Accurate Network Embeddings via
       Very Sparse Random Projection", CIKM 2019.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3, 4, 4, 5], "b": [2, 3, 3, 4, 5, 6, 6]})
    >>> vectors = gf.fast_rp(ties, source="a", target="b", dimensions=3).compute()
    >>> vectors.round(2)
       vertex  fast_rp_0  fast_rp_1  fast_rp_2
    0       1       0.47      -1.48       1.14
    1       2       0.46      -1.24       1.31
    2       3       0.50      -1.53       1.06
    3       4       1.19      -1.48       0.41
    4       5       1.22      -1.51       0.15
    5       6       1.40      -1.40       0.12
    """
    averages = NeighborAverages(g)
    keys = vertex_keys(g, averages.layout.names)
    begin = averages.powers_of_degrees(normalization)[:, None]
    found: list[list[Any]] = [[] for _ in weights]
    squares = [np.zeros_like(averages.degrees) for _ in weights]
    for first in range(0, dimensions, WIDTH):
        batch = range(first, min(first + WIDTH, dimensions))
        values = random_signs(keys, seed, batch) * begin
        for iteration, weight in enumerate(weights):
            with g.superstep("pull", averages.count, averages.edges):
                values = averages.average(values)
            for column in values.T if weight else ():
                found[iteration].append(column.astype("float32"))
                squares[iteration] += column * column
    noise = dimensions * (NOISE * averages.largest) ** 2
    factors = [
        np.where(square > noise, weight / np.sqrt(np.maximum(square, noise)), 0.0)
        for weight, square in zip(weights, squares, strict=True)
    ]
    vectors = {}
    for dimension, name in enumerate(columns(None, {"dimensions": dimensions})):
        total = np.zeros_like(averages.degrees)
        for parts, factor in zip(found, factors, strict=True):
            if parts:
                total += parts[dimension] * factor
        vectors[name] = averages.by_vertex(total.astype("float32"))
    return Answer(vectors)
