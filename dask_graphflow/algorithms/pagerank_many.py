"""PageRank over the members of a gang: what :mod:`.pagerank` returns, bit for bit.

Each vertex pulls, at its owner. What a vertex contributes travels to its mirrors once an iteration, however
many edges leave it; sums are of whole numbers, and so are those of the ranks' changes over all members.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphflow.algorithms._old_advance import superstep
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import kernels_of

from .pulling import pulling
from .ranking import are_weights, check_converged, refuse_total, refuse_weights, shares_of

__all__ = ["ranks_many"]


def ranks_many(
    shard: Shard,
    exchange: Exchange,
    *,
    alpha: float,
    until: Any,
    restart: Any,
    precision: str,
    threads: int,
) -> tuple[Any, list[dict[str, Any]]]:
    """Rank vertices; all members call it.

    Parameters
    ----------
    shard : Shard
    exchange : Exchange
    alpha : float
        The part of the time that edges are followed.
    until : tuple
        ``tol, max_iter, fail_on_nonconvergence`` of :func:`.pagerank.pagerank`.
    restart : array of float64, shape (V_p,), or None
        How likely to restart at each vertex that is owned; None for evenly at all that have an edge.
    precision : str
        The dtype of ranks while they are computed.
    threads : int
        Host threads to use.

    Returns
    -------
    array of floats, shape (V_p,)
        The ranks of the vertices that are owned.
    list of dict
        The iterations; the seconds are this member's.

    Raises
    ------
    WeightError
        A weight of any member is negative, infinite or NaN, or what a vertex has of them is no divisor.
    ConvergenceError
        Ranks still change after the last iteration. Both are raised by all members.
    """
    tol, max_iter, _ = until
    rows, names, size, leaving, has, *_ = pulled = pulling(shard, exchange, threads)
    shares, total = _shares(shard, exchange, leaving, has, len(rows.ends), precision)
    count, edges, sinks = total
    if not count:
        return np.zeros_like(has, "float64"), []
    mirrors = pulled.mirrors(exchange)
    restart = np.array([1 / count], like=has) if restart is None else restart[names]
    shares = shares[names]
    rank = np.full_like(shares, 1 / count)
    # Ranks are all the same to begin with.
    dangling = float(np.dtype(precision).type(1 / count)) * sinks

    kernels = kernels_of("pull", rank)
    contribution = np.zeros_like(rank, shape=size)
    own = contribution[: len(rank)]
    np.multiply(rank, shares, out=own)
    sums = np.zeros_like(rank, np.int64)
    steps: list[dict[str, Any]] = []
    change, sums_ = np.inf, (0, 0)
    exchange.take_traffic()  # what it took so far is no superstep's
    while True:
        began = time.perf_counter()
        # It says too how far the iteration before has changed the ranks of all members.
        mirrors.broadcast(contribution, sums=sums_)
        told = mirrors.receive(lambda at, values: contribution.__setitem__(at, values))
        if steps:
            change, dangling = (part / kernels.CHANGE for part in told.sums)
        if len(steps) == max_iter or (tol is not None and change < tol * count):
            break
        kernels.sum_contributions(rows, contribution, sums, threads=threads)
        base = restart * (1 - alpha + alpha * dangling)
        moved, lost = kernels.apply_sums(sums, rank, shares, own, base, alpha, threads=threads)
        sums_ = moved, lost
        steps.append(superstep("pull", count, edges, time.perf_counter() - began))
    check_converged(max_iter, change, count, until)
    by_vertex = np.zeros_like(rank, shape=shard.owned)
    by_vertex[names] = rank
    return by_vertex, steps


def _shares(
    shard: Shard, exchange: Exchange, leaving: Any, has: Any, entering: int, precision: str
) -> tuple[Any, tuple[int, ...]]:
    """Return by what each vertex's rank is multiplied for its contribution to a neighbour.

    And what all members have together: vertices, edges, and as whole number vertices that no edge leaves.
    """
    kernels = kernels_of("pull", leaving)
    wrong, total = False, leaving.astype("float64")
    host = shard.host
    if host.has("out") and host.out.weights is not None:
        wrong = not are_weights(host.out.weights)
        total = shard.here("totals", kernels_of("pull", host.out.ends).row_totals(host.out))
    shares, unfit = shares_of(total, precision, kernels.ONE)
    dangling = np.count_nonzero((shares == 0) & has)
    own = int(np.count_nonzero(has)), entering, int(dangling)
    found = np.concatenate([np.array([wrong], "float64", like=unfit), unfit[:1]])
    parts = exchange.all_gather(found)
    together = exchange.all_reduce(sums=own).sums
    if any(part[0] for part in parts):
        raise refuse_weights()
    for part in parts:
        if len(part) > 1:
            raise refuse_total(float(part[1]), precision)
    return shares, together
