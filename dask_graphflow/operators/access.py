"""Access to values and rows of any member: fetched values, wide columns, selected rows, sent rows.

A *wide* column has one entry per owned vertex, followed by one per mirror.

A column can be in host memory while numbers and values are on a device, or vice versa.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from operator import setitem
from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange, Totals
from dask_graphflow.comm.mirrors import Mirrors
from dask_graphflow.graph import stored
from dask_graphflow.graph.blocks import per_edge
from dask_graphflow.graph.offsets import items_of, offsets_of
from dask_graphflow.kernels import check_room, kernels_for, on_device
from dask_graphflow.kernels import move_to as move_to  # which algorithms use, too
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.csr import Rows

from .view import GraphView


def fetch(g: GraphView, column: Any, numbers: Any) -> Any:
    """Return the values of a column at vertex numbers of any member, which may repeat.

    All members call it. The result is in the memory of `numbers`.
    """
    where, numbers = numbers, move_to(column, numbers)
    if g.member.alone:
        return move_to(where, column[numbers])
    distinct, back = np.unique(places_of(g, numbers), return_inverse=True)
    asked = g.member.exchange.all_to_all(_by_owner(g, distinct, distinct))
    low = g.member.shard.low
    received = g.member.exchange.all_to_all([column[places - low] for places in asked])
    return move_to(where, np.concatenate(received)[back])


def combine(g: GraphView, column: Any, numbers: Any, values: Any, slot: str) -> None:
    """Combine values into a column of integers at vertex numbers of any member, which may repeat, in place.

    All members call it. `slot` is "add" or "min".
    """
    numbers, values = move_to(column, numbers), move_to(column, values)
    at = getattr(kernels_for(column).namespace, {"add": "add", "min": "minimum"}[slot]).at
    if g.member.alone:
        at(column, numbers, values)
        return
    places = places_of(g, numbers)
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    for to, own in swap_columns(
        g, list(zip(_by_owner(g, places, places), _by_owner(g, places, values), strict=True))
    ):
        at(column, to - g.member.shard.low, own)


def gather(g: GraphView, values: Any) -> Any:
    """Return the values of all members, concatenated by rank. All members call it."""
    exchange = g.member.exchange
    return values if exchange.size == 1 else np.concatenate(exchange.all_gather(values))


def gather_on_host(g: GraphView, values: Any) -> Any:
    """Return the values of all members in host memory, concatenated by rank. All members call it."""
    return gather(g, kernels_for(values).to_host(values))


def check_host_room(g: GraphView, needed: float, what: str, advice: str) -> None:
    """Raise :class:`.GraphMemoryError` if this member's host has no room; see :func:`.check_room`."""
    limit = g.member.exchange.resources.memory(device=False)
    check_room(kernels_for(np.empty(0)), needed, what, advice, limit)


def places_of(g: GraphView, numbers: Any) -> Any:
    """Return the places of vertices of any member, which are their numbers unless the graph is hybrid."""
    placed = g.member.shard.placed
    if placed is None:
        return numbers
    places = (
        g.member.shard.here(stored.PLACES, placed.places) if on_device(numbers) else placed.places
    )
    return move_to(numbers, places)[numbers]


def positions_of(g: GraphView, places: Any) -> Any:
    """Return the indices in a :func:`wide_column` of vertices at some places; -1 if there is no mirror."""
    shard, slots = g.member.shard, g.member.local("out").slots
    positions = np.where((places >= shard.low) & (places < shard.high), places - shard.low, -1)
    if len(slots):
        at = np.minimum(np.searchsorted(slots, places), len(slots) - 1)
        positions = np.where(slots[at] == places, at + g.owned, positions)
    return positions


def _by_owner(g: GraphView, places: Any, values: Any) -> list[Any]:
    """Cut values, which are in ascending order of their places, at the bounds of the members' ranges."""
    cuts = np.searchsorted(places, np.asarray(g.member.shard.bounds, like=places)).tolist()
    return [values[low:high] for low, high in itertools.pairwise(cuts)]


def send_rows(exchange: Exchange, to: Any) -> Callable[[Any], Any]:
    """Return a function that sends a column of rows to members, and returns what this one receives.

    `to` has the rank of the member that gets each row. All members call the function, once per column, in
    the same order. A member receives the rows of the first member, then the rows of the second, and so on.
    Rows from the same member keep their order.
    """
    if exchange.size == 1:
        return lambda values: values
    pieces = by_rank(exchange, to)

    def send(values: Any) -> Any:
        return np.concatenate(exchange.all_to_all([values[piece] for piece in pieces]))

    return send


def swap_columns(g: GraphView, sent: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Send each member some arrays, and return the arrays from each member. None is not sent."""
    swap = g.member.exchange.all_to_all
    columns = (list(parts) for parts in zip(*sent, strict=True))
    received = [parts if parts[0] is None else swap(parts) for parts in columns]
    return list(zip(*received, strict=True))


def by_rank(exchange: Exchange, to: Any) -> list[Any]:
    """Return the indices of the rows that each member gets, ascending; `to` are the rows' ranks."""
    order = np.argsort(to, kind="stable")
    cuts = np.searchsorted(to[order], np.arange(exchange.size + 1, like=to)).tolist()
    return [order[low:high] for low, high in itertools.pairwise(cuts)]


def by_id(g: GraphView, columns: list[Any]) -> list[Any]:
    """Sort rows so that the first column ascends over all members. All members call it.

    The first column contains numbers of owned vertices, in the order of their positions.
    """
    return columns if g.member.shard.placed is None else send_home(g, columns)


def send_home(g: GraphView, columns: list[Any], keys: int = 1) -> list[Any]:
    """Send rows to the members that list the vertices of the first column. All members call it.

    They are sorted by the first `keys` columns.
    """
    send = send_rows(g.member.exchange, g.member.shard.homes_of(columns[0]))
    return sort_rows([send(column) for column in columns], keys)


def send_to_lister(g: GraphView, columns: list[Any], group: int, count: int) -> list[Any]:
    """Send rows of a group to the member that lists it, in the order of their vertices.

    All members call it. The first column contains numbers of owned vertices, in the order of their
    positions. For `group` and `count`, see :func:`send_groups`.
    """
    send = send_groups(g, np.full_like(columns[0], group), count)
    columns = [send(column) for column in columns]
    return columns if g.member.shard.placed is None else sort_rows(columns, 1)


def send_groups(g: GraphView, groups: Any, count: int) -> Callable[[Any], Any]:
    """Return a function that sends a column of rows to the members that list their groups.

    Groups have the numbers 0 to ``count - 1``, and each member lists about as many as the others. See
    :func:`send_rows`.
    """
    return send_rows(g.member.exchange, groups * g.member.exchange.size // count)


def own_part(g: GraphView, count: int) -> slice:
    """Return which of `count` rows, which all members have, this member lists."""
    rank, size = g.member.exchange.rank, g.member.exchange.size
    return slice(count * rank // size, count * (rank + 1) // size)


def sum_parts(g: GraphView, values: Any) -> Any:
    """Return the sums over all members of the entries in :func:`own_part`. All members call it."""
    size = g.member.exchange.size
    if size == 1:
        return values
    cuts = [len(values) * rank // size for rank in range(size + 1)]
    received = g.member.exchange.all_to_all([values[a:b] for a, b in itertools.pairwise(cuts)])
    return sum(received[1:], start=received[0])


def sort_rows(columns: list[Any], keys: int) -> list[Any]:
    """Return rows in ascending order of their first `keys` columns; equal rows keep their order."""
    order = np.argsort(columns[keys - 1], kind="stable")
    for key in columns[keys - 2 :: -1] if keys > 1 else ():
        order = order[np.argsort(key[order], kind="stable")]
    return [None if column is None else column[order] for column in columns]


def wide_column(g: GraphView, column: Any) -> Any:
    """Return a copy of a column, with the values of the mirrors of leaving edges. All members call it."""
    wide = np.empty_like(column, shape=g.member.local("out").size)
    wide[: g.owned] = column
    if not g.member.alone:
        update_mirrors(g.member.mirrors("out"), wide)
    return wide


def update_mirrors(
    mirrors: Mirrors, column: Any, changed: Any = None, sums: Sequence[int] = ()
) -> Totals:
    """Set the mirrors' entries of a wide column to the values of their owners. All members call it.

    Only the owned vertices at the ascending positions `changed` are sent; all by default. The same round
    adds up `sums` over all members.
    """
    mirrors.broadcast(column, changed, sums)
    return mirrors.receive(partial(setitem, column))


def sums_of_owned(g: GraphView, column: Any) -> Any:
    """Return the entries of owned vertices, each with those of its mirrors added. All members call it.

    The result is a part of the wide column, which is changed in place.
    """
    if g.member.exchange.size > 1:
        mirrors = g.member.mirrors("out")
        mirrors.reduce(column)

        def add(at: Any, values: Any) -> None:
            column[at] += values

        mirrors.receive(add)
    return column[: g.owned]


def count_entering(g: GraphView) -> Any:
    """Return the number of edges that enter each owned vertex. All members call it.

    The ends of the edges are counted, so no rows of entering edges are made.
    """
    local = g.member.local("out")
    ends = local.rows.ends
    counts = rows_kernels.of(ends).degrees(ends, count=local.size, threads=g.member.threads)
    return sums_of_owned(g, counts)


def sources_of(g: GraphView, rows: Rows, dtype: Any = None) -> Any:
    """Return the row of each entry of some rows, which is the source of an edge, as the ends or a dtype."""
    owners = rows_kernels.of(rows.ends).owners
    return owners(rows, rows.ends.dtype if dtype is None else dtype, threads=g.member.threads)


def edge_ends(g: GraphView) -> tuple[Any, Any, Any]:
    """Return the sources, the targets and the weights of the edges that leave owned vertices.

    Sources and targets are indices in a :func:`wide_column`. Weights can be None. All members call it.
    """
    rows = g.member.local("out").rows
    return sources_of(g, rows), rows.ends, rows.weights


def at_ends(g: GraphView, column: Any, value: Callable[..., Any], weights: Any = None) -> Any:
    """Return a value for each edge of ``g.member.rows("out")``, from those of a column at both ends.

    All members call it. `value` takes the values at the sources and at the targets of some edges, and their
    weights if there are any, and returns an array. The result is on disk if the edges are.
    """
    values = wide_column(g, column)
    rows = g.member.local("out").rows._replace(weights=weights)

    def of_block(block: Any) -> Any:
        owners = sources_of(g, block)
        weighted = () if block.weights is None else (block.weights,)
        return value(values[owners], values[block.ends], *weighted)

    return per_edge(rows, of_block)


def entries_of(rows: Rows, which: Any, threads: int) -> tuple[Any, Any, Any]:
    """Return the offsets of selected rows once they are concatenated, and their entries in `rows`.

    For each entry, the second result is the index of its row in `which`, and the third its index in `rows`.
    All are arrays of int64.
    """
    offsets = offsets_of(rows.offsets[which + 1] - rows.offsets[which])
    row, entries = items_of(offsets, threads)
    entries += (rows.offsets[which] - offsets[:-1])[row]
    return offsets, row, entries
