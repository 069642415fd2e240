"""Distribution of edges to the members that own their ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array


class PartitionKernels(Protocol):
    """What :mod:`.partition.host` and :mod:`.partition.device` can do."""

    def parted(
        self,
        columns: Sequence[Array],
        source: Array,
        target: Array | None,
        owners: Array,
        members: int,
        *,
        shift: int,
        but: int | None = None,
        threads: int = 1,
    ) -> Iterator[list[Array]]:
        """Split edges by the members that own their ends, and keep their order.

        Parameters
        ----------
        columns : sequence of array, shape (m,)
            Columns of the edges to split.
        source : array of integers, shape (m,)
        target : array of integers, shape (m,), or None
            None if only the owner of the source gets an edge.
        owners : array of int16
            The owner of each grain of ``2**shift`` vertices.
        members : int
        shift : int
        but : int, optional
            A member that gets no edges.

        Yields
        ------
        list of array
            For each column, one array per member: views of a single array. An edge whose ends have
            different owners is in the parts of both.
        """

    def count_grains(self, ids: Array, count: int, *, shift: int, threads: int = 1) -> Array:
        """Return the number of ids in each of `count` grains of ``2**shift`` vertices, as int64."""


of: Callable[[Any], PartitionKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: PartitionKernels = host
    _device: PartitionKernels = device
