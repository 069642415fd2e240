"""Similarity of pairs of vertices, by the neighbors that they have in common.

With given pairs, the rows of both vertices are intersected. Without, the neighbors of the neighbors of each
vertex are counted, some vertices at a time [1]_. With weights, the measures are those of cuGraph: weights
take the place of numbers of neighbors, and a common neighbor counts the smaller one of its two weights.

.. [1] D. Liben-Nowell, J. Kleinberg, "The Link-Prediction Problem for Social Networks", Journal of the
   American Society for Information Science and Technology 58(7), 2007.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count
from dask_graphflow.declarations.vertex_options import VertexPairs
from dask_graphflow.exceptions import OptionError
from dask_graphflow.operators.intersect.common_neighbors import BLOCK, CommonNeighbors
from dask_graphflow.operators.view import GraphView

from .measures import SCORES, Measure


def pairs_listed(vertices: int, wedges: float, k: int | None, top_k: int | None) -> float:
    """Return the number of rows of k given pairs, or of a block and the result of all similar pairs."""
    if k is not None:
        return k
    return min(wedges, BLOCK) + min(wedges, top_k * vertices if top_k else math.inf)


@algorithm(
    rows({"first": "id", "second": "id", "score": "float64"}),
    weights="optional",
    directed=False,
    edge_bytes=(33, 57),
    cost=Cost("labels", 1, passes=6, wedges=2.5, rows=1, copies=1, listed=pairs_listed),
)
def similarity(
    g: GraphView,
    *,
    pairs: Annotated[Any | None, VertexPairs()] = None,
    measure: Annotated[str, Measure(tuple(SCORES))] = "jaccard",
    top_k: Annotated[int | None, Count()] = None,
) -> Answer:
    """Return how similar pairs of vertices are, by their common neighbors.

    For vertices with neighbors A and B, the measures are:

    - "jaccard": ``|A & B| / |A | B|``;
    - "sorensen": ``2 * |A & B| / (|A| + |B|)``;
    - "overlap": ``|A & B| / min(|A|, |B|)``;
    - "cosine": ``|A & B| / sqrt(|A| * |B|)``;
    - "adamic_adar": the sum of ``1 / log(d)`` over the common neighbors, which have d neighbors each;
    - "common_neighbors": ``|A & B|``.

    The first three are also defined with weights, as in cuGraph. ``|A|`` and ``|B|`` are then the sums of
    the weights of the two vertices' edges, ``|A & B|`` is the sum of the smaller weight of each common
    neighbor, and ``|A | B|`` is ``|A| + |B| - |A & B|``, the sum of the larger weight of each neighbor.

    A fraction is 0 if its denominator is. The directions of edges and self-loops are ignored. Parallel
    edges count once; with weights, their weights are added up.

    Parameters
    ----------
    pairs : DataFrame, optional
        The pairs: the first two columns are ids (if an id has several columns, those of the first vertex
        and then those of the second). By default, all pairs of vertices that have a common neighbor.
    measure : {"jaccard", "sorensen", "overlap", "cosine", "adamic_adar", "common_neighbors"}
        How similarity is measured. With weights, only the first three can be given.
    top_k : int, optional
        Without `pairs`: return only this number of pairs for each first vertex, those with the highest
        scores; of several with the same score, those with the smallest id. By default all pairs.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per pair with the columns ``first`` and ``second`` (the dtype of the ids) and ``score``
        (float64). With `pairs`, the rows are in their order. Without, they are sorted by first vertex, then
        by descending score, then by second vertex, and each pair has a row for each of its vertices.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or the weights of a vertex's edges are on average below
        2**-57 of the largest sum of the weights of a vertex's edges. Raised when the result is computed.

    References
    ----------
    .. [1] D. Liben-Nowell, J. Kleinberg, "The Link-Prediction Problem for Social Networks", Journal of the
       American Society for Information Science and Technology 58(7), 2007.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 2, 3], "b": [3, 4, 3, 4, 5]})
    >>> gf.similarity(ties, source="a", target="b", top_k=1).compute().round(2)
       first  second  score
    0      1       2   1.00
    1      2       1   1.00
    2      3       4   0.67
    3      4       3   0.67
    4      5       1   0.50
    >>> ties["calls"] = [9, 1, 9, 5, 2]
    >>> two = pd.DataFrame({"first": [1, 3], "second": [2, 4]})
    >>> ends = {"source": "a", "target": "b", "weight": "calls"}
    >>> gf.similarity(ties, **ends, pairs=two, measure="sorensen").compute().score.round(2).tolist()
    [0.83, 0.46]
    """
    if pairs is not None and top_k is not None:
        raise OptionError(
            f"top_k={top_k!r} cannot be used with pairs, all of which are in the result. Leave out one of "
            "the two"
        )
    neighbors = CommonNeighbors(g.undirected, SCORES[measure], by_rarity=measure == "adamic_adar")
    columns = neighbors.score_all(top_k) if pairs is None else neighbors.score_pairs(pairs)
    return Answer(dict(zip(("first", "second", "score"), columns, strict=True)))
