"""Katz centrality: the number of walks that end at a vertex; longer walks count less.

In each iteration, vertices pull the scores of the vertices that have an edge to them. The new score is
``alpha`` times this sum, plus ``beta`` [1]_. A walk of k edges so counts ``alpha**k`` times. Scores are
proportional to ``beta``, so the iterations compute them with 1, and multiply by ``beta`` at the end.

Scores are summed as whole numbers, so they are bit-identical for every partitioning and number of threads.

.. [1] L. Katz, "A New Status Index Derived from Sociometric Analysis", Psychometrika 18, 1953.
"""

from __future__ import annotations

import itertools
import math
import sys
from typing import Annotated

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, vertices
from dask_graphflow.declarations.convergence import MaxIter, Precision, Tolerance, not_converged
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Number
from dask_graphflow.exceptions import ConvergenceError, OptionError
from dask_graphflow.operators.pull import NeighborSums
from dask_graphflow.operators.view import GraphView

LARGEST = 1e100  # beyond, products of scores and weights could exceed the range of floats
BOUND = 1e300  # limit of products of scores, weights and alpha
ACCURACY = 2.0**-24  # relative error that rounding in a pull may add to a score


@algorithm(
    vertices({"katz": "float64"}),
    weights="optional",
    cost=Cost("pulls", Cost.iterations(), each=1, sparse=4, rows=1.7, copies=1, scratch=90),
)
def katz_centrality(
    g: GraphView,
    *,
    alpha: Annotated[float, Number(above=0, finite=True)] = 0.1,
    beta: Annotated[float, Number(above=0, finite=True)] = 1.0,
    max_iter: MaxIter = 1000,
    tol: Tolerance = 1e-6,
    precision: Precision = "float64",
    normalized: bool = True,
    fail_on_nonconvergence: bool = True,
) -> Answer:
    """Return the Katz centrality of each vertex.

    A vertex scores high if many walks end at it. A walk of k edges counts ``alpha**k`` times the product
    of its weights. Scores are finite if `alpha` is less than one divided by the largest eigenvalue of the
    adjacency matrix.

    Parameters
    ----------
    alpha : float
        How much an edge counts; 0.1 by default.
    beta : float
        Score of a vertex that no edge enters; 1 by default. All scores are proportional to it.
    tol : float
        Stop when the mean absolute change per vertex is less than this times `beta`; 1e-6 by default.
    normalized : bool
        Whether to scale the scores so that their squares sum to 1; True by default.

    Raises
    ------
    ConvergenceError
        `max_iter` iterations did not reach `tol`, or a score exceeds 1e100 times `beta`. Raised when the
        result is computed.

    References
    ----------
    .. [1] L. Katz, "A New Status Index Derived from Sociometric Analysis", Psychometrika 18, 1953.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2], "b": [2, 3, 3]})
    >>> gf.katz_centrality(links, source="a", target="b", normalized=False).compute()
       vertex  katz
    0       1  1.00
    1       2  1.10
    2       3  1.21
    """
    sums = NeighborSums(g, precision)
    entering, count, change = sums.most_entering, sums.count, math.inf
    coarsest = _coarsest(g, sums, alpha)
    sums.begin(0.0)  # scores divided by beta
    for iteration in itertools.count():
        with g.superstep("pull", count, sums.edges) as step:
            sums.publish()
            if iteration:
                change = sums.change()
            if sums.most > LARGEST or alpha * sums.most * entering > BOUND:
                raise ConvergenceError(
                    f"scores may exceed {LARGEST:g} times beta; give an alpha below {alpha:g}. Scores are "
                    "finite if it is less than one divided by the largest eigenvalue of the adjacency "
                    "matrix"
                )
            if iteration == max_iter or (iteration and (change < tol * count or not count)):
                step.clear()
                break
            total, unit = sums.pull(coarsest)
            sums.combine(total, alpha * unit, plus=1.0)
    if fail_on_nonconvergence and count and change >= tol * count:
        so_far = f"scores still change by {change / count:.2g} times beta per vertex"
        raise not_converged(so_far, tol, max_iter, "a smaller alpha, a larger max_iter or tol")
    score, most = sums.scores, sums.most
    if normalized and count:
        score /= math.sqrt(g.total(score * score, most * most))
    elif most * beta > sys.float_info.max:
        raise OptionError(
            f"beta={beta:g}, and the largest score is {most:g} times beta, which is too large for float64; "
            f"give a beta below {sys.float_info.max / most:g}, or normalized=True"
        )
    else:
        score *= beta
    return Answer({"katz": sums.by_vertex(score)})


def _coarsest(g: GraphView, sums: NeighborSums, alpha: float) -> float:
    """Return the largest unit of sums with which scores are accurate.

    A sum of k edges is rounded by at most k units. If w is their total weight, the score is at least
    ``1 + alpha * w``, because no score is less than 1.
    """
    edges = np.diff(sums.layout.rows.offsets)
    weight = edges if sums.entering is None else sums.take(sums.entering)
    with np.errstate(over="ignore"):
        worst = g.largest(edges / (1 / alpha + weight))
    return ACCURACY / worst if worst else math.inf
