"""Blocking flows on the host, in layers that are found from both ends.

A phase searches from the sources and from the sinks at once, and continues with the side whose next layer
has fewer edges. When the searches meet, the layers contain all shortest paths with spare capacity. So a
phase only sees the surroundings of the two ends. The last phase, which finds no path, ends as soon as one
side has no way out, and this is often a single vertex whose edges are full.

In a network with few edges per vertex, such as a road network, paths are long, and each phase would fill
only a few. There, paths with much spare capacity are filled first (capacity scaling [1]_). In other
networks, this takes longer.

Arrays with an entry per edge or vertex begin with zeros that the operating system provides when they are
first read, so a flow between near vertices takes no time for the rest of the graph.

.. [1] H. N. Gabow, "Scaling Algorithms for Network Problems", Journal of Computer and System Sciences 31,
   1985.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.csr import Rows

from . import FoundFlow, Network

SCALE = 4  # ratio of two successive limits of the spare capacity
SPARSE = 5  # mean number of entries per vertex below which these limits are used


@_compiled
def _connect(offsets, ends, capacity, place, opposite, back):
    """Find the opposite of each entry. `place` begins as the offsets."""
    for v in range(len(offsets) - 1):
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + 1])):
            # Rows are visited in ascending order, and so are the ends in the row of the other end.
            u = np.uint64(ends[k])
            at = np.uint64(place[u])
            place[u] = at + np.uint64(1)
            opposite[k], back[k] = at, capacity[at]


@_inner
def _begin(offsets, vertices, label, levels, arcs, queue):
    """Begin a search at some vertices; return the number of edges that leave them."""
    edges = np.int64(0)
    for i in range(len(vertices)):
        v = np.uint64(vertices[i])
        queue[i], levels[v], arcs[v] = v, label, offsets[v]
        edges += offsets[v + np.uint64(1)] - offsets[v]
    return edges


@_inner
def _search_layer(network, flow, least, levels, arcs, queue, low, high, step):
    """Label the next layer of a search, whose levels differ by `step`: 1 ahead, and -1 backward.

    Returns the end of the queue, the number of edges that leave the layer, and whether the search has met
    the other one. Then the layer is not complete.
    """
    offsets, ends, _, capacity, back = network
    tail, edges = high, np.int64(0)
    for i in range(low, high):
        v = np.uint64(queue[i])
        level = levels[v] + step
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            spare = capacity[k] - flow[k] if step > 0 else back[k] + flow[k]
            if spare < least:
                continue
            u = np.uint64(ends[k])
            if levels[u] == 0:
                levels[u], arcs[u], queue[tail] = level, offsets[u], u
                edges += offsets[u + np.uint64(1)] - offsets[u]
                tail += 1
            elif levels[u] * step < 0:
                return tail, edges, True
    return tail, edges, False


@_inner
def _block(network, flow, least, levels, arcs, source, top, bottom, path, tails, used):
    """Send flow from a source along the layers until none of their paths has spare capacity."""
    offsets, ends, opposite, capacity, _ = network
    v, depth = np.uint64(source), 0
    while True:
        if levels[v] == -1:
            amount, first = np.int64(1) << np.int64(62), 0
            for i in range(depth):
                k = np.uint64(path[i])
                amount = min(amount, capacity[k] - flow[k])
            for i in range(depth - 1, -1, -1):
                k = np.uint64(path[i])
                flow[k] += amount
                flow[np.uint64(opposite[k])] -= amount
                used[np.uint64(tails[i])] = True
                if capacity[k] - flow[k] < least:
                    first = i
            depth = first
            v = np.uint64(tails[depth])
        level, last, k = levels[v], offsets[v + np.uint64(1)], arcs[v]
        wanted = bottom if level == top else level + 1
        while k < last and (
            levels[np.uint64(ends[np.uint64(k)])] != wanted
            or capacity[np.uint64(k)] - flow[np.uint64(k)] < least
        ):
            k += 1
        arcs[v] = k
        if k < last:
            path[depth], tails[depth] = k, v
            depth += 1
            v = np.uint64(ends[np.uint64(k)])
        elif depth:
            depth -= 1
            v = np.uint64(tails[depth])
            arcs[v] += 1
        else:
            return


@_inner
def _most(offsets, capacity, vertices):
    """Return the largest capacity in the rows of some vertices."""
    most = np.int64(0)
    for v in vertices:
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + 1])):
            most = max(most, capacity[k])
    return most


@_compiled
def _send(network, sources, sinks, flow, used, room, scale, cut):
    """Send a maximum flow; return the number of vertices in the queue of the search from the sources."""
    offsets, _, _, capacity, back = network
    levels, arcs, ahead, backward, path, tails = room
    least = np.int64(1)
    if scale > 1:
        most = min(_most(offsets, capacity, sources), _most(offsets, back, sinks))
        while least * scale <= most:
            least *= scale
    while True:
        # Levels are 1 and more from the sources, and -1 and less from the sinks.
        edges = _begin(offsets, sources, 1, levels, arcs, ahead)
        edges_back = _begin(offsets, sinks, -1, levels, arcs, backward)
        low, high, low_back, high_back = 0, len(sources), 0, len(sinks)
        top, bottom, met = 1, -1, False
        while not met and low < high and low_back < high_back:
            if edges <= edges_back:
                tail, edges, met = _search_layer(
                    network, flow, least, levels, arcs, ahead, low, high, 1
                )
                if met:
                    high = tail
                else:
                    low, high, top = high, tail, top + 1
            else:
                tail, edges_back, met = _search_layer(
                    network, flow, least, levels, arcs, backward, low_back, high_back, -1
                )
                if met:
                    high_back = tail
                else:
                    low_back, high_back, bottom = high_back, tail, bottom - 1
        if met:
            for source in sources:
                _block(network, flow, least, levels, arcs, source, top, bottom, path, tails, used)
        elif least > 1:
            least //= scale
        else:
            while cut and low < high:
                tail, edges, met = _search_layer(
                    network, flow, least, levels, arcs, ahead, low, high, 1
                )
                low, high = high, tail
            return high
        for i in range(high):
            levels[np.uint64(ahead[i])] = 0
        for i in range(high_back):
            levels[np.uint64(backward[i])] = 0


def network(rows: Rows) -> Network:
    offsets, ends, capacity, _ = rows
    opposite = np.empty(len(ends), "int32" if len(ends) < 2**31 else "int64")
    back = np.empty(len(ends), "int64")
    _connect(offsets, ends, capacity, offsets[:-1].copy(), opposite, back)
    # Numbers that are not vertices have empty rows, which must not change the result.
    filled = np.count_nonzero(offsets[1:] > offsets[:-1])
    scale = SCALE if len(ends) < SPARSE * filled else 1
    return Network(offsets, ends, opposite, capacity, back, scale)


def maximum_flow(
    network: Network, sources: np.ndarray, sinks: np.ndarray, *, cut: bool = False
) -> FoundFlow:
    size, index = len(network.offsets) - 1, network.ends.dtype
    flow, used = np.zeros(len(network.ends), "int64"), np.zeros(size, "bool")
    queues = [np.empty(size, index) for _ in range(2)]
    path, tails = np.empty(size, "int64"), np.empty(size, index)
    room = np.zeros(size, "int32"), np.empty(size, "int64"), *queues, path, tails
    count = _send(network[:5], sources, sinks, flow, used, room, network.scale, cut)
    return FoundFlow(flow, np.flatnonzero(used), queues[0][:count])
