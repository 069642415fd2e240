"""Blocks of a spanning tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class BiconnectedKernels(Protocol):
    """What :mod:`.biconnected.host` and :mod:`.biconnected.device` can do."""

    def join_cycles(
        self, rows: Rows, label: Array, above: Array, block: Array, *, threads: int = 1
    ) -> None:
        """Join the tree edges of each cycle that consists of an edge and of tree edges.

        A tree edge has the label of its lower end. On the path from each end of an edge towards the root,
        the next tree edge is joined with the one before it, and then the edges between them and the top of
        their block are skipped, until both paths meet [1]_. So two joined edges always share a vertex, and
        the top of a block is the upper end of its edge with the smallest label, whatever other threads do
        meanwhile.

        Parameters
        ----------
        rows : Rows
            Some rows of a graph, with each edge in the rows of both of its ends. They can contain tree
            edges.
        label : array of integers, shape (V,)
            Label of each vertex. A vertex of a tree has a larger label than all vertices of a smaller
            level.
        above : array of the dtype of `label`, shape (V,)
            Label of the vertex above each label in the tree. It is not read for roots.
        block : array of the dtype of `label`, shape (V,)
            A forest of the labels; changed in place.

        References
        ----------
        .. [1] J. Westbrook, R. E. Tarjan, "Maintaining Bridge-Connected and Biconnected Components
           On-Line", Algorithmica 7, 1992.
        """


of: Callable[[Any], BiconnectedKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: BiconnectedKernels = host
    _device: BiconnectedKernels = device
