"""Earliest arrival: when each vertex can be reached along edges that depart and arrive at given times.

The edges are scanned once, in the order of their departures: the connection scan algorithm [1]_. An edge is
taken if its source has been reached by its departure. Edges that arrive when they depart can follow each
other at the same time, so the scan first follows those of a moment, from the vertices reached before, until
no vertex is new. Arrivals are unique, and the rules for the last edge do not depend on the order of edges
with equal departures, so the result is the same for every partitioning.

In reverse, edges and time are reversed.

.. [1] J. Dibbelt, T. Pajor, B. Strasser, D. Wagner, "Intriguingly Simple and Fast Transit Routing",
   SEA 2013.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, OrNull, vertices
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.declarations.timetable import Instant, TimeColumn, Timetable, time_type
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.operators.access import move_to
from dask_graphflow.operators.timed_edges import NEVER, find_journeys
from dask_graphflow.operators.view import GraphView

NAMES = {
    False: ("arrival", "predecessor", "departure"),
    True: ("departure", "successor", "arrival"),
}


def _columns(spec: GraphSpec, options: Mapping[str, Any]) -> dict[str, Any]:
    time = time_type(options)
    return dict(zip(NAMES[options["reverse"]], (time, "id or null", time), strict=True))


@algorithm(
    vertices(_columns),
    supersteps=False,
    cost=Cost("labels", 1, passes=2, scratch=64, edge=80),
)
def earliest_arrival(
    g: GraphView,
    sources: Annotated[Any, VertexIds()],
    *,
    departure: Annotated[Any, TimeColumn()],
    arrival: Annotated[Any | None, TimeColumn()] = None,
    duration: Annotated[Any | None, TimeColumn()] = None,
    timetable: Annotated[Any | None, Timetable()] = None,
    start: Annotated[Any | None, Instant()] = None,
    reverse: bool = False,
) -> Answer:
    """Return when each vertex can be reached along edges that depart and arrive at given times.

    An edge is taken if it departs at or after the arrival at its source, so a journey can wait at a vertex.
    Parallel edges are different edges, and each has its own times.

    Parameters
    ----------
    sources : id, or list, Series or DataFrame of ids
        Vertices at which a journey can begin. One search starts at all of them.
    departure : column name
        Column with the time at which each edge departs: integers or timestamps.
    arrival : column name, optional
        Column with the time at which each edge arrives, of the same type. It is not before the departure.
    duration : column name, optional
        Column with the time that each edge takes instead: integers, or timedeltas for timestamps; 0 or
        more. By default, with neither of them, an edge arrives when it departs, as contacts do.
    timetable : DataFrame, optional
        The edges with their times. The first columns are the ids of their sources, then those of their
        targets. It is needed if `edges` is a :class:`~dask_graphflow.Graph`, which does not keep times and
        must have these vertices. By default, `edges` themselves.
    start : int, datetime or str, optional
        When a journey can begin. By default, the first departure of all edges. In reverse, when it has to
        end; by default the last arrival.
    reverse : bool
        Whether to return the latest departure from each vertex that still reaches one of the `sources` by
        `start`. False by default.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex that is reached, sorted by vertex. The columns are ``vertex`` (the dtype of the
        ids), ``arrival`` (the earliest one), ``predecessor`` and ``departure`` (the source of the last
        edge, and when that edge departs). A source has `start` as both times, and a null as predecessor.
        Integers are int64, and timestamps have the finest unit of the given columns. If several edges
        arrive first, the last edge is one that takes time if there is such an edge, and otherwise one with
        the fewest edges without duration behind it; then the one with the smallest source, and of these the
        one that departs last.

        In reverse, the columns are ``vertex``, ``departure`` (the latest one), ``successor`` and
        ``arrival`` (the target of the first edge, and when that edge arrives).

    Raises
    ------
    EdgeListError
        A column does not hold times; raised at the call. Or a time is missing, an edge arrives before it
        departs, or a duration is negative; raised when the result is computed.
    GraphMemoryError
        A worker has no room for all edges, which each of them reads. Raised when the result is computed.

    References
    ----------
    .. [1] J. Dibbelt, T. Pajor, B. Strasser, D. Wagner, "Intriguingly Simple and Fast Transit Routing",
       SEA 2013.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> trains = pd.DataFrame(
    ...     {
    ...         "a": [1, 1, 2, 2],
    ...         "b": [2, 2, 3, 3],
    ...         "leaves": [8, 9, 9, 11],
    ...         "arrives": [10, 12, 10, 13],
    ...     }
    ... )
    >>> columns = {"source": "a", "target": "b", "departure": "leaves", "arrival": "arrives"}
    >>> gf.earliest_arrival(trains, **columns, sources=1).compute()
       vertex  arrival  predecessor  departure
    0       1        8         <NA>          8
    1       2       10            1          8
    2       3       13            2         11
    """
    assert timetable is not None  # which the declaration has checked
    given = timetable.reversed() if reverse else timetable
    start = given.first_departure() if given.start is None else given.start
    if start is None:  # without edges, no journey can begin
        start, sources = 0, sources[:0]
    found = find_journeys(g, given.edges, sources, start)
    reached = found.arrival != NEVER
    last, reached_here = (
        move_to(g.numbers, values[move_to(values, g.numbers)])
        for values in (found.predecessor, reached)
    )
    arrival, departure = (
        given.column(g, ~times if reverse else times, reached)
        for times in (found.arrival, found.departure)
    )
    columns = arrival, OrNull(last, last < 0), departure
    return Answer(dict(zip(NAMES[reverse], columns, strict=True)), among=reached_here & g.exists)
