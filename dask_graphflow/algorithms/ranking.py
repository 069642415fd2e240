"""What PageRank does alike in one process and over the members of a gang."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.exceptions import ConvergenceError, WeightError
from dask_graphflow.showing.tables import counted

__all__ = ["are_weights", "check_converged", "refuse_total", "refuse_weights", "shares_of"]


def are_weights(weights: Any) -> bool:
    """Say whether all weights are ones that a rank can be divided by."""
    return bool(np.isfinite(weights).all() and (weights >= 0).all())


def refuse_weights() -> WeightError:
    """Return the error for other weights."""
    return WeightError(
        "a weight is negative, infinite or NaN; PageRank needs finite weights of at least 0. "
        "Remove these edges, or leave out weight="
    )


def shares_of(total: Any, precision: str, one: float) -> tuple[Any, Any]:
    """Return by what ranks are multiplied for their contributions, and the totals that are no divisors.

    Parameters
    ----------
    total : array of float64, shape (n,)
        Of the weights of the edges that leave each vertex.
    precision : str
        The shares' dtype.
    one : float
        What a contribution of 1 is as a whole number.
    """
    with np.errstate(all="ignore"):
        shares = np.where(total > 0, one / total, 0).astype(precision)
        # A rank of 1e-15 times it must be exact too.
        fits = (shares >= np.finfo(precision).tiny * 1e15) & np.isfinite(shares)
    return shares, total[~(fits | (total == 0))]


def refuse_total(unfit: float, precision: str) -> WeightError:
    """Return the error for a total that is no divisor."""
    return WeightError(
        f"the weights of the edges that leave a vertex add up to {unfit:g}, and {precision} cannot "
        "divide by this sum; scale the weights to about 1"
    )


def check_converged(steps: int, change: float, count: int, until: tuple[Any, int, bool]) -> None:
    """Raise where ranks still change after the last iteration, if they are not to."""
    tol, _, strict = until
    if strict and tol is not None and change >= tol * count:
        raise ConvergenceError(
            f"after {counted(steps, 'iteration')} ranks still change by {change / count:.2g} per vertex, "
            f"which is not below tol={tol:g}; give a larger max_iter or tol, or set "
            "fail_on_nonconvergence=False to get the ranks so far"
        )
