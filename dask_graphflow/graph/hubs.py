"""Hubs: the few vertices that have many of a graph's edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["HUBS", "HUBS_EDGES", "Labelled", "has_hubs", "inverse"]

HUBS = 16  # one vertex in so many
HUBS_EDGES = 2  # has at least one edge in so many: then hubs are worth being put first


class Labelled(NamedTuple):
    """Rows by labels instead of vertex numbers.

    Attributes
    ----------
    rows : Rows
    labels, names : array of integers, shape (V,), or None
        Label of each vertex, and vertex of each label; None for rows by vertices.
    """

    rows: Any
    labels: Any
    names: Any


def inverse(labels: Any) -> Any:
    """Return the vertex of each label, from the label of each vertex."""
    names = np.empty_like(labels)
    names[labels] = np.arange(len(labels), dtype=labels.dtype, like=labels)
    return names


def has_hubs(degrees: Any) -> bool:
    """Return whether few vertices have many of the edges."""
    few = len(degrees) // HUBS
    if not few:
        return False
    most = np.partition(degrees, len(degrees) - few)[len(degrees) - few :]
    return int(most.sum()) * HUBS_EDGES > int(degrees.sum())
