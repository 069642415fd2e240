"""Levels of a hierarchy of communities: a graph, and coarser graphs whose vertices are communities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dask_graphflow.graph.build import Edges, of_numbers
from dask_graphflow.kernels import index_dtype, kernels_for, kernels_of
from dask_graphflow.operators.access import beside, combine, fetch
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import loops, whole_degrees, whole_weights

from .groups import Groups

NONE = np.iinfo("int64").max  # above all vertex numbers
# Smaller graphs, in edges, use host memory, where they take less time than a kernel launch.
SMALL_GRAPH = 1 << 20


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
    holder : array of integers, or None
        Number here of each vertex of the first level, below 0 if it has no mass. None in the first level.
    """

    g: GraphView
    weights: Any
    mass: Any
    ranks: Any
    factor: float
    holder: Any = None

    @property
    def vertices(self) -> int:
        """Number of vertices with mass, of all members. All members call it."""
        return self.g.all_reduce(sums=(int((self.mass > 0).sum()),)).sums[0]

    def groups(self, labels: Any = None) -> Groups:
        """Return groups with the given labels. By default, each vertex has its own label."""
        return Groups(self.g, self.weights, self.mass, self.factor, labels)

    def aggregate(self, groups: Groups) -> tuple[Level, Any]:
        """Return the level whose vertices are the groups, and for each vertex here its number there.

        Vertices without mass have a number below 0. The weight of an edge of the new graph is the sum of
        the weights of the edges between two groups. Edges inside a group become a self-loop.
        """
        g, has = self.g, groups.load > 0
        numbers = np.cumsum(has, dtype=g.index)
        numbers -= 1
        numbers[~has] = -1
        coarser, weights = _contract(g, groups.labels, self.weights, numbers)
        mass = beside(weights, groups.load[has][coarser.shard.low : coarser.shard.high])
        holder = own = np.where(self.mass > 0, numbers[groups.own], -1)
        if self.holder is not None:
            holder = fetch(g, own, np.maximum(self.holder, 0))
            holder = np.where(self.holder >= 0, holder, -1)
        return Level(coarser, weights, mass, coarser.numbers, self.factor, holder), own

    def smallest(self, first: Level) -> Any:
        """Return the smallest number of the vertices of the first level that share a vertex here.

        A vertex without mass has its own number.
        """
        names, has = first.g.numbers.copy(), self.holder >= 0
        smallest = self.g.column(NONE, "int64")
        combine(self.g, smallest, self.holder[has], names[has].astype("int64"), "min")
        names[has] = fetch(self.g, smallest, self.holder[has])
        return names

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
    total = g.all_reduce(sums=(int(degrees.sum()),)).sums[0]
    if potts:
        mass, scale = g.exists.astype("int64"), unit
    else:
        mass, scale = degrees, max(1, total)
    return [
        Level(g, rows.weights, mass, g.ranks, resolution / scale) for resolution in resolutions
    ], float(total)


def _contract(g: GraphView, labels: Any, weights: Any, numbers: Any) -> tuple[GraphView, Any]:
    """Return the graph in which each label is a vertex, and the weights of its edges.

    It is in host memory if it is small, or if `g` is a hybrid graph. Edges of weight 0 are left out.
    """
    shard, local, count = g.shard, g.local("out"), int(numbers.max()) + 1
    place = g.column(0, g.index, local.size)
    place[: g.owned] = g.numbers
    if not g.alone:
        place[g.owned :] = shard.slot_numbers("out", g.threads)
    rows = local.rows._replace(first=0, weights=weights)
    new = numbers.astype(index_dtype(count))[labels]
    sums_between = kernels_of("groups", new).sums_between
    edges = Edges(*sums_between(rows, new, place, threads=g.threads))
    exchange, like = g.exchange, shard.like
    if shard.placed is not None or g.all_reduce(sums=(len(edges.source),)).sums[0] < SMALL_GRAPH:
        edges = Edges(*(kernels_for(side).to_host(side) for side in edges))
        exchange, like = exchange.host, pd.DataFrame()
    view = g.view_of(of_numbers(exchange, like, edges, count, g.threads), exchange)
    return view, view.local("out").rows.weights
