"""Earliest arrivals along edges that depart and arrive at given times, on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array

NEVER = 2**63 - 1  # the arrival at vertices that are not reached


class TimedEdges(NamedTuple):
    """Edges that depart and arrive at given times. Arrays have one entry per edge."""

    sources: Array  # array of int32 or int64. Numbers of vertices.
    targets: Array
    departures: Array  # array of int64
    arrivals: Array  # array of int64. None is before the departure, or :data:`NEVER`.


class Journeys(NamedTuple):
    """How each vertex is reached first. Arrays have one entry per vertex."""

    arrival: Array  # array of int64. :data:`NEVER` for vertices that are not reached.
    # Array of the dtype of the edges' ends. The source of the last edge; -1 for sources, and for vertices
    # that are not reached.
    predecessor: Array
    departure: (
        Array  # array of int64. When the last edge departs; at sources, when the search starts.
    )


class TimedEdgesKernels(Protocol):
    """What :mod:`.timed_edges.host` can do."""

    def sort_by_departure(self, edges: TimedEdges) -> TimedEdges:
        """Return the edges in the order of their departures; the order of equal ones is not defined."""

    def scan(self, edges: TimedEdges, sources: Array, start: int, count: int) -> Journeys:
        """Find the earliest arrival at each of `count` vertices, by one pass over sorted edges [1]_.

        An edge is taken if it departs at or after the arrival at its source. Edges that arrive when they
        depart can follow each other at the same time, in any order. Of several edges that arrive first, the
        last edge is one with the fewest edges without duration behind it. Of these, it is one with the
        smallest source, and of these the one that departs last.

        Parameters
        ----------
        edges : TimedEdges
            Sorted by departure.
        sources : array of integers
            The vertices from which the search starts.
        start : int
            When it starts.
        count : int

        References
        ----------
        .. [1] J. Dibbelt, T. Pajor, B. Strasser, D. Wagner, "Intriguingly Simple and Fast Transit Routing",
           SEA 2013.
        """


of: Callable[[Any], TimedEdgesKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: TimedEdgesKernels = host
