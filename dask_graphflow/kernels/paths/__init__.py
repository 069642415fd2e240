"""Follow predecessors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array


class PathsKernels(Protocol):
    """What :mod:`.paths.host` can do."""

    def follow(self, ahead: Array, starts: Array, limit: int) -> tuple[Array, Array]:
        """Follow a path from each of some rows.

        Parameters
        ----------
        ahead : array of int64, shape (n,)
            The row that follows each row on a path; below 0 where a path ends.
        starts : array of int64, shape (p,)
        limit : int
            Stop after one row more than this, because predecessors may form a cycle.

        Returns
        -------
        counts, last : array of int64, shape (p,)
            Number of rows on each path, and the last of them.
        """

    def rows_along(self, ahead: Array, starts: Array, counts: Array) -> Array:
        """Return the rows on each path, the last one first, one path after another; see :func:`follow`."""


of: Callable[[Any], PathsKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: PathsKernels = host
