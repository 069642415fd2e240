"""Edges of a minimum spanning forest: their order, the light ones, and sending them to other members."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.graph.build import Edges
from dask_graphflow.kernels import count_true, kernels_of
from dask_graphflow.operators.access import send_rows
from dask_graphflow.operators.view import GraphView

LIGHT = 2  # number of light edges per vertex, in both directions
SAMPLE = 1 << 16  # number of weights that are sampled to find these edges


def edges_of(g: GraphView) -> Edges:
    """Return this member's edges by the numbers of their ends, in the order of these."""
    rows = g.member.rows("out")
    source = kernels_of("rows", rows.ends).owners(rows, rows.ends.dtype, threads=g.member.threads)
    weights = rows.weights
    wrong = 0 if weights is None else count_true(weights != weights)
    if g.weighted and g.all_sum(wrong):
        raise WeightError(
            "a weight is NaN, so edges cannot be ordered by weight. Remove these edges, or give "
            "weight=None"
        )
    if g.member.shard.placed is None:
        return Edges(source, rows.ends, weights)
    source, target = (
        g.member.shard.numbers_at(ends, g.member.threads) for ends in (source, rows.ends)
    )
    return _sorted(Edges(source, target, weights))


def send_edges(g: GraphView, edges: Edges, to: Any) -> Edges:
    """Send each edge to a member; return the edges that this one receives, in order.

    All members call it. `to` is the rank of the member that gets each edge.
    """
    send = send_rows(g.member.exchange, to)
    edges = Edges(*(None if column is None else send(column) for column in edges))
    # Otherwise a member of a higher rank has larger sources.
    return edges if g.member.shard.placed is None else _sorted(edges)


def _sorted(edges: Edges) -> Edges:
    order = np.argsort(edges.target, kind="stable")
    order = order[np.argsort(edges.source[order], kind="stable")]
    return Edges(*(None if column is None else column[order] for column in edges))


def light_edges(edges: Edges, size: int) -> Any:
    """Return which edges are about the first ``LIGHT * size`` edges in their order."""
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
