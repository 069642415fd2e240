"""Levels of a hierarchy of communities: a graph, and coarser graphs whose vertices are communities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import kernels_of

from .access import beside
from .contract import contract
from .groups import Groups
from .label_sums import own_sums
from .view import GraphView
from .whole_weights import whole_weights

__all__ = ["Level", "first_levels", "loops", "whole_degrees"]


class Level(NamedTuple):
    """A graph whose vertices are communities of the level below.

    Attributes
    ----------
    g : GraphView
        Undirected.
    weights : array of int64, or None
        Weights of the edges in ``g.local("out")``; 1 each by default.
    mass : array of int64, shape (V_p,)
        Vertices without mass never move, and have no vertex in coarser graphs.
    ranks : array of integers, shape (V_p,)
        The order of the vertices, which is the same for every type of ids.
    factor : float
        A community of mass L costs a vertex of mass m the score ``factor * m * L``.
    """

    g: GraphView
    weights: Any
    mass: Any
    ranks: Any
    factor: float

    @property
    def vertices(self) -> int:
        """Number of vertices with mass, of all members. All members call it."""
        return self.g.all_reduce(sums=(int((self.mass > 0).sum()),)).sums[0]

    def groups(self, labels: Any = None) -> Groups:
        """Return groups with the given labels. By default, each vertex has its own label."""
        return Groups(self.g, self.weights, self.mass, self.factor, labels)

    def contracted(self, groups: Groups) -> tuple[Level, Any]:
        """Return the level whose vertices are the groups, and for each vertex here its number there.

        Vertices without mass have a number below 0.
        """
        has = groups.load > 0
        numbers = np.cumsum(has, dtype=self.g.index)
        numbers -= 1
        numbers[~has] = -1
        made, weights = contract(self.g, groups.labels, self.weights, numbers)
        mass = beside(weights, groups.load[has][made.shard.low : made.shard.high])
        own = np.where(self.mass > 0, numbers[groups.own], -1)
        return Level(made, weights, mass, made.numbers, self.factor), own

    def quality(self) -> float:
        """Return the sum of the scores of all communities, which are the vertices of this level."""
        inside = 2 * self.g.all_reduce(sums=(int(loops(self.g, self.weights).sum()),)).sums[0]
        mass = self.mass.astype("float64")
        # A community without edges has mass too, but is not counted as a vertex.
        squares = self.g.total(mass * mass, self.g.largest(mass) ** 2, self.g.size)
        return inside - self.factor * squares


def first_levels(
    g: GraphView, resolutions: Iterable[float], *, potts: bool = False
) -> tuple[list[Level], float]:
    """Return a graph's level for each resolution, and the sum of the weights at both ends of all edges.

    Parameters
    ----------
    g : GraphView
        Undirected.
    resolutions : iterable of float
        Larger values give smaller communities. The levels differ only in their factors.
    potts : bool
        Whether the mass of a vertex is 1 (constant Potts model) instead of its weighted degree (modularity,
        where a self-loop counts twice).

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or weights differ too much to be added up.
    """
    rows, unit = whole_weights(g, g.local("out").rows)
    degrees = whole_degrees(g, rows.weights, loops(g, rows.weights))
    everything = g.all_reduce(sums=(int(degrees.sum()),)).sums[0]
    if potts:
        mass, scale = g.exists.astype("int64"), unit
    else:
        mass, scale = degrees, max(1, everything)
    own = g, rows.weights, mass, g.ranks
    return [Level(*own, resolution / scale) for resolution in resolutions], float(everything)


def whole_degrees(g: GraphView, weights: Any, inside: Any) -> Any:
    """Return the sum of whole weights at each owned vertex: array of int64, shape (V_p,).

    `inside` is the result of :func:`loops`. A self-loop counts twice.
    """
    if weights is None:
        return g.degrees + inside
    offsets, sums = g.local("out").rows.offsets, g.column(0, "int64", len(weights) + 1)
    sums[1:] = np.cumsum(weights)
    return sums[offsets[1:]] - sums[offsets[:-1]] + inside


def loops(g: GraphView, weights: Any) -> Any:
    """Return the sum of the weights of each vertex's self-loops: array of int64, shape (V_p,)."""
    rows = g.local("out").rows._replace(first=0)
    owners = kernels_of("rows", rows.ends).owners(rows, rows.ends.dtype, threads=g.threads)
    inside = owners == rows.ends
    return own_sums(owners[inside], None if weights is None else weights[inside], g.owned)
