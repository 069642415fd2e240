"""Binary search in sorted columns on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array


class LookupKernels(Protocol):
    """What :mod:`.lookup.host` can do."""

    def narrow(
        self,
        column: tuple[Array, ...],
        values: tuple[Array, ...],
        first: Array,
        stop: Array,
    ) -> None:
        """Narrow ranges of a column's rows to the rows that have a value.

        Parameters
        ----------
        column : tuple of array
            A column that ascends within each range: an array of integers, or of byte strings the offsets
            and the bytes. Strings are compared byte by byte.
        values : tuple of array
            The value for each range, stored like `column`.
        first, stop : array of int64
            Where each range begins and ends. They are changed. A range without the value becomes empty.
        """

    def merge(
        self,
        column: tuple[Array, ...],
        values: tuple[Array, ...],
        first: Array,
        stop: Array,
        *,
        unique: bool,
    ) -> bool:
        """Narrow ranges as :func:`narrow` does, by one pass over ranges and values that ascend.

        Parameters
        ----------
        column, values, first, stop
            See :func:`narrow`. Neither the starts of the ranges nor their ends may descend.
        unique : bool
            Whether the values within equal ranges are distinct. `stop` does not change then.

        Returns
        -------
        bool
            Whether the values ascend within equal ranges, and each of them is in its range. Otherwise, the
            ranges mean nothing.
        """


of: Callable[[Any], LookupKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: LookupKernels = host
