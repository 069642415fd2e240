"""Shortest paths along edges whose weights are whole numbers, with predecessors, on a single member."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class WholeSearch(Protocol):
    """The distances and predecessors of a search, and the vertices that wait to be relaxed.

    See :class:`.VertexBuckets` for the parameters that are not listed, and for `counts`, `relax` and
    `lowest`. Distances are whole numbers.

    Parameters
    ----------
    rows : Rows
        Rows of all vertices, with the weights that :func:`narrow` returned.
    longest : int
        The result of :func:`longest`.
    """

    @property
    def counts(self) -> dict[str, int]:
        """Number of edges and of vertices relaxed so far."""

    def relax(self, low: float, most: int) -> bool:
        """Relax buckets until none waits at a position of at most `low`, and `most` edges were relaxed.

        It returns False, because one call does all of this.
        """

    def lowest(self) -> float:
        """Return the lowest position at which vertices can wait; infinite if none wait."""

    def distances_of(self, vertices: Array) -> Array:
        """Return the distances of some vertices so far, as float64; infinite if not reached."""

    def columns(self, most: float) -> tuple[Array, Array]:
        """Return the distance of each vertex, and the smallest predecessor on a shortest path to it.

        Vertices that are farther away than `most` count as not reached.

        Returns
        -------
        distance : array of float64, shape (V,)
            Infinite for vertices that were not reached.
        predecessor : array of int32 or int64, shape (V,)
            The dtype's maximum for sources and for vertices that were not reached.
        """


class WholeBucketsKernels(Protocol):
    """What :mod:`.whole_buckets.host` can do."""

    AHEAD: int

    def narrow(self, weights: Array, *, threads: int = 1) -> Array | None:
        """Return weights as small integers, or None if one is not a whole number, or is less than 1.

        Parameters
        ----------
        weights : array of numbers, shape (e,)

        Returns
        -------
        array of uint8 or int32, shape (e,), or None
        """

    def longest(self, weights: Array, size: int) -> int:
        """Return a bound on distances; 0 if a distance and a vertex do not always fit in one word.

        Parameters
        ----------
        weights : array of integers
            The result of :func:`narrow`.
        size : int
            Number of vertices.
        """

    def new_buckets(
        self,
        rows: Rows,
        sources: Array,
        delta: float,
        longest: int,
        *,
        cutoff: float = float("inf"),
        threads: int = 1,
    ) -> WholeSearch:
        """Return a :class:`WholeSearch` with these parameters."""


of: Callable[[Any], WholeBucketsKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: WholeBucketsKernels = host
