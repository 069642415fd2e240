"""Numbers for distinct integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array


class DistinctKernels(Protocol):
    """What :mod:`.distinct.host` can do."""

    def distinct(self, columns: Sequence[Array], *, threads: int) -> tuple[list[Array], Array]:
        """Number integers by their order: equal ones get the same number.

        Parameters
        ----------
        columns : sequence of array of integers
            They have one dtype, and need not be contiguous or aligned.
        threads : int

        Returns
        -------
        codes : list of array of int32 or int64
            The number of each integer, column by column.
        found : array of int64 or uint64, shape (d,)
            Each integer once, in ascending order.
        """


of: Callable[[Any], DistinctKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: DistinctKernels = host
