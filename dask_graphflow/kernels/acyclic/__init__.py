"""Generations of a graph without cycles, one after another, on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class AcyclicKernels(Protocol):
    """What :mod:`.acyclic.host` can do."""

    def remove_generations(
        self, rows: Rows, ready: Array, entering: Array, generation: Array
    ) -> tuple[Array, Array]:
        """Remove the vertices that no edge enters, then those that are left with none, by one thread [1]_.

        Parameters
        ----------
        rows : Rows
            Rows of all vertices, in host memory.
        ready : array of integers, shape (r,)
            The vertices that no edge enters.
        entering : array of int64, shape (V,)
            Number of edges that enter each vertex. It is reduced to the number that is left.
        generation : array of int32, shape (V,)
            Set for the vertices that are removed, from 0 on.

        Returns
        -------
        sizes, edges : array of int64, shape (n,)
            The number of vertices of each generation, and of the edges that leave them.

        References
        ----------
        .. [1] A. B. Kahn, "Topological Sorting of Large Networks", Communications of the ACM 5, 1962.
        """


of: Callable[[Any], AcyclicKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: AcyclicKernels = host
