"""Connected components after edges were deleted, on the host: which pieces have been cut off."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class Cut(NamedTuple):
    """How deleted edges changed the components."""

    # Arrays of the labels' dtype, shape (c,). Vertices in pieces that were cut off, and their new labels.
    vertices: Array
    labels: Array
    # Arrays of the labels' dtype, shape (r,). Labels whose own vertices are in such pieces, and the new
    # labels of the remaining vertices.
    old: Array
    new: Array


class ReconnectKernels(Protocol):
    """What :mod:`.reconnect.host` can do."""

    def cut_off(self, sides: list[Rows], labels: Array, seeds: Array, budget: int) -> Cut | None:
        """Find the pieces that deleted edges have cut off from their components, by one thread.

        All seeds of a component search at once, in turns of equal work. Two searches that meet become one,
        and a search without further vertices has found a piece. When one search is left, its piece is the
        rest of the component, and it stops. So the work is bounded by the smaller pieces and by the detours
        around the deleted edges.

        Parameters
        ----------
        sides : list of Rows
            The current rows of all vertices, in host memory. In a directed graph, the rows of the leaving
            and of the entering edges.
        labels : array of integers, shape (n,)
            The smallest vertex of the component of each vertex, before the edges were deleted. A vertex
            that is new is its own label.
        seeds : array of integers, shape (s,)
            The ends of deleted edges other than self-loops, each once, sorted by label.
        budget : int
            Maximum number of entries of rows to read.

        Returns
        -------
        Cut or None
            None if the budget was not enough.
        """


of: Callable[[Any], ReconnectKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: ReconnectKernels = host
