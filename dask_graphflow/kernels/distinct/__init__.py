"""Numbers for distinct integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array


class Numbering(Protocol):
    """Numbers for integers that come in several calls. Equal integers get the same number.

    Numbers are below `taken`. There may be some numbers that no integer has.
    """

    @property
    def taken(self) -> int:
        """One more than the largest number so far."""

    def add(self, columns: Sequence[Array]) -> list[Array]:
        """Return the number of each integer, column by column, as int32 or int64."""

    def in_order(self, dtype: Any) -> tuple[Array, Array]:
        """Return the integers in order, and by number the index of each in this order.

        The integers came in columns of `dtype`. They are returned as int64 or uint64.
        """


class DistinctKernels(Protocol):
    """What :mod:`.distinct.host` can do."""

    def numbering(self, size: int, *, threads: int) -> Numbering:
        """Return a numbering for up to `size` integers."""

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
