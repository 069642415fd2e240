"""Common neighbors of pairs of vertices: of given pairs, or of all pairs that have any.

The neighbors of a vertex are the ends of its row in a graph without directions, self-loops and parallel
edges. Each neighbor has a weight, and the weights of common neighbors are added up. The weights are whole
numbers (:mod:`.neighbor_weights`), so sums are the same in every order.

Memory is bounded: given pairs or vertices are processed in blocks. The rows that are read for a block
have at most :data:`BLOCK` entries, unless they belong to a single vertex.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import intersect as intersect_kernels
from dask_graphflow.kernels import sorted_unique
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.operators.access import (
    entries_of,
    offsets_of,
    own_part,
    positions_of,
    sources_of,
    sum_parts,
    swap_columns,
    wide_column,
)
from dask_graphflow.operators.view import GraphView

from .neighbor_weights import NeighborWeights

BLOCK = 1 << 24  # maximum number of row entries that are read for a block


def _values_at(g: GraphView, column: Any, places: Any) -> Any:
    """Return the values of a column, which are at least 0, at places of any member.

    All members call it, with the same places.
    """
    shard = g.member.shard
    if g.member.alone:
        return column[places]
    own = (places >= shard.low) & (places < shard.high)
    values = np.full_like(places, -1)
    values[own] = column[places[own] - shard.low]
    return g.elementwise_max(values)


class GivenPairs(NamedTuple):
    """The pairs that a member lists."""

    ends: list[Any]  # list of array of index. The numbers of the first and of the second vertices.
    sums: Any  # array of int64. Sum of the weights of the common neighbors of each pair.
    # List of array of int64. The entries of both vertices in :attr:`.NeighborWeights.totals`.
    totals: list[Any]


def weigh_pairs(g: GraphView, pairs: tuple[Any, Any], weights: NeighborWeights) -> GivenPairs:
    """Return the weights of the common neighbors of some pairs of places in a simple, undirected graph.

    All members call it with the same pairs. The shorter of a pair's two rows is sent to the owner of the
    other row, if that is another member.
    """
    totals = degrees = [_values_at(g, g.degrees, places) for places in pairs]
    sums = _sums_of_pairs(g, pairs, degrees, weights)
    if weights.of_edges is not None:
        totals = [_values_at(g, weights.totals, places) for places in pairs]
    own, shard = own_part(g, len(pairs[0])), g.member.shard
    ends = [shard.numbers_at(places[own].astype(g.index), g.member.threads) for places in pairs]
    return GivenPairs(ends, sums, [side[own] for side in totals])


def _sums_of_pairs(
    g: GraphView, pairs: tuple[Any, Any], degrees: list[Any], weights: NeighborWeights
) -> Any:
    """Return the sums of the pairs in :func:`.own_part`; `degrees` are those of both vertices."""
    (first, second), shard, exchange = pairs, g.member.shard, g.member.exchange
    rows = g.member.rows("out")
    ends = shard.numbers_at(rows.ends, g.member.threads)  # ascending in each row
    short_rows = own = rows._replace(first=0, ends=ends, weights=weights.of_edges)
    if weights.of_vertices is not None:
        own = own._replace(
            weights=wide_column(g, weights.of_vertices)[g.member.local("out").rows.ends]
        )
    kernels = intersect_kernels.of(own.ends)
    shorter = degrees[0] <= degrees[1]
    short, long = np.where(shorter, first, second), np.where(shorter, second, first)
    if g.member.alone:
        return kernels.common(short_rows, own, short, long, threads=g.member.threads)
    size = np.where(shorter, *degrees)
    short_owner, long_owner = shard.owners(short), shard.owners(long)
    sums = np.zeros_like(first)
    for low, high in _blocks(offsets_of(size)):
        part = slice(low, high)
        mine, here = short_owner[part] == exchange.rank, long_owner[part] == exchange.rank
        sent = []
        for rank in range(exchange.size):
            which = sorted_unique(short[part][mine & (long_owner[part] == rank)]) - shard.low
            _, _, entries = entries_of(own, which, g.member.threads)
            sent.append((own.ends[entries], _select_weights(short_rows.weights, entries)))
        for rank, (ends, counts) in enumerate(swap_columns(g, sent)):
            pair_numbers = np.flatnonzero(here & (short_owner[part] == rank)) + low
            if not len(pair_numbers):
                continue
            _, at, row = np.unique(short[pair_numbers], return_index=True, return_inverse=True)
            sent_rows = Rows(offsets_of(size[pair_numbers][at]), ends, counts, 0)
            sums[pair_numbers] = kernels.common(
                sent_rows, own, row, long[pair_numbers] - shard.low, threads=g.member.threads
            )
    return sum_parts(g, sums)


class Neighborhood(NamedTuple):
    """The vertices that have common neighbors with some vertices of this member."""

    first: int  # position of the first one of these vertices; their positions are consecutive
    # Array of int64. Where the pairs of each of these vertices begin, followed by where the last ones end.
    offsets: Any
    # Array of index. The number of the other vertex of each pair, ascending for each first vertex.
    second: Any
    sums: Any  # array of int64. Sum of the weights of the common neighbors.
    totals: Any  # array of int64. The entry of the other vertex in :attr:`.NeighborWeights.totals`.

    def firsts(self, g: GraphView) -> Any:
        """Return the position of the first vertex of each pair: array of int64."""
        return sources_of(g, Rows(self.offsets, self.second, None, self.first), "int64")

    def best(self, g: GraphView, scores: Any, k: int | None) -> Any:
        """Return the pairs with the `k` best scores of each first vertex, best first; all by default."""
        best = intersect_kernels.of(g.degrees).best
        return best(self.offsets, scores, k, threads=g.member.threads)[0]


def all_pairs(g: GraphView, weights: NeighborWeights) -> Iterator[Neighborhood]:
    """Yield all pairs with common neighbors in a simple, undirected graph, in blocks of vertices.

    All members call it.
    """
    local, exchange = g.member.local("out"), g.member.exchange
    rows = local.rows._replace(weights=weights.of_edges)
    degrees = wide_column(g, g.degrees)
    totals = degrees if weights.of_edges is None else wide_column(g, weights.totals)
    owned = g.member.shard.low + np.arange(g.owned, dtype=g.index, like=rows.ends)
    places = np.concatenate([owned, local.slots.astype(g.index, copy=False)])
    # For each vertex, the number of row entries that are read for all vertices before it.
    blocks = list(_blocks(offsets_of(degrees[rows.ends])[rows.offsets]))
    kernels = intersect_kernels.of(rows.ends)
    # A graph without vertices has a block too.
    count = max(1, int(g.all_reduce(most=len(blocks)).most))
    blocks += [(g.owned, g.owned)] * (count - len(blocks))
    for low, high in blocks:
        cut = rows.offsets[low : high + 1]
        entries = slice(int(cut[0]), int(cut[-1]))
        some = Rows(cut - cut[0], rows.ends[entries], _select_weights(rows.weights, entries), low)
        asked = swap_columns(g, _by_owner(g, some))
        firsts = exchange.all_gather(np.array([g.member.shard.low + low]))
        results = []
        for (length, ends, counts), first in zip(asked, firsts, strict=True):
            if weights.of_vertices is not None:
                counts = weights.of_vertices[ends]
            their_rows = Rows(offsets_of(length), ends, counts, 0)
            own = positions_of(g, int(first[0]) + np.arange(len(length), like=length))
            size, end, total = kernels.two_hops(
                their_rows, own, rows, len(places), threads=g.member.threads
            )
            results.append((size, end if g.member.alone else places[end], total, totals[end]))
        yield _merge(g, low, swap_columns(g, results))


def _select_weights(weights: Any, entries: Any) -> Any:
    """Return the weights of some entries; None if there are no weights."""
    return None if weights is None else weights[entries]


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


def _by_owner(g: GraphView, rows: Rows) -> list[tuple[Any, Any, Any]]:
    """Return the row entries that each member owns.

    These are the lengths of the rows, positions in that member, and the weights of the entries.
    """
    local, rank = g.member.local("out"), g.member.exchange.rank
    if g.member.exchange.size == 1:
        return [(np.diff(rows.offsets), rows.ends, rows.weights)]
    entries = []
    for other, (low, high) in enumerate(itertools.pairwise(local.slot_bounds)):
        first = 0 if other == rank else g.owned + low
        last = g.owned if other == rank else g.owned + high
        wanted = (rows.ends >= first) & (rows.ends < last)
        ends = rows.ends[wanted]
        if other != rank:
            ends = (local.slots[ends - g.owned] - g.member.shard.bounds[other]).astype(ends.dtype)
        lengths = np.diff(offsets_of(wanted)[rows.offsets])
        entries.append((lengths, ends, _select_weights(rows.weights, wanted)))
    return entries


def _merge(g: GraphView, low: int, results: list[tuple[Any, ...]]) -> Neighborhood:
    """Combine the results of all members for some vertices."""
    if g.member.alone:
        ((lengths, second, sums, totals),) = results
        return Neighborhood(low, offsets_of(lengths), second, sums, totals)
    parts = []
    for lengths, second, sums, totals in results:
        row = sources_of(g, Rows(offsets_of(lengths), second, None, 0), "int64")
        parts.append((row, g.member.shard.numbers_at(second, g.member.threads), sums, totals))
    row, second, sums, totals = (np.concatenate(column) for column in zip(*parts, strict=True))
    key = row * g.size + second
    order = np.argsort(key, kind="stable")
    key = key[order]
    new = np.ones_like(key, bool)
    new[1:] = key[1:] != key[:-1]
    at = np.flatnonzero(new)
    sums = np.diff(offsets_of(sums[order])[np.append(at, len(key))])
    row, second, totals = (column[order[at]] for column in (row, second, totals))
    starts = np.searchsorted(row, np.arange(len(results[0][0]) + 1, like=row))
    return Neighborhood(low, starts, second, sums, totals)
