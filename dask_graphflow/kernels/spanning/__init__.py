"""Minimum spanning forests: components join along their first edges (Borůvka)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array


class SpanningKernels(Protocol):
    """What :mod:`.spanning.host` and :mod:`.spanning.device` can do."""

    def join_components(
        self, component: Array, one: Array, other: Array, key: Array, at: Array, taken: Array
    ) -> None:
        """Join components by the first edges that leave them, until no edge leaves a component.

        Edges are ordered by key, then by index. The four arrays of edges are overwritten.

        Parameters
        ----------
        component : array of integers, shape (V,)
            Component of each vertex, identified by one of its vertices; changed in place.
        one, other : array of the same dtype, shape (m,)
            Components of the ends of the edges, which differ.
        key : array of unsigned integers, shape (m,)
            Sort keys of the edges.
        at : array of int64, shape (m,)
            Indices of the edges, ascending.
        taken : array of bool
            Whether each edge is in the forest; the chosen edges are set.
        """


of: Callable[[Any], SpanningKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: SpanningKernels = host
    _device: SpanningKernels = device
