"""Merging of changes into rows on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array


class Splices(NamedTuple):
    """Where the edges of some rows change: one entry per pair of vertices, in the order of the edges."""

    # Array of int64, shape (k,). The index of the first old edge of each pair, or where it would be.
    places: Array
    had: Array  # array of int64, shape (k,). Number of old edges of each pair; they are adjacent.
    gone: Array  # array of bool, shape (k,). Whether the old edges of each pair are deleted.
    targets: Array  # array of int64, shape (k,). The end of the new edges of each pair.
    # Array of int64, shape (k + 1,). The index of the first new edge of each pair, followed by the number
    # of all new edges.
    bounds: Array

    def growth(self, multi: str) -> Array:
        """Return how many edges each pair gains; see :meth:`.RowsKernels.rows` for `multi`."""
        new = np.diff(self.bounds)
        if multi != "keep":
            new = np.minimum(new, self.gone | (self.had == 0))
        grown: Array = new - self.gone * self.had
        return grown


class MergeKernels(Protocol):
    """What :mod:`.merge.host` can do."""

    def merged(
        self,
        ends: Array,
        weights: Array | None,
        splices: Splices,
        added: Array | None,
        *,
        names: Array | None = None,
        dtype: Any,
        multi: str,
        threads: int = 1,
    ) -> tuple[Array, Array | None]:
        """Return the ends and the weights of edges after some pairs of vertices were changed.

        Old edges that stay come first, and the new edges follow in their order.

        Parameters
        ----------
        ends : array of int32 or int64, shape (e,)
            The ends of the old edges, in the order of their rows.
        weights : array, shape (e,), or None
            Their weights. None if the edges have none.
        splices : Splices
        added : array of the dtype of `weights`, or None
            The weights of the new edges.
        names : array of int32 or int64, optional
            The new number of each vertex, ascending; by default the same number.
        dtype : dtype
            That of the new ends.
        multi : {"keep", "sum", "min", "first"}
            How to handle several edges of a pair; see :meth:`.RowsKernels.rows`.
        threads : int
            Maximum number of threads.

        Returns
        -------
        ends : array of `dtype`
        weights : array, or None
            Both are on disk if `ends` are.

        Raises
        ------
        WeightError
            A sum of integers does not fit their dtype.
        """


of: Callable[[Any], MergeKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: MergeKernels = host
