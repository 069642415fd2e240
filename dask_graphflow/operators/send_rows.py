"""Send rows to the members that are to list them in the result."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange

from .view import GraphView

__all__ = ["by_id", "send_rows"]


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


def by_id(g: GraphView, columns: list[Any]) -> list[Any]:
    """Return columns of rows such that the first column is ascending over all members. All members call it.

    Parameters
    ----------
    g : GraphView
    columns : list of array
        The first one has numbers of owned vertices, in the order of their positions.
    """
    if g.shard.placed is None:
        return columns
    homes = np.array(g.shard.homes[1:], like=columns[0])
    send = send_rows(g.exchange, np.searchsorted(homes, columns[0], side="right"))
    columns = [send(column) for column in columns]
    order = np.argsort(columns[0], kind="stable")
    return [column[order] for column in columns]
