"""Matchings of bipartite graphs, on the host.

Edges lead from *left* vertices to *right* ones. A matching is an array with an entry per vertex: the index
in the rows of the edge that a left vertex is matched by, and -1 for other vertices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class Sides(NamedTuple):
    """The two sides of the vertices of a graph without directions."""

    left: Array  # array of bool, shape (V,). The smallest vertex of each component is left.
    # The two ends of an edge between vertices of the same side, or None. The graph is then not bipartite.
    odd: tuple[int, int] | None


class MatchingKernels(Protocol):
    """What :mod:`.matching.host` can do."""

    def sides(self, rows: Rows) -> Sides:
        """Divide the vertices into two sides, so that edges lead from one side to the other.

        Parameters
        ----------
        rows : Rows
            Rows of all vertices, with each edge at both of its ends.
        """

    def most_edges(self, rows: Rows, into: Rows, left: Array) -> Array:
        """Return a matching with as many edges as possible [1]_ [2]_: array of int64, shape (V,).

        Parameters
        ----------
        rows, into : Rows
            Rows of the leaving and of the entering edges of all vertices.
        left : array of integers
            The left vertices, ascending.

        References
        ----------
        .. [1] J. E. Hopcroft, R. M. Karp, "An n^(5/2) Algorithm for Maximum Matchings in Bipartite Graphs",
           SIAM Journal on Computing 2(4), 1973.
        .. [2] R. M. Karp, M. Sipser, "Maximum Matchings in Sparse Random Graphs", FOCS 1981.
        """

    def most_weight(self, rows: Rows, left: Array) -> Array:
        """Return a matching whose weights have the largest sum: array of int64, shape (V,).

        Vertices first bid for their neighbors [1]_. Those that are left without one look for the shortest
        augmenting path [2]_.

        Parameters
        ----------
        rows : Rows
            Rows of all vertices, with weights of int64 that are at least 0 and at most 2**61.
        left : array of integers
            The left vertices, ascending.

        References
        ----------
        .. [1] D. P. Bertsekas, "The Auction Algorithm: A Distributed Relaxation Method for the Assignment
           Problem", Annals of Operations Research 14, 1988.
        .. [2] R. Jonker, A. Volgenant, "A Shortest Augmenting Path Algorithm for Dense and Sparse Linear
           Assignment Problems", Computing 38, 1987.
        """


of: Callable[[Any], MatchingKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: MatchingKernels = host
