"""Edges by row (CSR). This module needs no compiler, so importing the library does not import Numba."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

# An array of NumPy or CuPy. CuPy has no types, but its arrays have NumPy's attributes and methods.
Array: TypeAlias = np.ndarray


class Rows(NamedTuple):
    """Edges by row.

    Attributes
    ----------
    offsets : ndarray of int64, shape (r + 1,)
        The index at which each row begins, followed by the index at which the last row ends.
    ends : ndarray of int32 or int64, shape (e,)
        The vertex at the other end of each edge.
    weights : ndarray, shape (e,), or None
        The edges' weights.
    first : int
        The vertex of the first row. The rows belong to consecutive vertices.
    """

    offsets: np.ndarray
    ends: np.ndarray
    weights: Any  # callers know whether there are any
    first: int


class Reached(NamedTuple):
    """The vertices that a breadth-first search has reached.

    Attributes
    ----------
    seen : ndarray of uint64, shape (ceil(V / 64),)
        A bitmap of these vertices.
    predecessor : ndarray of int32 or int64, shape (V,)
        The dtype's maximum for vertices that were not reached.
    level : ndarray of int32, shape (V,)
        Negative for vertices that were not reached.
    """

    seen: Any
    predecessor: Any
    level: Any


class Light(NamedTuple):
    """Rows with their light edges first.

    Attributes
    ----------
    rows : Rows
    middle : array of int64, shape (V,), or None
        The index at which the heavy edges of each row begin; None if edges are not in this order.
    """

    rows: Rows
    middle: Any


def most_values(rows: Rows) -> int:
    """Return a bound on the numbers if each vertex takes the first that no earlier neighbor has.

    Each vertex comes after those with more edges. A vertex with the number n has n earlier neighbors, which
    have at least as many edges as it has itself, so there are at least n * (n + 1) edges.
    """
    return math.isqrt(len(rows.ends)) + 1
