"""Whole sources: distances, and what vertices and edges contribute to shortest paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class TightEdgesKernels(Protocol):
    """What :mod:`.tight_edges.host` can do."""

    AT_ONCE: int

    def add_contributions(
        self,
        rows: Rows,
        into: Rows,
        sources: Array,
        scores: Array,
        carried: Array,
        *,
        endpoints: bool = False,
        threads: int = 1,
    ) -> bool:
        """Add what each vertex, and each edge, contributes to the shortest paths from some sources.

        Parameters
        ----------
        rows, into : Rows
            Rows of the edges that leave and that enter all vertices. Without weights, each edge has a
            length of 1.
        sources : array of int64
            The contributions are added in this order.
        scores : array of float64, shape (V,)
            Contributions of vertices. Changed in place.
        carried : array of float64, shape (E,) or (0,)
            Contributions of the edges in `rows`, if they are asked for. Changed in place.
        endpoints : bool
            Whether a path also counts for its first and its last vertex.

        Returns
        -------
        bool
            Whether every weight changes the distances that it is added to; otherwise the sums mean nothing.
        """

    def distances(self, rows: Rows, sources: Array, *, threads: int = 1) -> Array:
        """Return the distance of each vertex from each source.

        Parameters
        ----------
        rows : Rows
            Rows of the edges that leave all vertices. Their weights are at least 0.
        sources : array of int64, shape (s,)

        Returns
        -------
        array of float64, shape (s, V)
            Infinite for vertices that were not reached.
        """


of: Callable[[Any], TightEdgesKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: TightEdgesKernels = host
