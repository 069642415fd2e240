"""Vertices that take values one after another, in an order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class OrderKernels(Protocol):
    """What :mod:`.order.host` and :mod:`.order.device` can do."""

    def first_free(self, rows: Rows, order: Array) -> Array:
        """Give each vertex the smallest number that no neighbor before it has.

        One thread does it. A vertex has to wait for its neighbors, and a pass over the edges in the order
        takes less time than finding the vertices that wait for no other vertex.

        Parameters
        ----------
        rows : Rows
            Rows of all vertices, with each edge in the rows of both of its ends.
        order : array of integers, shape (V,)
            All vertices; each comes after those with more edges.

        Returns
        -------
        array of int32, shape (V,)
        """


of: Callable[[Any], OrderKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: OrderKernels = host
    _device: OrderKernels = device
