"""Earliest arrivals along edges with times, which every member reads, in host memory.

Each member scans all edges, because one edge after another has to be looked at. So members send each other
nothing but the numbers of the vertices, and find the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphflow.kernels import kernels_for
from dask_graphflow.kernels import timed_edges as timed_edges_kernels
from dask_graphflow.kernels.timed_edges import NEVER, Journeys, TimedEdges

from .access import check_host_room, gather_on_host
from .view import GraphView

__all__ = ["NEVER", "Journeys", "TimedEdges", "find_journeys", "number_edges"]

EDGE_BYTES = 80  # bytes per edge of the arrays that are made while edges are numbered and sorted
ADVICE = (
    "Every worker needs all edges with their times. Leave out the edges that are too early or too late, or "
    "give each worker more memory"
)


def number_edges(
    g: GraphView, sides: Sequence[Any], departures: np.ndarray, arrivals: np.ndarray
) -> TimedEdges:
    """Return edges from and to the vertices in two frames of ids. All members call it with the same edges.

    An undirected edge is returned in both directions.

    Raises
    ------
    UnknownVertexError
        An id is not in the graph.
    GraphMemoryError
        A member has no room for the edges.
    """
    needed = EDGE_BYTES * len(departures) * (1 if g.directed else 2)
    check_host_room(g, needed, "a search in a timetable", ADVICE)
    ends = []
    for ids in sides:
        places = g.places(ids)
        places = kernels_for(places).to_host(places).astype(g.index)
        ends.append(g.member.shard.numbers_at(places, g.member.threads))
    sources, targets = ends
    made = TimedEdges(sources, targets, departures, arrivals)
    if g.directed:
        return made
    both = made, made._replace(sources=targets, targets=sources)
    return TimedEdges(*map(np.concatenate, zip(*both, strict=True)))


def find_journeys(g: GraphView, edges: TimedEdges, vertices: Any, start: int) -> Journeys:
    """Return how each vertex is reached first from this member's and other members' `vertices`.

    All members call it with the same edges, and get an entry for each vertex number.
    """
    numbers = gather_on_host(g, g.numbers[vertices])
    kernels = timed_edges_kernels.of(edges.sources)
    later = edges.departures >= start
    if not later.all():
        edges = TimedEdges(*(column[later] for column in edges))
    return kernels.scan(kernels.sort_by_departure(edges), numbers, start, g.size)
