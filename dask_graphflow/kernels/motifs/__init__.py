"""Numbers of patterns of four vertices, on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows

COUNTS = 5
TAILS, CHORDS, OPPOSITE, CYCLES, CLIQUES = range(COUNTS)


class MotifsKernels(Protocol):
    """What :mod:`.motifs.host` can do."""

    def count(self, rows: Rows, first: int, step: int, *, threads: int = 1) -> Array:
        """Return the counts of all vertices to which every `step`-th vertex contributes, from `first` on.

        The counts of all vertices are the sums over all values of `first` below `step`. For 4-cycles, each
        thread counts the paths of two edges from a vertex to vertices of lower degree [1]_. For cliques, it
        compares the neighbors of higher degree in a matrix of bits.

        Parameters
        ----------
        rows : Rows
            Rows of all vertices of a simple graph, in host memory. Vertices are in the order of descending
            degree, and ends ascend within a row. The weight of an edge is the number of its triangles.
        first, step : int
        threads : int
            Maximum number of threads.

        Returns
        -------
        array of int64, shape (COUNTS, n)
            For each vertex v, these numbers. TAILS: over the edges (v, u), the sum of the edge's triangles
            times the neighbors of u besides the other two vertices of a triangle. CHORDS: the number of
            pairs of triangles that share an edge of v. OPPOSITE: over the triangles of v, the sum of the
            triangles of the opposite edge. CYCLES: the number of 4-cycles, with or without chords. CLIQUES:
            6 times the number of cliques of 4 vertices.

        References
        ----------
        .. [1] N. Chiba, T. Nishizeki, "Arboricity and Subgraph Listing Algorithms", SIAM Journal on
           Computing 14, 1985.
        """


of: Callable[[Any], MotifsKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: MotifsKernels = host
