"""Edges by row (CSR). This module needs no compiler, so importing the library does not import Numba."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

# An array of NumPy or CuPy. CuPy has no types, but its arrays have NumPy's attributes and methods.
Array: TypeAlias = np.ndarray


class Rows(NamedTuple):
    """Edges by row."""

    # Array of int64, shape (r + 1,). The index at which each row begins, followed by the index at which the
    # last row ends.
    offsets: np.ndarray
    # Array of int32 or int64, shape (e,). The vertex at the other end of each edge.
    ends: np.ndarray
    # Array, shape (e,), or None. The edges' weights.
    weights: Any  # callers know whether there are any
    first: int  # the vertex of the first row. The rows belong to consecutive vertices.

    def part(self, low: int, high: int) -> Rows:
        """Return the rows `low` to ``high - 1``, whose offsets begin at 0 too."""
        offsets = self.offsets[low : high + 1]
        edges = slice(int(offsets[0]), int(offsets[-1]))
        weights = None if self.weights is None else self.weights[edges]
        offsets = offsets - edges.start if edges.start else offsets
        return Rows(offsets, self.ends[edges], weights, self.first + low)


class Reached(NamedTuple):
    """The vertices that a breadth-first search has reached."""

    seen: Any  # array of uint64, shape (ceil(V / 64),). A bitmap of these vertices.
    # Array of int32 or int64, shape (V,). The dtype's maximum for vertices that were not reached.
    predecessor: Any
    level: Any  # array of int32, shape (V,). Negative for vertices that were not reached.


class Light(NamedTuple):
    """Rows with their light edges first."""

    rows: Rows
    # Array of int64, shape (V,), or None. The index at which the heavy edges of each row begin; None if
    # edges are not in this order.
    middle: Any


def most_values(rows: Rows) -> int:
    """Return a bound on the numbers if each vertex takes the first that no earlier neighbor has.

    Each vertex comes after those with more edges. A vertex with the number n has n earlier neighbors, which
    have at least as many edges as it has itself, so there are at least n * (n + 1) edges.
    """
    return math.isqrt(len(rows.ends)) + 1
