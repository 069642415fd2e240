"""Groups of neighbors: each vertex has a label, and its neighbors with the same label are a group.

The score of a label for a vertex is the sum of the weights of its edges to that group, less a penalty for
the mass of all vertices with that label. With degrees as masses, this is the gain of modularity; with
vertex counts, it is the gain of the constant Potts model (Traag et al. [1]_).

Weights and masses are whole numbers whose sums are below 2**62, so scores have the same bits in every
order.

Each member stores the mass of every label, because vertices of other members can have any label. A change
of label is sent to the mirrors of its vertex, and changes of masses are sent to all members.

.. [1] V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected
   communities", Scientific Reports 9, 2019.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import kernels_for

from .access import gather
from .labels import Labels
from .view import GraphView
from .wide_column import update_mirrors

__all__ = ["Groups"]


class Groups(Labels):
    """Labels of vertices, which are vertex numbers, and the masses of labels. All members create theirs.

    Parameters
    ----------
    g : GraphView
        Undirected.
    weights : array of int64, or None
        Weights of the edges in ``g.local("out")``; 1 each by default.
    mass : array of int64, shape (V_p,)
    factor : float
        A label of mass L costs a vertex of mass m the score ``factor * m * L``.
    labels : array of index, shape (V_p,), optional
        By default each vertex has its own number.

    Attributes
    ----------
    labels : array of index, shape (V_p + mirrors,)
    load : array of int64, shape (V,)
        Mass of the vertices of each label, of all members.
    """

    def __init__(
        self, g: GraphView, weights: Any, mass: Any, factor: float, labels: Any = None
    ) -> None:
        super().__init__(g, [g.local("out").rows._replace(weights=weights)], labels)
        self._mass, self._factor = mass, factor
        self.load = g.column(0, "int64", g.shard.count)
        has = mass > 0
        self._add(gather(g, self.own[has].astype("int64")), gather(g, mass[has]))

    def best(self, vertices: Any, within: Any = None, closed: Any = None) -> Any:
        """Return the best label for each of some vertices; see :func:`.host_groups.best_groups`.

        Parameters
        ----------
        vertices : array of integers, shape (f,)
            Positions, each once.
        within : array, shape (V_p + mirrors,), optional
            Only neighbors with the same value as the vertex count.
        closed : array of bool, shape (V,), optional
            Labels that no vertex may take. Required with `within`.

        Returns
        -------
        array of index, shape (f,)
        """
        limits = None if within is None else (within, closed)
        return self._best(vertices, (self._mass, self.load, self._factor), limits)

    def move(self, vertices: Any, labels: Any) -> int:
        """Give some vertices other labels; return how many vertices moved, over all members.

        All members call it.

        Parameters
        ----------
        vertices : array of integers, shape (f,)
            Positions, ascending.
        labels : array of index, shape (f,)
            The new labels. They must differ from the present ones.
        """
        mass, before = self._mass[vertices], self.labels[vertices]
        self.labels[vertices] = labels
        changes = [before, labels, -mass, mass]
        if self._mirrors is None:
            self._add(np.concatenate(changes[:2]), np.concatenate(changes[2:]))
            return len(vertices)
        told = self._g.exchange.all_gather(
            np.concatenate([part.astype("int64") for part in changes])
        )
        for own in told:
            self._add(*own.reshape(2, -1))
        update_mirrors(self._mirrors, self.labels, vertices)
        return sum(map(len, told)) // 4

    def _add(self, labels: Any, mass: Any) -> None:
        kernels_for(mass).namespace.add.at(self.load, labels, mass)
