"""Connected components of a graph whose edges are in rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class SharedForests(NamedTuple):
    """Forests of all vertices, one per member, of members that share the memory of their devices."""

    memory: Any  # SharedMemory
    parents: Any  # Column of int32 or int64, shape (V,)


class ComponentKernels(Protocol):
    """What :mod:`.components.host` and :mod:`.components.device` can do."""

    def join_rows(
        self,
        rows: Rows,
        *,
        both: bool = True,
        threads: int = 1,
        forests: SharedForests | None = None,
    ) -> Array:
        """Return the smallest vertex of the component of each vertex.

        After a few edges of each row are hooked, most vertices of most graphs are in one tree. If every
        edge is in the rows of both its ends, only the rows of the other vertices have to be read, because
        they contain all edges between them and that tree [1]_.

        Parameters
        ----------
        rows : Rows
            The rows of all vertices.
        both : bool
            Whether every edge is in the rows of both its ends.
        forests : SharedForests, optional
            The forests of members that have some of the rows each. All members call this function, and then
            :func:`merge`.

        Returns
        -------
        array of the dtype of the ends, shape (n,)
            With forests, the parents in this member's forest.

        References
        ----------
        .. [1] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via
           Subgraph Sampling", IPDPS 2018.
        """


def merge(forests: SharedForests, low: int, high: int) -> Array:
    """Merge the forests of members that share the memory of their devices, by a tree of members.

    Parameters
    ----------
    forests : SharedForests
        Flat ones. That of the first member gets the connections of all.
    low, high : int
        A range of vertices.

    Returns
    -------
    array of the forests' dtype, shape (high - low,)
        The smallest vertex of the component of each vertex in the range.
    """
    from . import device

    merged: Array = device.merge(forests, low, high)
    return merged


of: Callable[[Any], ComponentKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: ComponentKernels = host
    _device: ComponentKernels = device
