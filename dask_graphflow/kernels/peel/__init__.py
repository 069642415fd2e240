"""Peeling: remove vertices with few edges left, which takes an edge from each neighbor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class PeelKernels(Protocol):
    """What :mod:`.peel.host` and :mod:`.peel.device` can do."""

    def peel(
        self,
        rows: Rows,
        counts: Array,
        limit: int,
        frontier: Array,
        room: Array,
        *,
        threads: int = 1,
        memory: Any = None,
    ) -> Array:
        """Remove vertices, and then the vertices that have too few edges left.

        Parameters
        ----------
        rows : Rows
            Rows of all vertices. When a vertex is removed, the other end of each edge in its row loses an
            edge.
        counts : array of int64, shape (V,), or Column
            Number of edges that each vertex has left; changed in place.
        limit : int
            A vertex is removed once it has at most this many edges left.
        frontier : array of integers, shape (f,)
            The vertices that are at or below the limit already, without duplicates.
        room : array of the dtype of the ends, shape (2, V)
            Work space; overwritten.
        memory : SharedMemory, optional
            If the devices of several members share memory: all members then call this function at once.
            `counts` and `room` are columns that they share, and each gives the vertices it owns.

        Returns
        -------
        array of the dtype of the ends
            The other vertices that were removed, in no particular order. This is a view of `room`.
        """


def peel_all(rows: Rows, counts: Any, removed: Array, room: Any, *, memory: Any = None) -> None:
    """Remove all vertices of a graph on devices, at increasing limits; see :meth:`.Peel.remove_all`."""
    from . import device

    device.peel_all(rows, counts, removed, room, memory=memory)


of: Callable[[Any], PeelKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: PeelKernels = host
    _device: PeelKernels = device
