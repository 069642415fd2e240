"""Spanning forest: the lightest edges that connect everything that a list of edges connects.

Edges are ordered by weight, and edges of the same weight by their index in the list. So no two edges are
equal, and the forest is unique. In a round of Borůvka's method [1]_, each component chooses its first
leaving edge, and joins the component at the other end. Then edges inside a component are dropped.

Most edges of a dense graph are heavier than all edges of the forest. Therefore the rounds first use only
the lighter edges. A heavier edge takes part only if its ends are then still in different components
(filtering [2]_).

.. [1] O. Borůvka, "O jistém problému minimálním", 1926.
.. [2] A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A High-Performance MST Implementation for GPUs", SC
   2023.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import kernels_for

__all__ = ["spanning_forest"]

LIGHT = 2  # number of edges per vertex, in both directions, that take part first
SAMPLE = 1 << 16  # number of weights that are sampled to find these edges


def spanning_forest(size: int, source: Any, target: Any, weight: Any = None) -> Any:
    """Return the indices of the edges of the minimum spanning forest, ascending.

    Parameters
    ----------
    size : int
        Number of vertices.
    source, target : array of int32 or int64, shape (m,)
        Ends of the edges. Only edges whose source is smaller than their target are used.
    weight : array of int32, int64, float32 or float64, shape (m,), optional
        Weights, without NaN. By default all edges have the same weight.

    Returns
    -------
    array of int64
    """
    label = np.arange(size, dtype=source.dtype, like=source)
    ahead = source < target
    light = _light(size, weight, len(source), like=ahead)
    found = []
    for some in (ahead & light, ahead & ~light):
        at = np.flatnonzero(some)
        at = at[label[source[at]] != label[target[at]]]
        ends = label[source[at]], label[target[at]]
        key = at.view("uint64") if weight is None else _ordered(weight[at])
        chosen, label = _rounds(label, at, *ends, key)
        found += chosen
    return np.sort(np.concatenate(found)) if found else np.flatnonzero(ahead & ~ahead)


def _light(size: int, weight: Any, count: int, like: Any) -> Any:
    """Return which edges are about the first ``LIGHT * size`` edges in their order."""
    if LIGHT * size >= count:  # also if there are neither vertices nor edges
        return np.ones_like(like)
    part = LIGHT * size / count
    if weight is None:
        light = np.zeros_like(like)
        light[: int(part * count)] = True
        return light
    sample = np.sort(weight[:: -(-count // SAMPLE)])
    at = int(part * len(sample))
    last = sample[at]
    low, high = int((sample < last).sum()), int((sample <= last).sum())
    # The first edges of the last weight are light, too.
    tied = weight == last
    tied[int(count * (at + 1 - low) / (high - low)) :] = False
    return tied | (weight < last)


def _ordered(weight: Any) -> Any:
    """Return unsigned integers in the order of weights; CuPy has atomics for few other types."""
    kind = np.dtype(f"uint{8 * weight.itemsize}")
    sign = kind.type(1 << (8 * weight.itemsize - 1))
    if weight.dtype.kind != "f":
        return weight.view(kind) ^ sign
    bits = (weight + 0.0).view(kind)  # turns -0.0 into 0.0
    return np.where(bits < sign, bits ^ sign, ~bits)


def _rounds(label: Any, at: Any, one: Any, other: Any, key: Any) -> tuple[list[Any], Any]:
    """Join components by their first leaving edges, until no edge leaves a component.

    Parameters
    ----------
    label : array of integers
        Component of each vertex, identified by one of its vertices.
    at : array of int64
        Indices of the edges, ascending.
    one, other : array of integers
        Components of the ends of the edges.
    key : array of unsigned integers
        Sort keys of the edges. Edges with equal keys are ordered by index.

    Returns
    -------
    list of array
        Indices of the edges that were chosen.
    array
        The component of each vertex.
    """
    least_of = kernels_for(label).namespace.minimum.at
    chosen, size = [], len(label)
    while len(at):
        least = np.full_like(key, np.iinfo(key.dtype).max, shape=size)
        first = np.full_like(at, len(at), shape=size)
        for side in (one, other):
            least_of(least, side, key)
        for side in (one, other):
            tied = np.flatnonzero(key == least[side])
            least_of(first.view("uint64"), side[tied], tied.view("uint64"))
        joining = np.flatnonzero(first < len(at)).astype(label.dtype)
        edge = first[joining]
        above = one[edge] + other[edge] - joining
        parent = np.arange(size, dtype=label.dtype, like=label)
        parent[joining] = above
        # Two components can choose the same edge. The smaller one is the root of both.
        roots = joining[(parent[above] == joining) & (joining < above)]
        parent[roots] = roots
        while (parent[parent] != parent).any():
            parent = parent[parent]
        taken = np.zeros_like(at, "bool")
        taken[edge] = True
        chosen.append(at[taken])
        label, one, other = parent[label], parent[one], parent[other]
        leaving = np.flatnonzero(one != other)
        at, one, other, key = (values[leaving] for values in (at, one, other, key))
    return chosen, label
