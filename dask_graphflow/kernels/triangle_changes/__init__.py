"""Triangles that edges of a batch closed or opened, on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class Touched(NamedTuple):
    """The ends of the edges that an update inserted or deleted, ascending, with their neighbors."""

    vertices: Array  # array of int64, shape (t,). Their numbers.
    # Array of int64, shape (t,). Where the row of each vertex in the new graph begins and ends in `ends`.
    starts: Array
    stops: Array
    ends: Array  # ends of rows, which ascend. Parallel edges and self-loops are skipped.
    # Array of int64, shape (t + 1,). Where the changed edges of each vertex begin in the arrays below.
    offsets: Array
    others: (
        Array  # array of int64, shape (k,). The other end of each edge, ascending for each vertex.
    )
    inserted: Array  # array of bool, shape (k,). Whether each edge was inserted, and not deleted.
    ranks: Array  # array of int64, shape (k,). Both directions of an edge have the same rank.


class TriangleChangesKernels(Protocol):
    """What :mod:`.triangle_changes.host` can do."""

    def changed(self, touched: Touched, first: Array, second: Array, low: int, sums: Array) -> None:
        """Add the number of triangles that each vertex gained to `sums`, and subtract those that it lost.

        A new triangle is counted at its inserted edge with the smallest rank, and one that is gone at its
        deleted edge with the smallest rank.

        Parameters
        ----------
        touched : Touched
        first, second : array of int64, shape (k / 2,)
            The ends of each changed edge, as indices in `touched`.
        low : int
            The vertex of the first entry in `sums`. Vertices outside of `sums` are left out.
        sums : array of int64
        """

    def neighbors(self, rows: Rows, at: Array) -> Array:
        """Return the number of distinct neighbors of some vertices, without the vertex itself.

        Parameters
        ----------
        rows : Rows
            Their ends ascend, and are numbers of vertices.
        at : array of int64
            Indices of rows.

        Returns
        -------
        array of int64
        """


of: Callable[[Any], TriangleChangesKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: TriangleChangesKernels = host
