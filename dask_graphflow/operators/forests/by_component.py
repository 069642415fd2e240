"""Values per connected component, which all members compute together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphflow.kernels import kernels_for
from dask_graphflow.operators.priorities import places_of
from dask_graphflow.operators.view import GraphView

from .connected import find_components


class ByComponent:
    """The components of an undirected graph, which are searched for once. All members create theirs.

    `at` are positions of some owned vertices, and values have one entry for each of them.
    """

    def __init__(self, g: GraphView) -> None:
        component = find_components(g)
        _, names = places_of(g, np.flatnonzero(g.exists & (component == g.numbers)))
        self._g, self._count, self._index = g, len(names), np.searchsorted(names, component)

    def largest(self, at: Any, values: Any) -> Any:
        """Return the largest value in the component of each vertex, over all members, as int64.

        Values are whole numbers of at least 0. All members call it.
        """
        largest, index = self._g.column(-1, "int64", self._count), self._index[at]
        kernels_for(largest).namespace.maximum.at(largest, index, values.astype("int64"))
        return self._g.elementwise_max(largest)[index]

    def first(self, at: Any, keys: Sequence[Any]) -> Any:
        """Return the position of one vertex per component of all members: the one with the largest keys.

        A later key decides between vertices whose earlier keys are equal; no two vertices have the same
        last key. All members call it.
        """
        chosen = np.arange(len(at), like=at)
        for key in keys:
            values = key[chosen]
            chosen = chosen[values == self.largest(at[chosen], values)]
        return at[chosen]
