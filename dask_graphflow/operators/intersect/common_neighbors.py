"""Common neighbors of pairs of vertices: of some pairs, or of all pairs that have any.

The neighbors of a vertex are the ends of its row in a graph without directions, self-loops and parallel
edges. Each neighbor has a weight, and the weights of common neighbors are added up. The weights are whole
numbers, so sums have the same bits in every order.

Memory is bounded: pairs or vertices are processed in blocks. The rows that are read for a block have at
most :data:`BLOCK` entries, unless they belong to a single vertex.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dask_graphflow.graph.offsets import offsets_of
from dask_graphflow.kernels import intersect as intersect_kernels
from dask_graphflow.kernels import kernels_for, sorted_unique
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.operators.access import (
    by_id,
    edge_ends,
    entries_of,
    own_part,
    positions_of,
    send_home,
    sources_of,
    sum_parts,
    swap_columns,
    wide_column,
)
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import whole_weights

BITS = 61  # bits of the largest sum of weights as a whole number
BLOCK = 1 << 24  # maximum number of row entries that are read for a block


class CommonNeighbors:
    """Scores of pairs of vertices by their common neighbors. All members create theirs at once.

    Parameters
    ----------
    g : GraphView
        Undirected. With weights, those of parallel edges are added up, and a common neighbor of two
        vertices has the smaller one of the weights of its two edges.
    score : callable
        Takes the sum of the weights of the common neighbors of each pair, as float64, and the sums of the
        weights of all neighbors of the first and of the second vertex. Returns the scores.
    by_rarity : bool
        Whether a neighbor with d neighbors has the weight ``1 / log(d)``, if edges have no weights. By
        default each neighbor has the weight 1.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or weights differ too much to be added up.
    """

    def __init__(self, g: GraphView, score: Callable[..., Any], *, by_rarity: bool = False) -> None:
        self._g, self._score, self._unit = g.simple, score, 1.0
        # Array of int64, shape (V_p,). Sum of the weights of the neighbors of each owned vertex.
        self._totals = self._g.degrees
        # Weights of owned vertices, or of the edges in the order of the rows; by default 1 each.
        self._of_vertices = self._of_edges = None
        if g.weighted:
            self._totals, self._of_edges = _weigh_edges(g, self._g)
        elif by_rarity:
            self._of_vertices, self._unit = _weigh_by_rarity(self._g)

    def score_pairs(self, pairs: tuple[Any, Any]) -> list[Any]:
        """Return columns of the pairs that this member lists: both vertices' numbers, and the scores.

        All members call it with the same pairs of places. The shorter of a pair's two rows is sent to the
        owner of the other row, if that is another member.
        """
        g, shard = self._g, self._g.member.shard
        totals = degrees = [_values_at(g, g.degrees, places) for places in pairs]
        sums = self._sums_of_pairs(pairs, degrees)
        if self._of_edges is not None:
            totals = [_values_at(g, self._totals, places) for places in pairs]
        own = own_part(g, len(pairs[0]))
        ends = [shard.numbers_at(places[own].astype(g.index), g.member.threads) for places in pairs]
        return [*ends, self._scores(sums, *(side[own] for side in totals))]

    def score_all(self, top_k: int | None) -> list[Any]:
        """Return the columns of all pairs with common neighbors, sorted by the first vertex.

        All members call it. The pairs of a vertex are sorted by score, the best ones first. With `top_k`,
        only so many pairs per first vertex are returned.
        """
        g, scored = self._g, []
        kernels = intersect_kernels.of(g.member.local("out").rows.ends)
        for offsets, first, second, sums, total in self._all_pairs():
            scores = self._scores(sums, self._totals[first], total)
            best, _ = kernels.best(offsets, scores, top_k, threads=g.member.threads)
            scored.append((g.numbers[first[best]], second[best], scores[best]))
        return by_id(g, [np.concatenate(parts) for parts in zip(*scored, strict=True)])

    def score_once(self, among: Any) -> list[Any]:
        """Return the columns of the pairs with common neighbors, each once, sorted by both vertices.

        All members call it. The first vertex has the smaller number, and is `among` the positions that an
        array of bool marks.
        """
        g, scored = self._g, []
        for _, first, second, sums, total in self._all_pairs(among):
            once = np.flatnonzero(g.numbers[first] < second)
            first, second = first[once], second[once]
            scores = self._scores(sums[once], self._totals[first], total[once])
            scored.append((g.numbers[first], second, scores))
        columns = [np.concatenate(parts) for parts in zip(*scored, strict=True)]
        return columns if g.member.shard.placed is None else send_home(g, columns, keys=2)

    def _all_pairs(self, among: Any = None) -> Iterator[tuple[Any, Any, Any, Any, Any]]:
        """Yield the pairs with common neighbors in blocks of first vertices, which are `among` some.

        A block is where the pairs of each vertex begin; the positions of the first vertices, and the
        numbers of the second ones, which ascend for each first one; and the sums of the weights of their
        common neighbors, and of all neighbors of the second one. All members take blocks at once.
        """
        g = self._g
        local, exchange = g.member.local("out"), g.member.exchange
        rows = local.rows._replace(weights=self._of_edges)
        degrees = wide_column(g, g.degrees)
        totals = degrees if self._of_edges is None else wide_column(g, self._totals)
        owned = g.member.shard.low + np.arange(g.owned, dtype=g.index, like=rows.ends)
        places = np.concatenate([owned, local.slots.astype(g.index, copy=False)])
        firsts = rows if among is None else _select_rows(rows, among, g.member.threads)
        # For each vertex, the number of row entries that are read for all vertices before it.
        blocks = list(_blocks(offsets_of(degrees[firsts.ends])[firsts.offsets]))
        kernels = intersect_kernels.of(rows.ends)
        # A graph without vertices has a block too.
        count = max(1, int(g.all_reduce(most=len(blocks)).most))
        blocks += [(g.owned, g.owned)] * (count - len(blocks))
        for low, high in blocks:
            cut = firsts.offsets[low : high + 1]
            entries = slice(int(cut[0]), int(cut[-1]))
            some = Rows(
                cut - cut[0], firsts.ends[entries], _select_weights(firsts.weights, entries), low
            )
            asked = swap_columns(g, _by_owner(g, some))
            lows = exchange.all_gather(np.array([g.member.shard.low + low]))
            results = []
            for (length, ends, counts), first in zip(asked, lows, strict=True):
                if self._of_vertices is not None:
                    counts = self._of_vertices[ends]
                their_rows = Rows(offsets_of(length), ends, counts, 0)
                own = positions_of(g, int(first[0]) + np.arange(len(length), like=length))
                size, end, total = kernels.two_hops(
                    their_rows, own, rows, len(places), threads=g.member.threads
                )
                results.append((size, end if g.member.alone else places[end], total, totals[end]))
            offsets, second, sums, total = _merge(g, swap_columns(g, results))
            yield (
                offsets,
                sources_of(g, Rows(offsets, second, None, low), "int64"),
                second,
                sums,
                total,
            )

    def _sums_of_pairs(self, pairs: tuple[Any, Any], degrees: list[Any]) -> Any:
        """Return the sums of the pairs in :func:`.own_part`; `degrees` are those of both vertices."""
        g, (first, second) = self._g, pairs
        shard, exchange = g.member.shard, g.member.exchange
        rows = g.member.rows("out")
        ends = shard.numbers_at(rows.ends, g.member.threads)  # ascending in each row
        short_rows = own = rows._replace(first=0, ends=ends, weights=self._of_edges)
        if self._of_vertices is not None:
            own = own._replace(
                weights=wide_column(g, self._of_vertices)[g.member.local("out").rows.ends]
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

    def _scores(self, sums: Any, first: Any, second: Any) -> Any:
        return self._score(sums.astype("float64") * self._unit, first, second)


def _weigh_by_rarity(g: GraphView) -> tuple[Any, float]:
    """Return 1 / log(degree) of each vertex as whole multiples of a unit, and the unit.

    No sum of weights over the neighbors of a vertex is too large for an int64.
    """
    kernels = kernels_for(g.degrees)
    degrees, which = np.unique(kernels.to_host(g.degrees), return_inverse=True)
    unit = math.ldexp(1.0, int(g.largest(g.degrees)).bit_length() - BITS)
    # Not by NumPy's logarithm, whose last bit may depend on the number of values.
    weights = [round(1 / math.log(d) / unit) if d > 1 else 0 for d in degrees.tolist()]
    return kernels.namespace.asarray(np.array(weights, np.int64)[which]), unit


def _weigh_edges(g: GraphView, simple: GraphView) -> tuple[Any, Any]:
    """Return the sum of the weights of each vertex's edges, and the weights of the edges of ``g.simple``.

    All members call it. Weights are whole numbers, for scores that are quotients.
    """
    weights, _ = whole_weights(g, of_pairs=True)
    sources, ends, _ = edge_ends(g)
    # Within a row, equal ends are adjacent.
    new = np.ones_like(ends, bool)
    new[1:] = (ends[1:] != ends[:-1]) | (sources[1:] != sources[:-1])
    starts = np.flatnonzero(new)
    # The sum over many vertices may wrap around, but differences between its values are still right.
    sums = np.diff(offsets_of(weights)[np.append(starts, len(ends))])
    of_edges = sums[(ends != sources)[starts]]
    totals = np.diff(offsets_of(of_edges)[simple.member.local("out").rows.offsets])
    return totals, of_edges


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


def _select_weights(weights: Any, entries: Any) -> Any:
    """Return the weights of some entries; None if there are no weights."""
    return None if weights is None else weights[entries]


def _select_rows(rows: Rows, kept: Any, threads: int) -> Rows:
    """Return some rows as they are, and the others without entries."""
    lengths = np.where(kept, np.diff(rows.offsets), 0)
    _, _, entries = entries_of(rows, np.flatnonzero(kept), threads)
    weights = _select_weights(rows.weights, entries)
    return Rows(offsets_of(lengths), rows.ends[entries], weights, rows.first)


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


def _merge(g: GraphView, results: list[tuple[Any, ...]]) -> tuple[Any, Any, Any, Any]:
    """Combine the results of all members for some vertices.

    Returns where the pairs of each of these vertices begin, followed by where the last ones end; and for
    each pair the number of the other vertex, ascending for each first vertex, the sum of the weights of the
    common neighbors, and that of all neighbors of the other vertex.
    """
    if g.member.alone:
        ((lengths, second, sums, totals),) = results
        return offsets_of(lengths), second, sums, totals
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
    return starts, second, sums, totals
