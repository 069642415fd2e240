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
import pandas as pd

from dask_graphflow.algorithms._old_advance import superstep
from dask_graphflow.api.graph import Graph
from dask_graphflow.api.inputs import check_count
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import OptionError
from dask_graphflow.graph import dtypes, numbering
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.shards import Shards
from dask_graphflow.graph.vertex_ids import named, numbers_of
from dask_graphflow.kernels import kernels_for, kernels_of
from dask_graphflow.showing.tables import counted

from .answers import Answer
from .pagerank_many import ranks_many
from .ranking import are_weights, check_converged, refuse_total, refuse_weights, shares_of

__all__ = ["pagerank", "rank"]

PRECISIONS = ("float64", "float32")


def pagerank(
    edges: Any,
    *,
    source: Any,
    target: Any,
    weight: Any = None,
    directed: bool = True,
    multi: str = "keep",
    dropna: bool = False,
    alpha: float = 0.85,
    tol: float | None = 1e-6,
    max_iter: int = 100,
    personalization: Any = None,
    precision: str = "float64",
    fail_on_nonconvergence: bool = True,
    trace: bool = False,
    progress: Any = False,
) -> Any:
    """Return the PageRank of each vertex.

    A vertex ranks high if vertices that rank high have edges to it. Ranks sum to 1.

    Parameters
    ----------
    edges, source, target, weight, directed, multi, dropna
        The graph; see :class:`~dask_graphflow.Graph`. The rank of a vertex is divided over the edges that
        leave it, in proportion to their weights, or evenly without `weight`. With ``directed=False``,
        every edge counts in both directions.
    alpha : float, optional
        Damping factor: the probability of following an edge, from 0 to 1. 0.85 by default.
    tol : float or None, optional
        Stop when the mean absolute change per vertex is less than this; 1e-6 by default. None runs
        exactly `max_iter` iterations.
    max_iter : int, optional
        Maximum number of iterations; 100 by default.
    personalization : dict, Series or DataFrame, optional
        Restart weights: a dict or Series indexed by vertex id, or a frame with id columns followed by one
        weight column. Uniform by default.
    precision : {"float64", "float32"}, optional
        Precision of the ranks during the computation. With "float32" an iteration reads half as much
        memory, and ranks are accurate to about 5 digits. "float64" by default.
    fail_on_nonconvergence : bool, optional
        If `max_iter` iterations do not reach `tol`: True, the default, raises an error; False returns the
        ranks so far.
    trace : bool, optional
        Also return a frame with one row per iteration. False by default.
    progress : bool or callable, optional
        Report each iteration when it ends; see :func:`dask_graphflow.bfs`.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
        ``pagerank`` (float64). The result is lazy, and bit-identical for every partitioning and number of
        threads. The index restarts at 0 in each partition.
    dask.dataframe.DataFrame
        Only with `trace`: one row per iteration; see :func:`dask_graphflow.bfs`.

    Raises
    ------
    ConvergenceError
        `max_iter` iterations did not reach `tol`. Raised when the result is computed.
    WeightError
        A weight is negative, infinite or NaN. Raised when the result is computed.
    UnknownVertexError
        An id in `personalization` is not in the graph: no edge starts or ends there. Raised when the
        result is computed.
    OptionError, UnknownColumnError, VertexTypeError, EdgeListError
        An argument is invalid; raised at the call.

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
    graph = Graph(
        edges,
        source=source,
        target=target,
        weight=weight,
        directed=directed,
        multi=multi,
        dropna=dropna,
    )
    return rank(
        graph,
        alpha=alpha,
        tol=tol,
        max_iter=max_iter,
        personalization=personalization,
        precision=precision,
        fail_on_nonconvergence=fail_on_nonconvergence,
        trace=trace,
        progress=progress,
    )


def rank(
    graph: Graph,
    *,
    alpha: float,
    tol: float | None,
    max_iter: int,
    personalization: Any,
    precision: str,
    fail_on_nonconvergence: bool,
    trace: bool,
    progress: Any,
) -> Any:
    """Rank the vertices of a graph: see :func:`pagerank`."""
    if not isinstance(alpha, int | float | np.number) or not 0 <= alpha <= 1:
        raise OptionError(f"alpha={alpha!r}; give a number from 0 to 1")
    if tol is not None and not (isinstance(tol, int | float | np.number) and tol > 0):
        raise OptionError(f"tol={tol!r}; give a number above 0, or None for max_iter iterations")
    check_count("max_iter", max_iter)
    if precision not in PRECISIONS:
        raise OptionError(f"precision={precision!r}; give {' or '.join(map(repr, PRECISIONS))}")
    where = None if personalization is None else _personal(graph, personalization)
    until = tol, max_iter, fail_on_nonconvergence
    given = alpha, until, where, precision
    dtypes = {"pagerank": "float64"}
    how: dict[str, Any] = {"turned": where is None, "trace": trace}
    return graph._ask("pagerank", _rank_many, dtypes, *given, progress=progress, **how)


def _personal(graph: Graph, given: Any) -> tuple[Any, Any]:
    """Return the ids to restart at as a frame, and their parts."""
    if isinstance(given, dict):
        given = pd.Series(given)
    elif hasattr(given, "to_pandas") and not hasattr(given, "columns"):
        given = given.to_pandas()
    if hasattr(given, "columns"):
        width = len(graph._ids.columns)
        if len(given.columns) != width + 1:
            raise OptionError(
                f"personalization has {counted(len(given.columns), 'column')}; give the id in "
                f"{counted(width, 'column')}, then the restart weights in one more, and no others"
            )
        ids = named(given.iloc[:, :width], graph._ids)
        parts = given.iloc[:, width]
    elif isinstance(given, pd.Series):
        ids, parts = named(list(given.index), graph._ids), given
    else:
        raise OptionError(
            f"personalization is a {type(given).__name__}; give a dict, a Series or a DataFrame"
        )
    if not dtypes.is_number(parts.dtype):
        raise OptionError(
            f"personalization has parts of dtype {parts.dtype}; give a number for each id"
        )
    values = parts.to_numpy("float64", na_value=np.nan)
    if not (np.isfinite(values).all() and (values >= 0).all() and values.sum() > 0):
        raise OptionError("personalization has parts that are negative or no number, or only zeros")
    return ids, values / values.sum()


def _rank(
    shards: Shards, threads: int, alpha: float, until: Any, where: Any, precision: str
) -> Answer:
    restart = None
    if where is not None:
        ids, parts = where
        numbers = numbers_of(shards, ids, unique=False)
        library = kernels_for(numbers).namespace
        restart = library.zeros(shards.size)
        library.add.at(restart, numbers, library.asarray(parts))
    found, steps = ranks(
        shards, alpha=alpha, until=until, restart=restart, precision=precision, threads=threads
    )
    return Answer({"pagerank": found.astype("float64")}, steps=steps)


def _rank_many(
    shard: Shard,
    exchange: Exchange,
    threads: int,
    alpha: float,
    until: Any,
    where: Any,
    precision: str,
) -> Answer:
    restart = None
    if where is not None:
        ids, parts = where
        numbers = numbering.numbers_of(shard, exchange, ids, unique=False)
        library, own = kernels_for(numbers).namespace, numbers >= 0
        restart = library.zeros(shard.owned)
        library.add.at(restart, numbers[own], library.asarray(parts)[own])
    how: dict[str, Any] = {"alpha": alpha, "until": until, "precision": precision}
    found, steps = ranks_many(shard, exchange, restart=restart, threads=threads, **how)
    return Answer({"pagerank": found.astype("float64")}, steps=steps)


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
