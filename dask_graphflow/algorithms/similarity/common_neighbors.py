"""Common neighbors of pairs of vertices: of given pairs, or of all pairs that have any.

The neighbors of a vertex are the ends of its row in a graph without directions, self-loops and parallel
edges. Each neighbor has a weight, and the weights of common neighbors are added up. The weights are whole
numbers, so sums are the same in every order.

Memory is bounded: given pairs or vertices are processed in blocks. The rows that are read for a block
have at most :data:`BLOCK` entries, unless they belong to a single vertex.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import kernels_of
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.operators.gather_rows import entries_of, offsets_of
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.wide_column import wide_column

BLOCK = 1 << 24  # maximum number of row entries that are read for a block


def degrees_at(g: GraphView, places: Any) -> Any:
    """Return the degrees of vertices of any member. All members call it with the same places."""
    shard = g.shard
    if g.alone:
        return g.degrees[places]
    own = (places >= shard.low) & (places < shard.high)
    degrees = np.full_like(places, -1)
    degrees[own] = g.degrees[places[own] - shard.low]
    return g.elementwise_max(degrees)


def of_pairs(g: GraphView, pairs: tuple[Any, Any], degrees: list[Any], weights: Any = None) -> Any:
    """Return the sum of the weights of the common neighbors of each of some pairs.

    All members call it. The shorter of a pair's two rows is sent to the owner of the other row, if that is
    another member.

    Parameters
    ----------
    g : GraphView
        An undirected graph without self-loops and parallel edges.
    pairs : pair of array of int64, shape (n,)
        The same for all members: places of the first and of the second vertices.
    degrees : pair of array of int64, shape (n,)
        The degrees of these vertices.
    weights : array of int64, shape (V_p,), optional
        The weight of each vertex; 1 by default.

    Returns
    -------
    array of int64
        The sums of the pairs that this member lists, which begin at ``n * rank // members``.
    """
    (first, second), shard, exchange = pairs, g.shard, g.exchange
    own = g.rows("out")._replace(first=0)
    own = own._replace(ends=shard.numbers_at(own.ends, g.threads))  # ascending in each row
    if weights is not None:
        own = own._replace(weights=wide_column(g, weights)[g.local("out").rows.ends])
    kernels = kernels_of("intersect", own.ends)
    shorter = degrees[0] <= degrees[1]
    short, long = np.where(shorter, first, second), np.where(shorter, second, first)
    if g.alone:
        return kernels.common(own, own, short, long, threads=g.threads)
    size = np.where(shorter, *degrees)
    short_owner, long_owner = shard.owners(short), shard.owners(long)
    sums = np.zeros_like(first)
    for low, high in _blocks(offsets_of(size)):
        part = slice(low, high)
        mine, here = short_owner[part] == exchange.rank, long_owner[part] == exchange.rank
        sent = []
        for rank in range(exchange.size):
            which = np.unique(short[part][mine & (long_owner[part] == rank)]) - shard.low
            sent.append(own.ends[entries_of(own, which, g.threads)[1]])
        for rank, ends in enumerate(exchange.all_to_all(sent)):
            pair_numbers = np.flatnonzero(here & (short_owner[part] == rank)) + low
            if not len(pair_numbers):
                continue
            _, at, row = np.unique(short[pair_numbers], return_index=True, return_inverse=True)
            rows = Rows(offsets_of(size[pair_numbers][at]), ends, None, 0)
            sums[pair_numbers] = kernels.common(
                rows, own, row, long[pair_numbers] - shard.low, threads=g.threads
            )
    if exchange.size == 1:
        return sums
    cuts = [len(sums) * rank // exchange.size for rank in range(exchange.size + 1)]
    received = exchange.all_to_all([sums[a:b] for a, b in itertools.pairwise(cuts)])
    return sum(received[1:], received[0])


class Neighborhood(NamedTuple):
    """The vertices that have common neighbors with some vertices of this member.

    Attributes
    ----------
    first : int
        Position of the first one of these vertices; their positions are consecutive.
    offsets : array of int64
        Where the pairs of each of these vertices begin, followed by where the last ones end.
    second : array of index
        The number of the other vertex of each pair, ascending for each first vertex.
    sums : array of int64
        Sum of the weights of the common neighbors.
    degrees : array of int64
        The number of neighbors of the other vertex.
    """

    first: int
    offsets: Any
    second: Any
    sums: Any
    degrees: Any

    def firsts(self, threads: int) -> Any:
        """Return the position of the first vertex of each pair: array of int64."""
        owners = kernels_of("rows", self.second).owners
        rows = Rows(self.offsets, self.second, None, self.first)
        return owners(rows, "int64", threads=threads)


def all_pairs(g: GraphView, weights: Any = None) -> Iterator[Neighborhood]:
    """Yield all pairs that have common neighbors, in blocks of vertices. All members call it.

    Parameters
    ----------
    g : GraphView
        An undirected graph without self-loops and parallel edges.
    weights : array of int64, shape (V_p,), optional
        The weight of each vertex; 1 by default.
    """
    local, exchange = g.local("out"), g.exchange
    rows, degrees = local.rows._replace(first=0), wide_column(g, g.degrees)
    owned = g.shard.low + np.arange(g.owned, dtype=g.index, like=rows.ends)
    places = np.concatenate([owned, local.slots.astype(g.index, copy=False)])
    weights = g.column(1, "int64") if weights is None else weights
    # For each vertex, the number of row entries that are read for all vertices before it.
    blocks = list(_blocks(offsets_of(degrees[rows.ends])[rows.offsets]))
    kernels = kernels_of("intersect", rows.ends)
    # A graph without vertices has a block too.
    count = max(1, int(g.all_reduce(most=len(blocks)).most))
    blocks += [(g.owned, g.owned)] * (count - len(blocks))
    for low, high in blocks:
        cut = rows.offsets[low : high + 1]
        ends = rows.ends[int(cut[0]) : int(cut[-1])]
        asked = _by_owner(g, Rows(cut - cut[0], ends, None, low))
        lengths, sought = (exchange.all_to_all(list(sent)) for sent in zip(*asked, strict=True))
        firsts = exchange.all_gather(np.array([g.shard.low + low]))
        results = []
        for count, ends, first in zip(lengths, sought, firsts, strict=True):
            their_rows = Rows(offsets_of(count), ends, None, 0)
            own = _positions(g, int(first[0]) + np.arange(len(count), like=count))
            size, end, total = kernels.two_hops(
                their_rows, own, rows, weights, len(places), threads=g.threads
            )
            results.append((size, end if g.alone else places[end], total, degrees[end]))
        answers = [exchange.all_to_all(list(sent)) for sent in zip(*results, strict=True)]
        yield _merged(g, low, list(zip(*answers, strict=True)))


def _positions(g: GraphView, places: Any) -> Any:
    """Return the positions of vertices of all members, or -1 if a vertex has no mirror here."""
    slots, positions = g.local("out").slots, places - g.shard.low
    if len(slots):
        at = np.minimum(np.searchsorted(slots, places), len(slots) - 1)
        mirrored = slots[at] == places
        own = (positions >= 0) & (positions < g.owned)
        positions = np.where(own, positions, np.where(mirrored, at + g.owned, -1))
    return positions


def _blocks(costs: Any) -> Iterator[tuple[int, int]]:
    """Yield the bounds of blocks that cost at most :data:`BLOCK`, or consist of one item.

    `costs` contains the total cost of all items before each item, followed by the total of all items.
    """
    low, count = 0, len(costs) - 1
    while low < count:
        bound = costs[low : low + 1] + BLOCK
        high = max(low + 1, int(np.searchsorted(costs, bound, side="right")[0]) - 1)
        yield low, min(high, count)
        low = high


def _by_owner(g: GraphView, rows: Rows) -> list[tuple[Any, Any]]:
    """Return the row entries that each member owns: lengths of the rows, and positions in that member."""
    local, rank = g.local("out"), g.exchange.rank
    if g.exchange.size == 1:
        return [(np.diff(rows.offsets), rows.ends)]
    entries = []
    for other, (low, high) in enumerate(itertools.pairwise(local.slot_bounds)):
        first = 0 if other == rank else g.owned + low
        last = g.owned if other == rank else g.owned + high
        wanted = (rows.ends >= first) & (rows.ends < last)
        ends = rows.ends[wanted]
        if other != rank:
            ends = (local.slots[ends - g.owned] - g.shard.bounds[other]).astype(ends.dtype)
        entries.append((np.diff(offsets_of(wanted)[rows.offsets]), ends))
    return entries


def _merged(g: GraphView, low: int, results: list[tuple[Any, ...]]) -> Neighborhood:
    """Combine the results of all members for some vertices."""
    if g.alone:
        ((lengths, second, sums, degrees),) = results
        return Neighborhood(low, offsets_of(lengths), second, sums, degrees)
    of_rows, parts = kernels_of("rows", results[0][1]), []
    for lengths, second, sums, degrees in results:
        rows = Rows(offsets_of(lengths), second, None, 0)
        row = of_rows.owners(rows, "int64", threads=g.threads)
        parts.append((row, g.shard.numbers_at(second, g.threads), sums, degrees))
    row, second, sums, degrees = (np.concatenate(column) for column in zip(*parts, strict=True))
    key = row * g.size + second
    order = np.argsort(key, kind="stable")
    key = key[order]
    new = np.ones_like(key, bool)
    new[1:] = key[1:] != key[:-1]
    at = np.flatnonzero(new)
    sums = np.diff(offsets_of(sums[order])[np.append(at, len(key))])
    row, second, degrees = (column[order[at]] for column in (row, second, degrees))
    starts = np.searchsorted(row, np.arange(len(results[0][0]) + 1, like=row))
    return Neighborhood(low, starts, second, sums, degrees)
