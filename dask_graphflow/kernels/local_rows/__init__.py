"""Rows with local vertex numbers, and a slot for each neighbor outside of the partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class LocalRowsKernels(Protocol):
    """What :mod:`.local_rows.host` and :mod:`.local_rows.device` can do."""

    def localized(
        self, rows_: Rows, bounds: Sequence[int], part: int, *, threads: int = 1
    ) -> tuple[Rows, Array, list[int]]:
        """Renumber the ends of rows with the local numbers of a partition.

        Parameters
        ----------
        rows_ : Rows
            Rows of vertices of the partition.
        bounds : sequence of int
            First vertex of each partition's range, followed by the end of the last range.
        part : int
            Index of the partition.
        threads : int
            Host threads to use.

        Returns
        -------
        rows : Rows
            The same edges in the same order. Offsets and weights are shared with `rows_`.
        slots : array of int32 or int64, shape (s,)
            The distinct ends that the partition does not own, in ascending order. Slot `i` has the local
            number ``V_p + i``.
        slot_bounds : list of int
            Index in `slots` of each partition's first vertex, followed by the length of `slots`.
        """


of: Callable[[Any], LocalRowsKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: LocalRowsKernels = host
    _device: LocalRowsKernels = device
