"""Hubs: the few vertices that have most edges of a power-law graph."""

from __future__ import annotations

from typing import Any

import numpy as np

HUBS = 16  # one vertex in 16 is a candidate
HUBS_EDGES = 2  # candidates are hubs if they have more than one edge in two


def has_hubs(degrees: Any) -> bool:
    """Return whether few vertices have a large part of the edges."""
    few = len(degrees) // HUBS
    if not few:
        return False
    most = np.partition(degrees, len(degrees) - few)[len(degrees) - few :]
    return int(most.sum()) * HUBS_EDGES > int(degrees.sum())


def inverse(labels: Any) -> Any:
    """Return the vertex that has each label, from the label of each vertex."""
    names = np.empty_like(labels)
    names[labels] = np.arange(len(labels), dtype=labels.dtype, like=labels)
    return names
