"""PageRank: the probability that a random surfer is at each vertex.

The surfer follows a random edge with probability alpha, and otherwise restarts at a random vertex. The
result has a row for every vertex with its rank; ranks sum to 1.

A rank has two parts: (1 - alpha) times the restart probability of the vertex, and alpha times the sum of
the contributions of its neighbors. Each neighbor divides its own rank over the edges that leave it, in
proportion to their weights. The rank of *dangling* vertices, which no edge leaves, is distributed like the
restarts [1]_. In each iteration, vertices pull the contributions of their neighbors, until the mean change
per vertex is less than ``tol``.

Contributions are summed as integer multiples of 2**-62. Such sums do not depend on the order, so ranks are
bit-identical for every partitioning and number of threads.

.. [1] L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank Citation Ranking: Bringing Order to the
   Web", Stanford, 1999.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphflow.graph.shards import Shards
from dask_graphflow.kernels import kernels_of
from dask_graphflow.operators.advance import superstep

from .algorithm import Answer, View, algorithm
from .options import Choice, Count, Flag, Number, VertexWeights
from .pagerank_many import ranks_many
from .ranking import are_weights, check_converged, refuse_total, refuse_weights, shares_of

__all__ = ["pagerank"]


@algorithm(
    columns={"pagerank": "float64"},
    checks={
        "alpha": Number(low=0, high=1),
        "tol": Number(above=0, optional=True),
        "max_iter": Count(),
        "personalization": VertexWeights(),
        "precision": Choice(("float64", "float32")),
        "fail_on_nonconvergence": Flag(),
    },
    weights="optional",
    incoming=True,
)
def pagerank(
    g: View,
    *,
    alpha: float = 0.85,
    tol: float | None = 1e-6,
    max_iter: int = 100,
    personalization: Any = None,
    precision: str = "float64",
    fail_on_nonconvergence: bool = True,
) -> Answer:
    """Return the PageRank of each vertex.

    A vertex ranks high if vertices that rank high have edges to it. The rank of a vertex is divided over
    the edges that leave it, in proportion to their weights, or evenly if there are none. Ranks sum to 1.

    Parameters
    ----------
    alpha : float
        Damping factor: the probability of following an edge, from 0 to 1. 0.85 by default.
    tol : float or None
        Stop when the mean absolute change per vertex is less than this; 1e-6 by default. None runs
        exactly `max_iter` iterations.
    max_iter : int
        Maximum number of iterations; 100 by default.
    personalization : dict, Series or DataFrame, optional
        Restart weights: a dict or Series indexed by vertex id, or a frame with id columns followed by one
        weight column. Uniform by default.
    precision : {"float64", "float32"}
        Precision of the ranks during the computation. With "float32" an iteration reads half as much
        memory, and ranks are accurate to about 5 digits. "float64" by default.
    fail_on_nonconvergence : bool
        If `max_iter` iterations do not reach `tol`: True, the default, raises an error; False returns the
        ranks so far.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
        ``pagerank`` (float64).

    Raises
    ------
    ConvergenceError
        `max_iter` iterations did not reach `tol`. Raised when the result is computed.
    WeightError
        A weight is negative, infinite or NaN. Raised when the result is computed.
    UnknownVertexError
        An id in `personalization` is not in the graph: no edge starts or ends there. Raised when the
        result is computed.

    References
    ----------
    .. [1] L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank Citation Ranking: Bringing Order to the
       Web", Stanford, 1999.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2, 5], "b": [2, 5, 7, 7]})
    >>> gf.pagerank(links, source="a", target="b").compute().round(3)
       vertex  pagerank
    0       1     0.138
    1       2     0.196
    2       5     0.196
    3       7     0.471
    """
    how: dict[str, Any] = {"alpha": alpha, "until": (tol, max_iter, fail_on_nonconvergence)}
    how |= {"restart": personalization, "precision": precision}
    found, g.steps = g.call(ranks, ranks_many, **how)
    return Answer({"pagerank": found.astype("float64")})


def ranks(
    shards: Shards, *, alpha: float, until: Any, restart: Any, precision: str, threads: int
) -> tuple[Any, list[dict[str, Any]]]:
    """Return each vertex's rank, and the iterations."""
    tol, max_iter, _ = until
    occurs = shards.occurs()
    count = int(occurs.sum())
    if not count:
        return np.zeros_like(occurs, "float64"), []
    shares = _shares(shards, precision, threads)
    rows, labels, names = shards.hubs_first("into", threads)
    if labels is not None:  # the last labels are of what is no vertex
        rows, names = rows._replace(offsets=rows.offsets[: count + 1]), names[:count]
        shares = shares[names]
    everywhere = count == len(shares)
    if restart is None:
        restart = np.array([1 / count], like=occurs) if everywhere else occurs / count
    elif labels is not None:
        restart = restart[names]
    rank = np.full_like(shares, 1 / count) if everywhere else (occurs / count).astype(precision)
    kernels = kernels_of("pull", rank)
    contribution, sums = rank * shares, np.zeros_like(rank, np.int64)
    # Ranks are all the same to begin with.
    dangling = float(rank.max()) * int(np.count_nonzero((shares == 0) & (rank > 0)))
    steps: list[dict[str, Any]] = []
    change = np.inf
    while len(steps) < max_iter and (tol is None or change >= tol * count):
        began = time.perf_counter()
        kernels.sum_contributions(rows, contribution, sums, threads=threads)
        base = restart * (1 - alpha + alpha * dangling)
        arrays = sums, rank, shares, contribution, base
        moved, lost = kernels.apply_sums(*arrays, alpha, threads=threads)
        change, dangling = moved / kernels.CHANGE, lost / kernels.CHANGE
        steps.append(superstep("pull", count, len(rows.ends), time.perf_counter() - began))
    check_converged(max_iter, change, count, until)
    if labels is not None:
        by_vertex = np.zeros_like(rank, shape=shards.size)
        by_vertex[names] = rank
        rank = by_vertex
    return rank, steps


def _shares(shards: Shards, precision: str, threads: int) -> Any:
    """Return by what each vertex's rank is multiplied for its contribution to a neighbour."""
    totals = []
    kernels = kernels_of("pull", shards.out(threads)[0].ends)
    for rows in shards.out(threads):
        if rows.weights is None:
            totals.append(np.diff(rows.offsets).astype("float64"))
            continue
        if not are_weights(rows.weights):
            raise refuse_weights()
        totals.append(kernels.row_totals(rows))
    shares, unfit = shares_of(np.concatenate(totals), precision, kernels.ONE)
    if len(unfit):
        raise refuse_total(float(unfit[0]), precision)
    return shares
