"""Predecessors of the vertices of a level, in 64 searches at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class PredecessorsKernels(Protocol):
    """What :mod:`.predecessors.host` and :mod:`.predecessors.device` can do."""

    def set_predecessors(
        self,
        rows: Rows,
        seen: Array,
        vertices: Array,
        bits: Array,
        at: Array,
        depth: int,
        level: Array,
        predecessor: Array,
        *,
        threads: int = 1,
    ) -> None:
        """Set the level of vertices in some searches, and the first neighbor that these searches had seen.

        Parameters
        ----------
        rows : Rows
            Rows of incoming edges, from vertex 0 on.
        seen : array of uint64
            The searches that reached each vertex before this level, one bit per search.
        vertices : array of integers, shape (k,)
            The vertices of the level.
        bits : array of uint64, shape (k,)
            The searches that reach each of them in this level. One of its neighbors has seen each search.
        at : array of int64, shape (k,)
            The columns of the vertices in `level` and `predecessor`.
        depth : int
            The level.
        level : array of int32, shape (searches, columns)
            Changed in place.
        predecessor : array of the ends' dtype, shape (searches, columns)
            Changed in place.
        """


of: Callable[[Any], PredecessorsKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: PredecessorsKernels = host
    _device: PredecessorsKernels = device
