"""Numbers for distinct integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array


class DistinctKernels(Protocol):
    """What :mod:`.distinct.host` can do."""

    def distinct(self, values: Array, *, threads: int) -> tuple[Array, Array]:
        """Number integers: equal ones get the same number.

        The numbers do not depend on `threads`.

        Parameters
        ----------
        values : array of int64, shape (n,)
        threads : int

        Returns
        -------
        codes : array of int32 or int64, shape (n,)
            The number of each integer.
        found : array of int64, shape (d,)
            Each integer once; the one at index i has the number i.
        """


of: Callable[[Any], DistinctKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: DistinctKernels = host
