"""Random access to the values of any vertex, and rows sent to the members that list them.

A column can be in host memory while numbers and values are on a device, or vice versa.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.kernels import kernels_for, on_device

from .view import GraphView


def fetch(g: GraphView, column: Any, numbers: Any) -> Any:
    """Return the values of a column at vertices of any member. All members call it.

    Parameters
    ----------
    g : GraphView
    column : array, shape (V_p,)
    numbers : array of integers, shape (f,)
        Vertex numbers; any of them can repeat.

    Returns
    -------
    array of the dtype of `column`, shape (f,)
        In the memory of `numbers`.
    """
    where, numbers = numbers, beside(column, numbers)
    if g.member.alone:
        return beside(where, column[numbers])
    distinct, back = np.unique(places_of(g, numbers), return_inverse=True)
    asked = g.member.exchange.all_to_all(_by_owner(g, distinct, distinct))
    received = g.member.exchange.all_to_all(
        [column[places - g.member.shard.low] for places in asked]
    )
    return beside(where, np.concatenate(received)[back])


def combine(g: GraphView, column: Any, numbers: Any, values: Any, slot: str) -> None:
    """Combine values into a column at vertices of any member, in place. All members call it.

    Parameters
    ----------
    g : GraphView
    column : array of integers, shape (V_p,)
    numbers : array of integers, shape (f,)
        Vertex numbers; any of them can repeat.
    values : array of the dtype of `column`, shape (f,)
    slot : {"add", "min"}
        How values of the same vertex are combined.
    """
    numbers, values = beside(column, numbers), beside(column, values)
    at = getattr(kernels_for(column).namespace, {"add": "add", "min": "minimum"}[slot]).at
    if g.member.alone:
        at(column, numbers, values)
        return
    places = places_of(g, numbers)
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    sent = g.member.exchange.all_to_all(_by_owner(g, places, places))
    for to, own in zip(
        sent, g.member.exchange.all_to_all(_by_owner(g, places, values)), strict=True
    ):
        at(column, to - g.member.shard.low, own)


def gather(g: GraphView, values: Any) -> Any:
    """Return the values of all members, concatenated by rank. All members call it."""
    return (
        values
        if g.member.exchange.size == 1
        else np.concatenate(g.member.exchange.all_gather(values))
    )


def beside(array: Any, values: Any) -> Any:
    """Return values copied to the memory of an array, if necessary."""
    if on_device(array):
        return kernels_for(array).namespace.asarray(values)
    return kernels_for(values).to_host(values)


def places_of(g: GraphView, numbers: Any) -> Any:
    """Return the places of vertices of any member, which are their numbers unless the graph is hybrid."""
    placed = g.member.shard.placed
    if placed is None:
        return numbers
    places = g.member.shard.here("places", placed.places) if on_device(numbers) else placed.places
    return beside(numbers, places)[numbers]


def _by_owner(g: GraphView, places: Any, values: Any) -> list[Any]:
    """Cut values, which are in ascending order of their places, at the bounds of the members' ranges."""
    cuts = np.searchsorted(places, np.asarray(g.member.shard.bounds, like=places)).tolist()
    return [values[low:high] for low, high in itertools.pairwise(cuts)]


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
    if g.member.shard.placed is None:
        return columns
    send = send_rows(g.member.exchange, g.member.shard.homes_of(columns[0]))
    columns = [send(column) for column in columns]
    order = np.argsort(columns[0], kind="stable")
    return [column[order] for column in columns]
