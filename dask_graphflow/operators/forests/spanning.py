"""Spanning: which of some edges join two trees, if edges are taken in order.

Edges are ordered by weight, then by source and target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.graph.build import Edges
from dask_graphflow.kernels import count_true
from dask_graphflow.kernels import spanning as spanning_kernels
from dask_graphflow.operators.access import send_rows, sort_rows, sources_of
from dask_graphflow.operators.view import GraphView

LIGHT = 2  # number of light edges per vertex, in both directions
SAMPLE = 1 << 16  # number of weights that are sampled to find these edges


def edges_of(g: GraphView) -> Edges:
    """Return this member's edges by the numbers of their ends, in the order of these."""
    rows, shard = g.member.rows("out"), g.member.shard
    weights = rows.weights
    if g.weighted and g.count_true(weights != weights):
        raise WeightError(
            "a weight is NaN, so edges cannot be ordered by weight. Remove these edges, or give "
            "weight=None"
        )
    ends = sources_of(g, rows), rows.ends
    if shard.placed is None:
        return Edges(*ends, weights)
    numbers = (shard.numbers_at(side, g.member.threads) for side in ends)
    return Edges(*sort_rows([*numbers, weights], 2))


def merge_edges(g: GraphView, edges: Edges, choose: Callable[[Edges], Edges]) -> Edges:
    """Choose among the edges of this member, then of two members, and so on. All members call it.

    Returns the edges of all members that are left, which each member lists a part of, in order.
    """
    exchange, step, left = g.member.exchange, 1, choose(edges)
    while step < exchange.size:
        step *= 2
        to = np.full_like(left.source, exchange.rank // step * step)
        left = choose(_send(g, left, to))
    return _send(g, left, g.member.shard.homes_of(left.source))


def _send(g: GraphView, edges: Edges, to: Any) -> Edges:
    """Send each edge to the member with the rank `to`; return the edges received here, in order."""
    send = send_rows(g.member.exchange, to)
    columns = [None if column is None else send(column) for column in edges]
    # Otherwise a member of a higher rank has larger sources.
    return Edges(*(columns if g.member.shard.placed is None else sort_rows(columns, 2)))


class SpanningForest:
    """A forest into which edges are taken that join two of its trees.

    Edges are in the order of their sources and targets. An edge counts where its source is the smaller end.
    """

    def __init__(self, g: GraphView, edges: Edges) -> None:
        self._edges, source = edges, edges.source
        self._tree = np.arange(g.member.shard.count, dtype=source.dtype, like=source)
        self._taken = np.zeros_like(source, "bool")

    @property
    def light(self) -> Any:
        """Which edges are about the first ``LIGHT * V`` ones in their order: array of bool."""
        edges, size = self._edges, len(self._tree)
        weight, count = edges.weight, len(edges.source)
        if LIGHT * size >= count:  # also if there are neither vertices nor edges
            return np.ones_like(edges.source, "bool")
        part = LIGHT * size / count
        if weight is None:
            light = np.zeros_like(edges.source, "bool")
            light[: int(part * count)] = True
            return light
        sample = np.sort(weight[:: -(-count // SAMPLE)])
        at = int(part * len(sample))
        last = sample[at]
        low, high = count_true(sample < last), count_true(sample <= last)
        # Of the edges with the largest light weight, only the first ones are light.
        tied = weight == last
        tied[int(count * (at + 1 - low) / (high - low)) :] = False
        return tied | (weight < last)

    def join(self, some: Any) -> None:
        """Take those of some edges that join two trees, in rounds of Borůvka's method.

        In a round, each tree chooses its first leaving edge, and joins the tree at the other end. Then
        edges inside a tree are dropped.
        """
        source, target, weight = self._edges
        at = np.flatnonzero(some & (source < target))
        at = at[self._tree[source[at]] != self._tree[target[at]]]
        ends = self._tree[source[at]], self._tree[target[at]]
        join = spanning_kernels.of(at).join_components
        join(self._tree, *ends, sort_keys(weight, at), at, self._taken)

    @property
    def edges(self) -> Edges:
        """The edges that were taken, in their order."""
        at = np.flatnonzero(self._taken)
        return Edges(*(None if column is None else column[at] for column in self._edges))


def sort_keys(weight: Any, at: Any) -> Any:
    """Return unsigned integers in the order of some edges' weights.

    Without weights, these are the indices of the edges.
    """
    if weight is None:
        return at.astype("uint64")
    weight, kind = weight[at], np.dtype(f"uint{8 * weight.itemsize}")
    sign = kind.type(1 << (8 * weight.itemsize - 1))
    if weight.dtype.kind != "f":
        return weight.view(kind) ^ sign
    bits = (weight + 0.0).view(kind)  # turns -0.0 into 0.0
    return np.where(bits < sign, bits ^ sign, ~bits)
