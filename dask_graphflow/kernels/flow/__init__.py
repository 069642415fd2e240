"""Maximum flow and minimum cut in a network, on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class Network(NamedTuple):
    """Rows in which each edge has an entry at both of its ends, and no two entries of a row are alike."""

    offsets: Array  # array of int64, shape (V + 1,). The index at which each row begins.
    ends: Array  # array of integers, shape (e,). The vertex at the other end.
    opposite: Array  # array of integers, shape (e,). The entry that leads back.
    capacity: Array  # array of int64, shape (e,). The capacity from the row's vertex to the end.
    back: Array  # array of int64, shape (e,). The capacity in the opposite direction.


class FoundFlow(NamedTuple):
    """A maximum flow."""

    flow: Array  # array of int64, shape (e,). The flow of each entry. That of its opposite is the negative.
    used: Array  # array of integers. The vertices that flow may leave, ascending.
    side: Array  # array of integers. The source side of a minimum cut, ascending, if it was asked for.


class FlowKernels(Protocol):
    """What :mod:`.flow.host` can do."""

    def network(self, rows: Rows) -> Network:
        """Return the network of some rows, which have the opposite of each of their entries.

        Parameters
        ----------
        rows : Rows
            Rows of all vertices without parallel edges, whose ends ascend. The weights are capacities.
        """

    def maximum_flow(
        self, network: Network, sources: Array, sinks: Array, *, cut: bool = False
    ) -> FoundFlow:
        """Find a maximum flow from some vertices to others by two trees of shortest paths [1]_.

        Parameters
        ----------
        network : Network
            Capacities are at least 0, and their sum is at most 2**61.
        sources, sinks : array of integers
            Vertices, ascending. No vertex is in both.
        cut : bool
            Whether to find the source side of a minimum cut: the vertices to which more could flow. It is
            the smallest of all such sides.

        References
        ----------
        .. [1] A. V. Goldberg, S. Hed, H. Kaplan, R. E. Tarjan, R. F. Werneck, "Maximum Flows by Incremental
           Breadth-First Search", ESA 2011.
        """


of: Callable[[Any], FlowKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: FlowKernels = host
