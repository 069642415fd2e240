"""Whole searches from several sources: levels, and what vertices contribute to shortest paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class SearchesKernels(Protocol):
    """What :mod:`.searches.host` and :mod:`.searches.device` can do."""

    AT_ONCE: int

    def add_dependencies(
        self,
        rows: Rows,
        into: Rows,
        sources: Array,
        scores: Array,
        *,
        endpoints: bool = False,
        threads: int = 1,
    ) -> None:
        """Add what each vertex contributes to the shortest paths from some sources.

        Parameters
        ----------
        rows, into : Rows
            Rows of the edges that leave and that enter all vertices.
        sources : array of int64
            The contributions are added in this order.
        scores : array of float64, shape (V,)
            Changed in place.
        endpoints : bool
            Whether a path also counts for its first and its last vertex.
        """

    def levels(self, rows: Rows, sources: Array, *, threads: int = 1) -> Array:
        """Return the level of each vertex in a search from each source.

        Parameters
        ----------
        rows : Rows
            Rows of the edges that leave all vertices.
        sources : array of int64, shape (s,)

        Returns
        -------
        array of int32, shape (s, V)
            -1 for vertices that were not reached.
        """


def dependencies(
    rows: Rows, into: Rows, sources: Array, *, endpoints: bool = False
) -> Iterator[tuple[Array]]:
    """Find what each vertex contributes to the shortest paths from each source, on a device.

    See :meth:`SearchesKernels.add_dependencies` for the parameters.

    Yields
    ------
    tuple of one array of float64, shape (s, V)
        One row per source, for the next few sources. It must be used before the next one is yielded.
    """
    from . import device

    return device.dependencies(rows, into, sources, endpoints=endpoints)


def paths(rows: Rows, into: Rows, sources: Array) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Count the shortest paths from each source, and those that lead through each vertex, on a device.

    Arrays have one row per source, for the next few sources. They must be used before the next ones are
    yielded.

    Yields
    ------
    level : array of int32, shape (s, V)
        Below 0 for vertices that were not reached.
    sigma, power : array of float64 and of int32, shape (s, V)
        ``sigma * 2**power`` is the number of paths to a vertex that was reached.
    dependency : array of float64, shape (s, V)
        What a vertex contributes, as in :meth:`SearchesKernels.add_dependencies`.
    """
    from . import device

    return device.paths(rows, into, sources)


of: Callable[[Any], SearchesKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: SearchesKernels = host
    _device: SearchesKernels = device
