"""The weights of neighbors as whole numbers, so that sums have the same bits in every order."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import kernels_for
from dask_graphflow.operators.access import edge_ends, offsets_of
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import whole_weights_of_pairs

BITS = 61  # bits of the largest sum of weights as a whole number


class NeighborWeights(NamedTuple):
    """The weights of neighbors in a graph without directions, self-loops and parallel edges."""

    # Array of int64, shape (V_p,). Number of neighbors of each owned vertex; the sum of their weights if
    # edges have weights.
    totals: Any
    # Array of int64, shape (V_p,), or None. The weight of each owned vertex, whichever vertex it is a
    # neighbor of; 1 by default.
    of_vertices: Any = None
    # Array of int64, shape (e,), or None. The weight of each edge, in the order of the rows. A common
    # neighbor of two vertices then has the smaller one of the weights of its two edges.
    of_edges: Any = None
    unit: float = 1.0  # what a weight of 1 adds to a score that is not a quotient


def by_rarity(g: GraphView) -> NeighborWeights:
    """Return 1 / log(degree) of each vertex as its weight.

    No sum of weights over the neighbors of a vertex is too large for an int64.
    """
    kernels = kernels_for(g.degrees)
    degrees, which = np.unique(kernels.to_host(g.degrees), return_inverse=True)
    unit = math.ldexp(1.0, int(g.largest(g.degrees)).bit_length() - BITS)
    # Not by NumPy's logarithm, whose last bit may depend on the number of values.
    weights = [round(1 / math.log(d) / unit) if d > 1 else 0 for d in degrees.tolist()]
    of_vertices = kernels.namespace.asarray(np.array(weights, np.int64)[which])
    return NeighborWeights(g.degrees, of_vertices=of_vertices, unit=unit)


def by_edge(g: GraphView, simple: GraphView) -> NeighborWeights:
    """Return the weights of the edges, for scores that are quotients. All members call it.

    The result is for `simple`, the graph ``g.simple``: the weights of parallel edges are added up, and
    self-loops are left out. It raises :class:`.WeightError` if a weight is negative, infinite or NaN, or if
    weights differ too much to be added up.
    """
    weights = whole_weights_of_pairs(g)
    sources, ends, _ = edge_ends(g)
    # Within a row, equal ends are adjacent.
    new = np.ones_like(ends, bool)
    new[1:] = (ends[1:] != ends[:-1]) | (sources[1:] != sources[:-1])
    starts = np.flatnonzero(new)
    # The sum over many vertices may wrap around, but differences between its values are still right.
    sums = np.diff(offsets_of(weights)[np.append(starts, len(ends))])
    of_edges = sums[(ends != sources)[starts]]
    totals = np.diff(offsets_of(of_edges)[simple.member.local("out").rows.offsets])
    return NeighborWeights(totals, of_edges=of_edges)
