"""Hubs: the few vertices that have most edges of a power-law graph."""

from __future__ import annotations

from typing import Any

import numpy as np

HUBS = 16  # one vertex in 16 is a candidate
HIGH = 1 << 16  # all vertices with a higher degree are candidates
HUBS_EDGES = 2  # candidates are hubs if they have more than one edge in two
# Degrees are even if their mean square is at most this multiple of the square of their mean.
EVEN = 2


def has_hubs(degrees: Any) -> bool:
    """Return whether few vertices have a large part of the edges."""
    few = len(degrees) // HUBS
    if not few:
        return False
    # Degrees are counted, because many are equal: then `np.partition` took 20 times as long on roads.
    low = np.minimum(degrees, HIGH)
    # Number of vertices with at least each degree from 1 on.
    at_least = np.cumsum(np.bincount(low)[::-1])[:-1]
    most = int(np.minimum(at_least, few).sum()) + int((degrees - low).sum())
    return most * HUBS_EDGES > int(degrees.sum())


def is_even(ends: np.ndarray, vertices: int) -> bool:
    """Return whether degrees differ little, as in a road network, a grid or a mesh, given a sample of ends.

    Two random ends of edges are at the same vertex the more often, the more the degrees differ: the
    probability is the mean square of the degrees, divided by the square of their mean and by the number of
    vertices. The answer is reliable if the sample has several times the square root of `vertices` ends.
    """
    _, counts = np.unique(ends, return_counts=True)
    pairs = len(ends) * (len(ends) - 1)
    return vertices * int((counts * (counts - 1)).sum()) <= EVEN * pairs


def inverse(labels: Any) -> Any:
    """Return the vertex that has each label, from the label of each vertex."""
    names = np.empty_like(labels)
    names[labels] = np.arange(len(labels), dtype=labels.dtype, like=labels)
    return names
