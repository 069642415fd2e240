"""Communities as groups of neighbors with the same label, and the score of a group for a vertex.

The score of a label for a vertex is the sum of the weights of its edges to that group, less a penalty for
the mass of all vertices with that label. With degrees as masses, this is the gain of modularity; with
vertex counts, it is the gain of the constant Potts model (Traag et al. [1]_).

Weights and masses are whole numbers whose sums are below 2**62, so scores have the same bits in every
order.

Each member stores the mass of every label, because vertices of other members can have any label. Changes of
masses are sent to all members.

.. [1] V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected
   communities", Scientific Reports 9, 2019.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import kernels_for
from dask_graphflow.operators.access import gather
from dask_graphflow.operators.labels import Labels
from dask_graphflow.operators.view import GraphView


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

    def move(self, vertices: Any, limits: Any = None) -> tuple[Any, int]:
        """Move each of some vertices to the group with the best score, if that raises the quality.

        All members call it.

        Parameters
        ----------
        vertices : array of integers, shape (f,)
            Positions, each once, ascending.
        limits : tuple, optional
            An array, shape (V_p + mirrors,): only neighbors with the same value as the vertex count. And an
            array of bool, shape (V,): labels that no vertex may take.

        Returns
        -------
        array of integers
            Positions of the vertices that moved.
        int
            Number of vertices that moved, over all members.
        """
        best = self.best(vertices, (self._mass, self.load, self._factor), limits)
        moves = np.flatnonzero(best != self.own[vertices])
        vertices, best = vertices[moves], best[moves]
        mass, before = self._mass[vertices], self.own[vertices]
        sent = np.concatenate([before, best, -mass, mass])  # int64
        for part in [sent] if self._g.alone else self._g.exchange.all_gather(sent):
            self._add(*part.reshape(2, -1))
        return vertices, self.change(vertices, best)

    def _add(self, labels: Any, mass: Any) -> None:
        kernels_for(mass).namespace.add.at(self.load, labels, mass)
