"""Send rows to the members that list them in the result."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange

from .view import GraphView

__all__ = ["by_id", "by_rank", "send_rows"]


def send_rows(exchange: Exchange, to: Any) -> Callable[[Any], Any]:
    """Return a function that sends a column of rows to other members, and returns what this one receives.

    All members call the function, once per column, in the same order. A member receives the rows of the
    first member, then the rows of the second, and so on. Rows from the same member keep their order.

    Parameters
    ----------
    exchange : Exchange
    to : array of integers, shape (r,)
        Rank of the member that gets each row.
    """
    if exchange.size == 1:
        return lambda values: values
    pieces = by_rank(exchange, to)

    def send(values: Any) -> Any:
        return np.concatenate(exchange.all_to_all([values[piece] for piece in pieces]))

    return send


def by_rank(exchange: Exchange, to: Any) -> list[Any]:
    """Return the indices of the rows that each member gets: one array of int64 per member, ascending.

    Parameters
    ----------
    exchange : Exchange
    to : array of integers, shape (r,)
        Rank of the member that gets each row.
    """
    order = np.argsort(to, kind="stable")
    cuts = np.searchsorted(to[order], np.arange(exchange.size + 1, like=to)).tolist()
    return [order[low:high] for low, high in itertools.pairwise(cuts)]


def by_id(g: GraphView, columns: list[Any]) -> list[Any]:
    """Sort rows so that the first column ascends over all members. All members call it.

    Parameters
    ----------
    g : GraphView
    columns : list of array
        The first column contains numbers of owned vertices, in the order of their positions.
    """
    if g.shard.placed is None:
        return columns
    homes = np.array(g.shard.homes[1:], like=columns[0])
    send = send_rows(g.exchange, np.searchsorted(homes, columns[0], side="right"))
    columns = [send(column) for column in columns]
    order = np.argsort(columns[0], kind="stable")
    return [column[order] for column in columns]
