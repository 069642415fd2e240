"""Communities of a limited size: those that are too large are split again.

The edges between a community that is too large and other vertices are left out, and the rest of it is
split at a higher resolution. Parts that are still too large are split at an even higher one, and so on. At
a high resolution each vertex is alone, so this ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphflow.operators.access import at_ends
from dask_graphflow.operators.labels import count_labels

from .level import Level

# Factor of the resolution. A larger one gives more and smaller communities, and a lower quality. A smaller
# one takes longer: from 1.25 to 1.1, twice as long for hardly any quality.
STEP = 1.25


def limit_size(graph: Level, labels: Any, most: int, communities_of: Callable[[Level], Any]) -> Any:
    """Split communities that have more than `most` vertices. All members call it.

    `communities_of` returns the labels of the communities of a graph.
    """
    g, factor, step = graph.g, graph.factor, STEP
    while True:
        sizes = count_labels(g, labels)
        large = sizes[labels] > most
        if not g.count_true(large):
            return labels
        factor *= step
        parts = communities_of(_select_inside(graph, labels, large)._replace(factor=factor))
        changed = g.count_true(large & (parts != labels))
        # The resolution can be far too low, for example after a call with a very low one.
        step = STEP if changed else step * step
        labels = np.where(large, parts, labels)


def _select_inside(graph: Level, labels: Any, large: Any) -> Level:
    """Return a graph with only the edges inside large communities; other vertices have no mass."""

    def inside(sources: Any, targets: Any, weights: Any = 1) -> Any:
        return ((sources == targets) & (sources >= 0)).astype("int64") * weights

    weights = at_ends(graph.g, np.where(large, labels, -1), inside, graph.weights)
    mass, skew = np.where(large, graph.mass, 0), graph.skew
    skew = None if skew is None else np.where(large, skew, 0)
    return graph._replace(weights=weights, mass=mass, skew=skew)
