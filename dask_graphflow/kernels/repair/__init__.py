"""Shortest paths of a graph that has changed, repaired on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class Repaired(NamedTuple):
    """How a repair of shortest paths ended."""

    complete: bool  # False if the repair gave up. The distances and predecessors are then useless.
    # Whether a shortest path near a change has an edge between two vertices at the same distance. The
    # distances are then right, and the predecessors have to be found again.
    level: bool
    vertices: int  # number of vertices that were looked at again
    edges: int  # number of entries of rows that were read


class RepairKernels(Protocol):
    """What :mod:`.repair.host` can do."""

    def repair_paths(
        self,
        out: Rows,
        into: Rows,
        pairs: tuple[Array, Array],
        precedes: Array,
        distance: Array,
        predecessor: Array,
        sources: Array,
        cutoff: float,
        budget: int,
    ) -> Repaired:
        """Bring distances and predecessors up to date after some pairs have changed, by one thread [1]_.

        Parameters
        ----------
        out, into : Rows
            Rows of the edges that leave and that enter all vertices, in host memory, as they are now.
            Without weights, each edge has a length of 1.
        pairs : pair of array of integers, shape (k,)
            Sources and targets, in ascending order, each pair once. An edge of any other pair has not
            changed.
        precedes : array of bool, shape (k,)
            Whether the source was the predecessor of the target before the change.
        distance : array of int32 or float64, shape (V,)
            The distances before the change; the dtype's maximum, or infinity, for vertices that were not
            reached. Changed in place.
        predecessor : array of int32 or int64, shape (V,)
            -1 for all vertices. Set to the predecessor of each vertex whose predecessor may have changed.
        sources : array of integers
            The vertices at which the search starts.
        cutoff : float
            Maximum distance.
        budget : int
            Maximum number of entries of rows to read. Beyond it, the repair gives up. It also gives up if
            the weight of a changed edge is negative or NaN.

        References
        ----------
        .. [1] G. Ramalingam, T. Reps, "An Incremental Algorithm for a Generalization of the Shortest-Path
           Problem", Journal of Algorithms 21 (2), 1996.
        """


of: Callable[[Any], RepairKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: RepairKernels = host
