"""Personalized PageRank: the probability that a random surfer is at each vertex, if restarts are at one.

Each source is the only restart vertex of its own ranks [1]_, which are computed as in :mod:`.pagerank`. Up
to 16 sources at a time share the reads of the edges. At first, all rank of a source is at the source.

Ranks have the same bits for every partitioning, number of threads and choice of other sources.

.. [1] T. H. Haveliwala, "Topic-Sensitive PageRank", WWW 2002.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.convergence import MaxIter, not_converged
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count, Number
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.operators.priorities import places_of
from dask_graphflow.operators.pull import BatchedPull, Pull
from dask_graphflow.operators.pull.batched_pull import WIDTH
from dask_graphflow.operators.view import GraphView

from .top_rows import find_largest, list_rows


@algorithm(
    rows({"source": "id", "vertex": "id", "pagerank": "float64"}),
    weights="optional",
    cost=Cost(
        "pulls", Cost.iterations(), each=20, sources=16, scratch=450, listed=Cost.rows_by_source
    ),
)
def personalized_pagerank(
    g: GraphView,
    sources: Annotated[Any, VertexIds()],
    *,
    alpha: Annotated[float, Number(low=0, high=1)] = 0.85,
    max_iter: MaxIter = 100,
    tol: Annotated[float | None, Number(above=0)] = 1e-6,
    top_k: Annotated[int | None, Count()] = None,
    fail_on_nonconvergence: bool = True,
) -> Answer:
    """Return the personalized PageRank of the vertices for each source: how near they are to it.

    The surfer of a source starts there, follows edges in proportion to their weights, and restarts at the
    source with probability ``1 - alpha`` per step, and at vertices that no edge leaves. The ranks of a
    source sum to 1.

    Parameters
    ----------
    sources : id, or list, Series or DataFrame of ids
        Vertices at which surfers restart. A source that is given several times counts once.
    alpha : float
        Damping factor: the probability of following an edge, from 0 to 1. 0.85 by default.
    tol : float or None
        Stop when the mean absolute change per vertex is less than this; 1e-6 by default. None runs exactly
        `max_iter` iterations. The ranks of a source are far from uniform, so give a smaller number for a
        large graph: for example, 1e-12.
    top_k : int, optional
        Number of vertices to return per source: those with the largest ranks above 0, and of equal ranks
        the smallest ids. By default all vertices.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per source and vertex, sorted by source, then by rank, largest first, then by vertex. The
        columns are ``source`` and ``vertex`` (the dtype of the ids) and ``pagerank`` (float64).

    References
    ----------
    .. [1] T. H. Haveliwala, "Topic-Sensitive PageRank", WWW 2002.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2, 5], "b": [2, 5, 7, 7]})
    >>> ends = {"source": "a", "target": "b"}
    >>> gf.personalized_pagerank(links, **ends, sources=[1, 2], top_k=2).compute().round(3)
       source  vertex  pagerank
    0       1       1     0.389
    1       1       7     0.281
    2       2       2     0.541
    3       2       7     0.459
    """
    index, every = places_of(g, sources)
    pull, listed = Pull(g), []
    share, least = pull.shares("float64")[0], (tol or 0) * pull.count
    for first in range(0, len(every), WIDTH):
        last = min(first + WIDTH, len(every))
        batch, ranked = BatchedPull(g, pull, share, index, range(first, last)), []
        for column, change in _final_columns(g, pull, batch, alpha, max_iter, least):
            if fail_on_nonconvergence and tol is not None and change >= least:
                so_far = f"ranks still change by {change / pull.count:.2g} per vertex"
                raise not_converged(so_far, tol, max_iter)
            rank = pull.by_vertex(batch.rank[:, column])
            at = np.flatnonzero(g.exists if top_k is None else rank > 0)
            if top_k is not None:
                at = at[find_largest(rank[at], top_k)]
            ranked.append((first + column, rank[at], g.numbers[at]))
        del batch  # its memory is used to sort the rows
        rows = list_rows(g, ranked, len(every), top_k)
        listed += [(every[place], rank, vertex) for place, rank, vertex in rows]
    source, rank, vertex = (np.concatenate(parts) for parts in zip(*listed, strict=True))
    return Answer({"source": source, "vertex": vertex, "pagerank": rank})


def _final_columns(
    g: GraphView, pull: Pull, batch: BatchedPull, alpha: float, max_iter: int, least: float
) -> Iterator[tuple[int, float]]:
    """Iterate, and yield each column whose ranks have converged, and how much they last changed."""
    converging = np.ones(batch.rank.shape[1], bool)
    for iteration in range(max_iter + 1):
        with g.superstep("pull", pull.count, pull.edges) as step:
            change, dangling = batch.publish()  # those of the previous iteration
            final = (change < least) & (iteration > 0) | (iteration == max_iter)
            columns = np.flatnonzero(converging & final).tolist()
            yield from ((column, change[column]) for column in columns)
            converging &= ~final
            if not converging.any():
                step.clear()
                break
            batch.update(1 - alpha + alpha * dangling, alpha)
