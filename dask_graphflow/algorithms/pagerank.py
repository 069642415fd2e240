"""PageRank: the probability that a random surfer is at each vertex.

In each iteration, vertices pull the contributions of their neighbors, which are whole multiples of 2**-62.
Their sums do not depend on the order, so ranks are the same for every partitioning and number of threads.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.convergence import MaxIter, Precision, not_converged
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Number
from dask_graphflow.declarations.vertex_options import EarlierRanks, VertexWeights
from dask_graphflow.exceptions import OptionError
from dask_graphflow.operators.pull import Pull, track_changes
from dask_graphflow.operators.view import GraphView


@algorithm(
    vertices({"pagerank": "float64"}),
    weights="optional",
    incoming=True,
    cost=Cost("pulls", Cost.iterations(), each=1, sparse=4, rows=1.7, copies=1, scratch=75),
)
def pagerank(
    g: GraphView,
    *,
    alpha: Annotated[float, Number(low=0, high=1)] = 0.85,
    tol: Annotated[float | None, Number(above=0)] = 1e-6,
    max_iter: MaxIter = 100,
    personalization: Annotated[Any | None, VertexWeights()] = None,
    nstart: Annotated[Any | None, VertexWeights()] = None,
    dangling: Annotated[Any | None, VertexWeights()] = None,
    previous: Annotated[Any | None, EarlierRanks()] = None,
    precision: Precision = "float64",
    fail_on_nonconvergence: bool = True,
) -> Answer:
    """Return the PageRank of each vertex.

    A vertex ranks high if vertices that rank high have edges to it. The rank of a vertex is divided over
    the edges that leave it, evenly or in proportion to their weights. The rank of *dangling* vertices,
    which no edge leaves, is distributed like restarts, or as asked [1]_. Ranks sum to 1.

    Parameters
    ----------
    alpha : float
        Damping factor: the probability of following an edge, from 0 to 1. 0.85 by default.
    tol : float or None
        Stop when the mean absolute change per vertex is less than this; 1e-6 by default. None runs
        exactly `max_iter` iterations.
    personalization : dict, Series or DataFrame, optional
        Restart weights: a dict or Series indexed by vertex id, or a frame with id columns followed by one
        weight column. Uniform by default.
    nstart : dict, Series or DataFrame, optional
        Ranks to start from, in the same forms, for example those of an earlier result. They are scaled to
        sum to 1. Uniform by default.
    dangling : dict, Series or DataFrame, optional
        Where the surfer goes from vertices that no edge leaves: weights in the same forms. The restart
        weights by default.
    previous : DataFrame, optional
        Ranks to start from: the result of an earlier call, usually on the graph from which
        :meth:`~dask_graphflow.Graph.update` made this one, but any earlier graph does. New vertices start
        with an equal part, and ids that are no longer in the graph are ignored. The result is as exact as
        without `previous`, and takes fewer iterations. With "float64" on a host, only vertices whose ranks
        still change are computed again, if they have few edges. Give either `nstart` or `previous`.
    precision : {"float64", "float32"}
        Precision of the ranks during the computation. With "float32" an iteration reads half as much
        memory, and ranks are accurate to about 5 digits. "float64" by default.

    References
    ----------
    .. [1] L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank Citation Ranking: Bringing Order to the
       Web", Stanford, 1999.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2, 5], "b": [2, 5, 7, 7]})
    >>> gf.pagerank(links, source="a", target="b").compute().pagerank.round(3).tolist()
    [0.138, 0.196, 0.196, 0.471]
    """
    pull = Pull(g)
    share, sinks = pull.shares(precision)
    if not pull.count:
        return Answer({"pagerank": g.column(0, "float64")})
    uniform = np.dtype(precision).type(1 / pull.count)
    rank, dangling_rank, change = np.full_like(share, uniform), float(uniform) * sinks, math.inf
    if nstart is not None or previous is not None:
        start = pull.take(nstart) if previous is None else _start(g, pull.take(previous), nstart)
        rank = start.astype(precision)
        dangling_rank = g.total(start * (share == 0), 1.0) if sinks else 0.0
    # The probability that a restart, or a step from a dangling vertex, leads to each vertex.
    restart = np.array([1 / pull.count], like=rank)
    if personalization is not None:
        restart = pull.take(personalization)
    onward = None if dangling is None else pull.take(dangling)
    pull.begin(rank, share, dangling_rank)
    iteration, limit = 0, -math.inf if tol is None else tol * pull.count
    changes, settled = None, False
    if previous is not None:
        changes = track_changes(g, pull, rank, share, alpha, limit)
    del share  # so that `end` frees it
    while True:
        with g.superstep("pull", pull.count, pull.edges) as step:
            pull.publish(change=tol is not None)
            if iteration and tol is not None and not settled:
                change = pull.change()
            if iteration == max_iter or change < limit:
                step.clear()
                break
            most = max_iter - iteration if changes is None else 1
            done = pull.update(restart, onward, alpha, limit, most)
            step["times"] = done
        iteration += done
        if changes is not None and (settled := changes.settle(max_iter - iteration)):
            change, iteration = changes.left, iteration + changes.iterations
            if change < limit:
                return Answer({"pagerank": changes.ranks})
    if fail_on_nonconvergence and tol is not None and change >= limit:
        so_far = f"ranks still change by {change / pull.count:.2g} per vertex"
        raise not_converged(so_far, tol, max_iter)
    return Answer({"pagerank": pull.end()})


def _start(g: GraphView, earlier: Any, nstart: Any) -> Any:
    """Return earlier ranks, in which new vertices have an equal part, scaled to sum to 1."""
    if nstart is not None:
        raise OptionError("nstart= and previous= both give the first ranks; give only one of them")
    earlier[np.isnan(earlier)] = 1 / g.count
    earlier /= g.total(earlier, g.largest(earlier))
    return earlier
