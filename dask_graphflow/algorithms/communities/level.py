"""Levels of a hierarchy of communities: a graph, and coarser graphs whose vertices are communities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.graph.blocks import per_edge
from dask_graphflow.operators.access import fetch
from dask_graphflow.operators.host_view import in_host_memory
from dask_graphflow.operators.labels import Groups, contract, find_smallest
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import (
    sum_loops,
    whole_degrees,
    whole_skew,
    whole_weights,
)


class Level(NamedTuple):
    """A graph whose vertices are groups of vertices of the level below."""

    g: GraphView  # undirected
    # Array of int64, or None. Weights of the edges in ``g.member.local("out")``; 1 each by default.
    weights: Any
    # Array of int64, shape (V_p,). Vertices without mass never move, and have no vertex in coarser graphs.
    mass: Any
    skew: Any  # array of int64, shape (V_p,), or None
    factor: float  # see :class:`.Groups`
    room: dict[Any, Any]  # work space of the kernels, which all levels in the same memory share
    signed: bool  # whether weights can be negative
    # Array of index, or None. The vertex here of each vertex of the level below, under 0 if it has no mass.
    holder: Any = None
    finer: Level | None = None  # the level below; None in the first level

    @property
    def ranks(self) -> Any:
        """The order of the vertices, which is the same for every type of ids."""
        return self.g.ranks if self.finer is None else self.g.numbers

    @property
    def vertices(self) -> int:
        """Number of vertices with mass, of all members. All members call it."""
        return self.g.count_true(self.mass > 0)

    def groups(self, labels: Any = None) -> Groups:
        """Return groups with the given labels. By default, each vertex has its own label."""
        masses = self.mass, self.skew, self.factor
        return Groups(self.g, self.weights, *masses, self.room, labels)

    def aggregate(self, groups: Groups) -> Level:
        """Return the level whose vertices are the groups.

        The weight of an edge of the new graph is the sum of the weights of the edges between two groups.
        Edges inside a group are left out.
        """
        coarser = contract(self.g, self.weights, groups)
        g, weights, mass, skew, room, holder = coarser
        return Level(g, weights, mass, skew, self.factor, room, self.signed, holder, self)

    def lift(self, labels: Any) -> Any:
        """Return the label in the finer level of each vertex here, which is a part of a group there."""
        assert self.finer is not None
        return find_smallest(self.g, self.finer.g, self.holder, labels)

    def from_finer(self, above: Any) -> Any:
        """Return labels for the vertices here, of which :meth:`lift` returned the labels above.

        A group is named by its smallest vertex here.
        """
        assert self.finer is not None
        return name_groups(self.g, self.finer.g, above)

    def to_finer(self, labels: Any) -> Any:
        """Return the labels of the vertices here as labels of the vertices of the finer level.

        A group is named by its smallest vertex there. A vertex without mass has its own number.
        """
        assert self.finer is not None
        finer, has = self.finer.g, self.holder >= 0
        below = fetch(self.g, labels, np.maximum(self.holder, 0))
        return name_groups(finer, self.g, np.where(has, below, -1))

    def to_first(self, labels: Any) -> Any:
        """Return the labels of the vertices here as labels of the vertices of the first level."""
        level = self
        while level.finer is not None:
            level, labels = level.finer, level.to_finer(labels)
        return labels


def name_groups(g: GraphView, labeling: GraphView, labels: Any) -> Any:
    """Name groups by their smallest vertices. All members call it.

    Labels are vertices of the graph `labeling`. A vertex with a label below 0 is alone.
    """
    first = find_smallest(labeling, g, labels, g.numbers)
    return np.where(labels < 0, g.numbers, fetch(labeling, first, np.maximum(labels, 0)))


class FirstLevels(NamedTuple):
    """A graph's level for each resolution. The levels differ only in their factors."""

    levels: list[Level]
    total: int  # the sum of the weights at both ends of all edges
    size: int  # the same of their magnitudes


def first_levels(g: GraphView, resolutions: Iterable[float], *, potts: bool = False) -> FirstLevels:
    """Return a graph's level for each resolution.

    If the graph is directed, its levels are undirected, and modularity takes the directions into account.
    With `potts`, the mass of a vertex is 1 (constant Potts model) instead of its weighted degree
    (modularity, where a self-loop counts twice), and weights can be negative. These are only added up in
    host memory, so the levels are there. It raises the errors of :func:`.whole_weights`.
    """
    directed, g = g, g.undirected
    signed = g.weighted and not g.all_weights(lambda weights: weights >= 0)
    if signed and not potts:
        raise WeightError(
            "a weight is negative, infinite or NaN; modularity needs finite weights of at least 0. Remove "
            "these edges, give weight=None, or call leiden with objective='cpm', which allows negative "
            "weights"
        )
    if signed:
        g = in_host_memory(g, "leiden with negative weights")
    weights, unit = whole_weights(g, signed=signed)
    degrees = whole_degrees(g, weights, sum_loops(g, weights))
    total = size = g.all_sum(int(degrees.sum()))
    if signed:
        rows = g.member.local("out").rows._replace(weights=weights)
        sizes = per_edge(rows, lambda block: abs(block.weights))
        size = g.all_sum(int(whole_degrees(g, sizes, sum_loops(g, sizes)).sum()))
    if potts:
        mass, skew, scale = g.exists.astype("int64"), None, unit
    else:
        mass, skew, scale = degrees, whole_skew(directed, degrees, unit), max(1, total)
    room: dict[Any, Any] = {}
    return FirstLevels(
        [Level(g, weights, mass, skew, resolution / scale, room, signed) for resolution in resolutions],
        total, size,
    )  # fmt: skip
