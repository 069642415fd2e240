"""Send rows to the members that are to list them in the result."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange

__all__ = ["send_rows"]


def send_rows(exchange: Exchange, to: Any) -> Callable[[Any], Any]:
    """Return a function that sends a column of rows to other members, and returns what this one receives.

    All members call the function, once per column, in the same order. A member receives the rows of the
    first member, then those of the second, and so on. Rows of one member stay in their order.

    Parameters
    ----------
    exchange : Exchange
    to : array of integers, shape (r,)
        Rank of the member that gets each row.
    """
    if exchange.size == 1:
        return lambda values: values
    order = np.argsort(to, kind="stable")
    ranks = np.arange(exchange.size + 1, like=to)
    cuts = np.searchsorted(to[order], ranks).tolist()
    pieces = [order[low:high] for low, high in itertools.pairwise(cuts)]

    def send(values: Any) -> Any:
        return np.concatenate(exchange.all_to_all([values[piece] for piece in pieces]))

    return send
