"""Edges by row (CSR). This takes no compiler, so that importing the library does not import Numba."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Light", "Rows"]


class Rows(NamedTuple):
    """Edges by row.

    Attributes
    ----------
    offsets : ndarray of int64, shape (r + 1,)
        Where each row begins and the last one ends.
    ends : ndarray of int32 or int64, shape (e,)
        The vertex at the other end of each edge.
    weights : ndarray, shape (e,), or None
        The edges' weights.
    first : int
        The first vertex of the range that the rows are of.
    """

    offsets: np.ndarray
    ends: np.ndarray
    weights: np.ndarray | None
    first: int


class Light(NamedTuple):
    """Rows with their light edges first.

    Attributes
    ----------
    rows : Rows
    middle : array of int64, shape (V,), or None
        Where the heavy edges of each row begin; None where edges are in no such order.
    """

    rows: Rows
    middle: Any
