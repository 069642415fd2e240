"""Numbers for distinct integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array


class DistinctKernels(Protocol):
    """What :mod:`.distinct.host` can do."""

    def distinct(
        self,
        columns: Sequence[Array],
        *,
        names: Callable[[Array], Array] | None = None,
        threads: int,
    ) -> tuple[list[Array], Array]:
        """Number integers: equal ones get the same number.

        The numbers do not depend on `threads`.

        Parameters
        ----------
        columns : sequence of array of integers
            They need not be contiguous or aligned.
        names : callable, optional
            Takes `found`, and returns the number of each of its integers: an array of the dtype of `codes`.
            By default, the integer at index i has the number i.
        threads : int

        Returns
        -------
        codes : list of array of int32 or int64
            The number of each integer, column by column.
        found : array of int64, shape (d,)
            Each integer once. Integers from 2**63 on are negative.
        """


of: Callable[[Any], DistinctKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: DistinctKernels = host
