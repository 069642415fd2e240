"""Hubs: the few vertices that have most of the edges of a power-law graph."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["HUBS", "HUBS_EDGES", "has_hubs", "inverse"]

HUBS = 16  # one vertex in so many is a candidate
HUBS_EDGES = 2  # candidates are hubs if they have at least one edge in so many


def has_hubs(degrees: Any) -> bool:
    """Return whether few vertices have many of the edges."""
    few = len(degrees) // HUBS
    if not few:
        return False
    most = np.partition(degrees, len(degrees) - few)[len(degrees) - few :]
    return int(most.sum()) * HUBS_EDGES > int(degrees.sum())


def inverse(labels: Any) -> Any:
    """Return the vertex of each label, from the label of each vertex."""
    names = np.empty_like(labels)
    names[labels] = np.arange(len(labels), dtype=labels.dtype, like=labels)
    return names
