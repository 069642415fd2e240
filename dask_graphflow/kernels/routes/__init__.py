"""Shortest paths between given vertices, on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class FoundPaths(NamedTuple):
    """Paths, one after another."""

    paths: Array  # array of int64. The number of paths of each pair.
    lengths: Array  # array of float64, with an entry per path. The sum of its weights.
    counts: Array  # array of int64. The number of vertices of each path.
    vertices: Array  # array of integers. The vertices of each path.


class RoutesKernels(Protocol):
    """What :mod:`.routes.host` can do."""

    def find_shortest(
        self,
        rows: Rows,
        into: Rows,
        sources: Array,
        targets: Array,
        *,
        threads: int,
    ) -> FoundPaths:
        """Return the shortest path of each pair of vertices, if there is one.

        A path is followed back from its target: the vertex before each vertex is the smallest of those from
        which a shortest path can come, as in :meth:`.Buckets.predecessors`.

        Parameters
        ----------
        rows : Rows
            Rows of all vertices, whose weights are at least 0. Without weights, each edge has the weight 1.
        into : Rows
            Rows of the entering edges: the same object if edges have no direction.
        sources, targets : array of int64, shape (p,)
            The pairs, sorted by source. They are distinct.
        """

    def find_alternatives(
        self, rows: Rows, into: Rows, sources: Array, targets: Array, k: int, *, threads: int
    ) -> FoundPaths:
        """Return the `k` shortest simple paths of each pair [1]_ [2]_, or all if there are fewer.

        Paths are sorted by length, then by the sequence of their vertices.

        Parameters
        ----------
        rows, into : Rows
            Rows of the leaving and of the entering edges, whose ends ascend; see :meth:`find_shortest`.
        sources, targets : array of int64, shape (p,)

        References
        ----------
        .. [1] J. Y. Yen, "Finding the K Shortest Loopless Paths in a Network", Management Science 17(11),
           1971.
        .. [2] E. L. Lawler, "A Procedure for Computing the K Best Solutions to Discrete Optimization
           Problems and Its Application to the Shortest Path Problem", Management Science 18(7), 1972.
        """


of: Callable[[Any], RoutesKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: RoutesKernels = host
