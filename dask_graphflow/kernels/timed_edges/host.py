"""Earliest arrivals: a scan of the edges in the order of their departures."""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled

from . import NEVER, Journeys, TimedEdges


@_compiled
def _sort_by_byte(
    sources, targets, departures, arrivals, sources_to, targets_to, departures_to, arrivals_to,
    low, shift, starts,
):  # fmt: skip
    """Sort edges by one byte of their departures less `low`, unless it is the same for all."""
    bits, byte, one = np.uint64(shift), np.uint64(255), np.uint64(1)
    starts[:] = 0
    for k in range(len(departures)):
        starts[((np.uint64(departures[k] - low) >> bits) & byte) + one] += 1
    for i in range(256):
        if starts[i + 1] == len(departures):
            return False
        starts[i + 1] += starts[i]
    for k in range(len(departures)):
        digit = (np.uint64(departures[k] - low) >> bits) & byte
        to = starts[digit]
        starts[digit] = to + 1
        sources_to[to], targets_to[to] = sources[k], targets[k]
        departures_to[to], arrivals_to[to] = departures[k], arrivals[k]
    return True


@_compiled
def _scan(
    sources, targets, departures, arrivals, arrival, predecessor, departure, instant, hops, waiting,
    following, queue,
):  # fmt: skip
    i, count = 0, len(sources)
    while i < count:
        stop = count
        if instant:
            # Edges that depart at the same time: first those without duration, until no vertex is new.
            time, stop, filled = departures[i], i, 0
            while stop < count and departures[stop] == time:
                if arrivals[stop] == time:
                    source, target = sources[stop], targets[stop]
                    if arrival[source] < time or (arrival[source] == time and hops[source] == 0):
                        if arrival[target] > time:
                            arrival[target], departure[target], hops[target] = time, time, 1
                            predecessor[target] = source
                            queue[filled] = target
                            filled += 1
                        elif (
                            arrival[target] == time
                            and hops[target] == 1
                            and source < predecessor[target]
                        ):
                            predecessor[target] = source
                    else:  # the edge follows if its source is reached at this time
                        following[stop - i] = waiting[source]
                        waiting[source] = stop - i
                stop += 1
            done = 0
            while done < filled:  # the vertices with the fewest edges behind them come first
                source = queue[done]
                done += 1
                step = hops[source] + 1
                edge = waiting[source]
                while edge >= 0:
                    target = targets[i + edge]
                    if arrival[target] > time:
                        arrival[target], departure[target], hops[target] = time, time, step
                        predecessor[target] = source
                        queue[filled] = target
                        filled += 1
                    elif (
                        arrival[target] == time
                        and hops[target] == step
                        and source < predecessor[target]
                    ):
                        predecessor[target] = source
                    edge = following[edge]
            for k in range(i, stop):
                if arrivals[k] == time:
                    waiting[sources[k]] = -1
        for k in range(i, stop):
            source, time, end = sources[k], departures[k], arrivals[k]
            if arrival[source] <= time and end > time:
                target = targets[k]
                if end < arrival[target]:
                    arrival[target], departure[target] = end, time
                    predecessor[target] = source
                    if instant:
                        hops[target] = 0
                elif end == arrival[target] and source <= predecessor[target]:
                    # Departures ascend, so this one is the last of this source so far.
                    predecessor[target], departure[target] = source, time
        i = stop


def sort_by_departure(edges: TimedEdges) -> TimedEdges:
    departures = edges.departures
    if len(departures) < 2 or (departures[:-1] <= departures[1:]).all():
        return edges
    low = departures.min()
    # Whole edges move once per byte of their times, which takes less time than to sort indices.
    used, spare = edges, TimedEdges(*map(np.empty_like, edges))
    starts = np.empty(257, np.int64)
    for shift in range(0, (int(departures.max()) - int(low)).bit_length(), 8):
        if _sort_by_byte(*used, *spare, low, shift, starts):
            if used is edges:  # which belong to the caller
                used = TimedEdges(*map(np.empty_like, edges))
            used, spare = spare, used
    return used


def scan(edges: TimedEdges, sources: np.ndarray, start: int, count: int) -> Journeys:
    departures, index = edges.departures, edges.sources.dtype
    arrival, departure = np.full((2, count), NEVER)
    predecessor = np.full(count, -1, index)
    arrival[sources] = departure[sources] = start
    instant = bool((edges.arrivals == departures).any())
    room = count if instant else 0
    hops, queue, waiting = np.zeros(room, index), np.empty(room, index), np.full(room, -1)
    following = np.empty(len(departures) if instant else 0, np.int64)
    _scan(*edges, arrival, predecessor, departure, instant, hops, waiting, following, queue)
    return Journeys(arrival, predecessor, departure)
