"""Simple paths and simple cycles of a bounded length, on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class Searches(NamedTuple):
    """Searches for simple paths from one vertex to another. If both are the same, they are cycles."""

    starts: Array  # array of int64, shape (s,)
    stops: Array  # array of int64, shape (s,)
    # Array of int64, shape (s,). The vertices between both ends are larger than this one.
    above: Array
    least: int  # the minimum number of edges of a path or cycle
    length: int  # the maximum number
    # Whether a cycle and the same one in the other direction are one cycle. Then they have 3 edges or more.
    undirected: bool


class BoundedPathsKernels(Protocol):
    """What :mod:`.bounded_paths.host` can do."""

    def count(
        self, rows: Rows, into: Rows, searches: Searches, most: int, *, threads: int = 1
    ) -> Array | None:
        """Count the paths that each search finds, by their number of edges.

        Each thread takes a whole search. Two breadth-first searches, from both ends, meet in the middle
        and find for each vertex the number of edges that it takes to get to the last vertex. A depth-first
        search then only follows edges from which the rest of a short enough walk is known [1]_.

        Parameters
        ----------
        rows, into : Rows
            The leaving and the entering edges of all vertices, in host memory, with int32 ends. There are
            no self-loops and no parallel edges, and ends ascend within a row.
        searches : Searches
        most : int
            The number of paths above which counting stops.
        threads : int
            Maximum number of threads.

        Returns
        -------
        array of int64, shape (s, length + 1), or None
            None if all searches together find more than `most` paths.

        References
        ----------
        .. [1] S. Sun, Y. Chen, B. He, B. Hooi, "PathEnum: Towards Real-Time Hop-Constrained s-t Path
           Enumeration", SIGMOD 2021.
        """

    def write(
        self,
        rows: Rows,
        into: Rows,
        searches: Searches,
        places: Array,
        order: Array,
        listed: Array,
        *,
        threads: int = 1,
    ) -> None:
        """Write the paths that each search finds to an array, one after another.

        Parameters
        ----------
        rows, into, searches
            See :meth:`count`.
        places : array of int64, shape (s, length + 1)
            Where the first path of a search with each number of edges is written. It is changed.
        order : array of int32, shape (n,)
            The number to write for each vertex. A cycle begins at its smallest number, and if it is
            undirected, continues with the smaller one of the two numbers beside it.
        listed : array of int32
            A path with ``k`` edges takes ``k + 1`` numbers, and a cycle ``k``. The paths of a search are
            in ascending order of their vertices, and its cycles in no order.
        threads : int
            Maximum number of threads.
        """


of: Callable[[Any], BoundedPathsKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: BoundedPathsKernels = host
