"""Who gets which edges, where each of several members owns a range of the vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["choose", "count_grains"]


def choose(
    source: Any, target: Any, owners: np.ndarray, members: int, *, shift: int
) -> list[np.ndarray]:
    """Return for each member the edges that have an end it owns, ascending.

    Parameters
    ----------
    source : ndarray of integers, shape (m,)
    target : ndarray of integers, shape (m,), or None
        None where an edge is its source's alone.
    owners : ndarray of int16
        The owner of every ``2**shift`` vertices.
    members : int
    shift : int
    """
    own = owners[source >> shift]
    other = own if target is None else owners[target >> shift]
    return [np.flatnonzero((own == q) | (other == q)) for q in range(members)]


def count_grains(ids: np.ndarray, count: int, *, shift: int) -> np.ndarray:
    """Return how many ids lie in each of `count` grains of ``2**shift``, as int64."""
    return np.bincount(ids >> shift, minlength=count)
