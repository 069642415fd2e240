"""Random walks, uniform or biased as in node2vec, from which vertex embeddings are learned.

In each step, a walk follows one of the edges that leave its vertex, in proportion to their weights.
node2vec [1]_ divides the weights of edges back to the vertex before by p, and the weights of edges to
vertices that the vertex before has no edge to by q.

A step is drawn by the weights of the edges, and accepted with a probability, so no sum over the biased
weights is needed [2]_. Random numbers depend on the seed, the walk and the step alone.

.. [1] A. Grover, J. Leskovec, "node2vec: Scalable Feature Learning for Networks", KDD 2016.
.. [2] K. Yang, M. Zhang, K. Chen et al., "KnightKing: A Fast Distributed Graph Random Walk Engine",
   SOSP 2019.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count, Number, Seed
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.operators.access import gather
from dask_graphflow.operators.priorities import priorities
from dask_graphflow.operators.sample.walks import check_walks, walk, walk_bias
from dask_graphflow.operators.view import GraphView

MOST_STEPS = 2**31 - 1  # the largest int32


@algorithm(
    rows({"walk": "int64", "step": "int32", "vertex": "id"}),
    weights="optional",
    supersteps=False,
    cost=Cost("labels", 80, passes=0.1, step=Cost.FUSED),
)
def random_walks(
    g: GraphView,
    starts: Annotated[Any, VertexIds()],
    *,
    length: Annotated[int, Count()],
    walks_per_vertex: Annotated[int, Count()] = 1,
    p: Annotated[float, Number(above=0)] = 1.0,
    q: Annotated[float, Number(low=0.001, high=1000)] = 1.0,
    seed: Seed = 0,
) -> Answer:
    """Return random walks from some vertices, uniform or biased as in node2vec.

    Each step follows one of the edges that leave the vertex, in proportion to their weights. A walk ends
    early at a vertex without such an edge. An edge with the weight 0 is never followed. Weights are rounded
    to 2^-50 of the sum of all weights at the vertex, so a lighter edge is not followed either.

    Parameters
    ----------
    starts : id, or list, Series or DataFrame of ids
        Vertices at which walks begin. A start that is given several times counts once; see
        `walks_per_vertex`.
    length : int
        Maximum number of steps, each of which follows an edge. A walk has up to ``length + 1`` vertices.
    walks_per_vertex : int
        Number of walks that begin at each start; 1 by default.
    p : float
        Return parameter: the weight of an edge back to the previous vertex is divided by it. Above 0; 1 by
        default.
    q : float
        In-out parameter: the weight of an edge is divided by it if the previous vertex has no edge to its
        end. From 0.001 to 1000; 1 by default. The time of a step can grow with `q` or ``1 / q``.
    seed : int
        Chooses the random numbers; 0 by default. A walk depends on the seed, on its start and on which of
        the start's walks it is, but not on the other starts.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex of a walk, sorted by walk, then by step. The columns are ``walk`` (int64; the
        walks of the smallest start come first, and are 0 to ``walks_per_vertex - 1``), ``step`` (int32, 0
        at the start) and ``vertex`` (the dtype of the ids).

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN. Raised when the result is computed.

    References
    ----------
    .. [1] A. Grover, J. Leskovec, "node2vec: Scalable Feature Learning for Networks", KDD 2016.
    .. [2] K. Yang, M. Zhang, K. Chen et al., "KnightKing: A Fast Distributed Graph Random Walk Engine",
       SOSP 2019.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 2, 2, 3], "b": [2, 3, 4, 1]})
    >>> gf.random_walks(links, source="a", target="b", starts=[1], length=4).compute()
       walk  step  vertex
    0     0     0       1
    1     0     1       2
    2     0     2       3
    3     0     3       1
    4     0     4       2
    """
    own = g.ranks[starts]
    check_walks(own, len(own) * walks_per_vertex)
    every = np.sort(gather(g, own))
    first = np.searchsorted(every, own).astype("int64") * walks_per_vertex
    walks = (first[:, None] + np.arange(walks_per_vertex, like=first)).ravel()

    def key_of(walks: Any) -> Any:
        return priorities(
            walks % walks_per_vertex, priorities(every[walks // walks_per_vertex], seed)
        )

    at = np.repeat(starts, walks_per_vertex)
    total = len(every) * walks_per_vertex
    walked = walk(g, at, walks, key_of, min(length, MOST_STEPS), walk_bias(p, q), total)
    return Answer(dict(zip(("walk", "step", "vertex"), walked, strict=True)))
