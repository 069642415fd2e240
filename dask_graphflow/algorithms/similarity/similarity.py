"""Similarity of pairs of vertices, by the neighbors that they have in common.

With given pairs, the rows of both vertices are intersected. Without, the neighbors of the neighbors of each
vertex are counted, some vertices at a time [1]_.

.. [1] D. Liben-Nowell, J. Kleinberg, "The Link-Prediction Problem for Social Networks", Journal of the
   American Society for Information Science and Technology 58(7), 2007.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from dask_graphflow.exceptions import OptionError
from dask_graphflow.kernels import kernels_for, kernels_of
from dask_graphflow.operators.access import by_id
from dask_graphflow.operators.view import GraphView
from dask_graphflow.runtime.algorithm import algorithm
from dask_graphflow.runtime.answer import Answer
from dask_graphflow.runtime.number_options import Count
from dask_graphflow.runtime.options import Choice
from dask_graphflow.runtime.vertex_options import VertexPairs

from .common_neighbors import all_pairs, degrees_at, of_pairs

SCORES: dict[str, Callable[..., Any]] = {
    "jaccard": lambda common, a, b: common / np.maximum(a + b - common, 1),
    "overlap": lambda common, a, b: common / np.maximum(np.minimum(a, b), 1),
    "cosine": lambda common, a, b: common / np.sqrt(np.maximum(a * b, 1)),
    "adamic_adar": lambda common, a, b: common,
    "common_neighbors": lambda common, a, b: common,
}
BITS = 61  # of the largest sum of weights as a whole number


@algorithm(
    columns={"first": "id", "second": "id", "score": "float64"},
    directed=False,
    rows="listed",
)
def similarity(
    g: GraphView,
    *,
    pairs: Annotated[Any | None, VertexPairs()] = None,
    measure: Annotated[str, Choice(tuple(SCORES))] = "jaccard",
    top_k: Annotated[int | None, Count()] = None,
) -> Answer:
    """Return how similar pairs of vertices are, by their common neighbors.

    For vertices with neighbors A and B, the measures are:

    - "jaccard": ``|A & B| / |A | B|``;
    - "overlap": ``|A & B| / min(|A|, |B|)``;
    - "cosine": ``|A & B| / sqrt(|A| * |B|)``;
    - "adamic_adar": the sum of ``1 / log(d)`` over the common neighbors, which have d neighbors each;
    - "common_neighbors": ``|A & B|``.

    A fraction is 0 if its denominator is. The directions of edges, self-loops, parallel edges and weights
    are ignored.

    Parameters
    ----------
    pairs : DataFrame, optional
        The pairs: the first two columns are ids (if an id has several columns, those of the first vertex
        and then those of the second). By default, all pairs of vertices that have a common neighbor.
    measure : {"jaccard", "overlap", "cosine", "adamic_adar", "common_neighbors"}
        How similarity is measured.
    top_k : int, optional
        Without `pairs`: return only this number of pairs for each first vertex, those with the highest
        scores; of several with the same score, those with the smallest id. By default all pairs.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per pair with the columns ``first`` and ``second`` (the dtype of the ids) and ``score``
        (float64). With `pairs`, the rows are in their order. Without, they are sorted by first vertex, then
        by descending score, then by second vertex, and each pair has a row for each of its vertices.

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
    """
    if pairs is not None and top_k is not None:
        raise OptionError(
            f"top_k={top_k!r} cannot be used with pairs, all of which are in the result. Leave out one of "
            "the two"
        )
    g = g.undirected.simple
    weights, unit = _by_rarity(g) if measure == "adamic_adar" else (None, 1.0)

    def score(common: Any, first: Any, second: Any) -> Any:
        return SCORES[measure](common.astype("float64") * unit, first, second)

    if pairs is not None:
        return _given(g, pairs, weights, score)
    scored_pairs = []
    degrees, best = g.degrees, kernels_of("intersect", g.degrees).best
    for near in all_pairs(g, weights):
        first = near.firsts(g.threads)
        scores = score(near.sums, degrees[first], near.degrees)
        chosen, _ = best(near.offsets, scores, top_k, threads=g.threads)
        scored_pairs.append((g.numbers[first[chosen]], near.second[chosen], scores[chosen]))
    columns = by_id(g, [np.concatenate(parts) for parts in zip(*scored_pairs, strict=True)])
    return Answer(dict(zip(("first", "second", "score"), columns, strict=True)))


def _given(g: GraphView, pairs: Any, weights: Any, score: Callable[..., Any]) -> Answer:
    """List the scores of given pairs: each member lists an equal part of them."""
    degrees = [degrees_at(g, places) for places in pairs]
    sums = of_pairs(g, pairs, degrees, weights)
    size, rank = g.exchange.size, g.exchange.rank
    own = slice(len(pairs[0]) * rank // size, len(pairs[0]) * (rank + 1) // size)
    ends = [g.shard.numbers_at(places[own].astype(g.index), g.threads) for places in pairs]
    scores = score(sums, *(side[own] for side in degrees))
    return Answer({"first": ends[0], "second": ends[1], "score": scores})


def _by_rarity(g: GraphView) -> tuple[Any, float]:
    """Return 1 / log(degree) of each owned vertex as a multiple of a unit, and the unit.

    No sum of weights over the neighbors of a vertex is too large for an int64.
    """
    kernels = kernels_for(g.degrees)
    degrees, which = np.unique(kernels.to_host(g.degrees), return_inverse=True)
    unit = math.ldexp(1.0, int(g.largest(g.degrees)).bit_length() - BITS)
    # Not by NumPy's logarithm, whose last bit may depend on the number of values.
    weights = [round(1 / math.log(d) / unit) if d > 1 else 0 for d in degrees.tolist()]
    return kernels.namespace.asarray(np.array(weights, np.int64)[which]), unit
