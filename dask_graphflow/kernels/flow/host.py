"""Maximum flow on the host, by two trees of shortest paths that stay from one path to the next.

One tree grows from the sources and one from the sinks, a level at a time, and the tree whose top has fewer
edges is the next to grow. So a flow between near vertices only reads the edges around them. Where the trees
meet, flow is sent along a path with spare capacity. Edges that it fills cut vertices off, which look for
another way to the root of their tree (incremental breadth-first search [1]_). When the top of a tree is
empty, no path has spare capacity.

Levels are 1 and more from the sources, -1 and less from the sinks, and 0 outside the trees. A vertex below
the top of its tree has no edge with spare capacity to a vertex outside the tree. So levels never decrease,
and paths never get shorter.

The paper moves vertices that were cut off up one level at a time. On roads, whole regions climb then
together, and each vertex moves many times. Here they all leave the tree first, and join it again at their
new levels.

Arrays with an entry per edge or vertex begin with zeros that the operating system provides when they are
first read, so a flow between near vertices takes no time for the rest of the graph.

.. [1] A. V. Goldberg, S. Hed, H. Kaplan, R. E. Tarjan, R. F. Werneck, "Maximum Flows by Incremental
   Breadth-First Search", ESA 2011.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.csr import Rows

from . import FoundFlow, Network


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
def _spare(network, flow, k, step):
    """Return the spare capacity of an entry: from its row's vertex if `step` is 1, and to it if -1."""
    return network[3][k] - flow[k] if step > 0 else network[4][k] + flow[k]


@_inner
def _list(offsets, lists, v, which):
    """Put a vertex at the top of a tree into a list, of which each tree has two."""
    after, before, heads, edges = lists
    first = heads[which]
    # Vertices begin with 1 in links: 0 is the end, and a first vertex has the list as a negative number.
    after[v], before[v], heads[which] = first, -1 - which, v + np.uint64(1)
    if first:
        before[np.uint64(first - 1)] = v + np.uint64(1)
    edges[which >> 1] += offsets[v + np.uint64(1)] - offsets[v]


@_inner
def _unlist(offsets, lists, v, step):
    """Remove a vertex from its list, if it is in one."""
    after, before, heads, edges = lists
    previous, following = before[v], after[v]
    if previous:
        if previous < 0:
            heads[-1 - previous] = following
        else:
            after[np.uint64(previous - 1)] = following
        if following:
            before[np.uint64(following - 1)] = previous
        before[v] = 0
        edges[0 if step > 0 else 1] -= offsets[v + np.uint64(1)] - offsets[v]


@_inner
def _orphan(waiting, stacks, v, level):
    """Put a vertex that needs a parent into the stack of its level: a link is 0 outside, 1 at the end."""
    waiting[v], stacks[level] = stacks[level] + 1, v + np.uint64(1)


@_inner
def _find_parent(network, flow, step, v, trees):
    """Find another parent of a vertex at the level before its own; return whether there is one."""
    offsets, ends, _, _, _ = network
    levels, parents = trees
    wanted, k = levels[v] - step, np.uint64(parents[v])
    begin, end = np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])
    for _ in range(
        begin, end
    ):  # the entries after the old parent's have not been tried as recently
        k += np.uint64(1)
        if k == end:
            k = begin
        if levels[np.uint64(ends[k])] == wanted and _spare(network, flow, k, -step):
            parents[v] = k
            return True
    return False


@_inner
def _cut_off(network, flow, step, level, top, trees, lists, orphans):
    """Find a parent of each orphan of a tree, lowest levels first, or remove it from the tree.

    The children of a vertex that is removed become orphans. Returns how many are noted as removed: those
    below the top of the tree.
    """
    offsets, ends, opposite, _, _ = network
    levels, parents = trees
    waiting, stacks, removed = orphans
    count = 0
    while level <= top:
        if stacks[level] == 0:
            level += 1
            continue
        v = np.uint64(stacks[level] - 1)
        stacks[level], waiting[v] = waiting[v] - 1, 0
        if _find_parent(network, flow, step, v, trees):
            continue
        if level < top:
            after = levels[v] + step
            for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
                u = np.uint64(ends[k])
                if levels[u] == after and parents[u] == opposite[k] and not waiting[u]:
                    _orphan(waiting, stacks, u, level + 1)
            removed[count] = v
            count += 1
        _unlist(offsets, lists, v, step)
        levels[v] = 0
    return count


@_inner
def _join_again(network, flow, step, top, count, trees, lists, orphans):
    """Put removed vertices back into their tree, as near to its root as they can be, up to its top."""
    offsets, ends, opposite, _, _ = network
    levels, parents = trees
    waiting, stacks, queue = orphans
    lowest = top + 1
    for i in range(count):
        v, best = np.uint64(queue[i]), top
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            height = np.int64(levels[np.uint64(ends[k])]) * step
            if 0 < height < best and _spare(network, flow, k, -step):
                best, parents[v] = height, k
        if best < top:
            _orphan(waiting, stacks, v, best + 1)
            lowest = min(lowest, best + 1)
    low = high = 0
    for level in range(lowest, top + 1):
        # The level has the vertices that its stack contains, and those that the level before has reached.
        while stacks[level]:
            v = np.uint64(stacks[level] - 1)
            stacks[level], waiting[v] = waiting[v] - 1, 0
            if levels[v] == 0:
                levels[v], queue[high] = level * step, v
                high += 1
        stop = high
        while low < stop:
            v = np.uint64(queue[low])
            low += 1
            if level == top:
                _list(offsets, lists, v, 0 if step > 0 else 2)
                continue
            for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
                u = np.uint64(ends[k])
                if levels[u] == 0 and _spare(network, flow, k, step):
                    levels[u], parents[u], queue[high] = (level + 1) * step, opposite[k], u
                    high += 1


@_inner
def _adopt(network, flow, step, level, top, trees, lists, orphans):
    """Find a way to the root of a tree for its orphans, whose lowest level is given."""
    count = _cut_off(network, flow, step, level, top, trees, lists, orphans)
    if count:
        _join_again(network, flow, step, top, count, trees, lists, orphans)


@_inner
def _least_to_root(network, flow, v, step, trees, least):
    """Return the least spare capacity on the way between a vertex and the root of its tree."""
    ends, (levels, parents) = network[1], trees
    while levels[v] != step:
        k = np.uint64(parents[v])
        least = min(least, _spare(network, flow, k, -step))
        v = np.uint64(ends[k])
    return least


@_inner
def _send_to_root(network, flow, v, step, amount, trees, orphans, used):
    """Send flow between a vertex and the root of its tree; return the lowest level with an orphan, or 0."""
    ends, opposite, (levels, parents) = network[1], network[2], trees
    lowest = np.int64(0)
    while levels[v] != step:
        k = np.uint64(parents[v])
        u = np.uint64(ends[k])
        flow[k] -= step * amount
        flow[np.uint64(opposite[k])] += step * amount
        used[u if step > 0 else v] = True
        if _spare(network, flow, k, -step) == 0:
            lowest = np.int64(levels[v]) * step
            _orphan(orphans[0], orphans[1], v, lowest)
        v = u
    return lowest


@_inner
def _send_between(network, flow, step, tops, trees, lists, orphans, used):
    """Send flow along the edges from the top of a tree to the other one, until all of them are full."""
    offsets, ends, opposite, _, _ = network
    levels, (at, other) = trees[0], (0, 1) if step > 0 else (1, 0)
    top, heads = tops[at], lists[2]
    while heads[2 * at]:
        v = np.uint64(heads[2 * at] - 1)
        _unlist(offsets, lists, v, step)
        k, last = np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])
        while k < last and levels[v] == top * step:
            spare, u = _spare(network, flow, k, step), np.uint64(ends[k])
            if spare == 0 or levels[u] * step >= 0:
                k += np.uint64(1)
                continue
            spare = _least_to_root(network, flow, v, step, trees, spare)
            spare = _least_to_root(network, flow, u, -step, trees, spare)
            flow[k] += step * spare
            flow[np.uint64(opposite[k])] -= step * spare
            used[v if step > 0 else u] = True
            lowest = _send_to_root(network, flow, v, step, spare, trees, orphans, used)
            if lowest:
                _adopt(network, flow, step, lowest, top, trees, lists, orphans)
            lowest = _send_to_root(network, flow, u, -step, spare, trees, orphans, used)
            if lowest:
                _adopt(network, flow, -step, lowest, tops[other], trees, lists, orphans)
        if levels[v] == top * step and not lists[1][v]:
            _list(offsets, lists, v, 2 * at + 1)


@_inner
def _grow(network, flow, step, which, trees, lists, level):
    """Put vertices at a level next to those of a list. No spare edge leads to the other tree."""
    offsets, ends, opposite, _, _ = network
    levels, parents = trees
    while lists[2][which]:
        v = np.uint64(lists[2][which] - 1)
        _unlist(offsets, lists, v, step)
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            if levels[u] == 0 and _spare(network, flow, k, step):
                levels[u], parents[u] = level * step, opposite[k]
                _list(offsets, lists, u, 0 if step > 0 else 2)


@_compiled
def _send(network, sources, sinks, flow, used, trees, lists, orphans, tops, cut):
    """Send a maximum flow. If a cut is wanted, the sources' tree is its smallest side in the end."""
    offsets, (_, _, heads, edges) = network[0], lists
    for step, roots in ((1, sources), (-1, sinks)):
        for v in roots:
            trees[0][v] = step
            _list(offsets, lists, np.uint64(v), 0 if step > 0 else 2)
    while heads[0] and heads[2]:
        step, at = (1, 0) if edges[0] <= edges[1] else (-1, 1)
        _send_between(network, flow, step, tops, trees, lists, orphans, used)
        tops[at] += 1
        _grow(network, flow, step, 2 * at + 1, trees, lists, tops[at])
    if cut:
        _grow(network, flow, 1, 0, trees, lists, tops[0])


def network(rows: Rows) -> Network:
    offsets, ends, capacity, _ = rows
    opposite = np.empty(len(ends), "int32" if len(ends) < 2**31 else "int64")
    back = np.empty(len(ends), "int64")
    _connect(offsets, ends, capacity, offsets[:-1].copy(), opposite, back)
    return Network(offsets, ends, opposite, capacity, back)


def maximum_flow(
    network: Network, sources: np.ndarray, sinks: np.ndarray, *, cut: bool = False
) -> FoundFlow:
    size = len(network.offsets) - 1
    flow, used = np.zeros(len(network.ends), "int64"), np.zeros(size, "bool")
    number = "int32" if size < 2**31 - 2 else "int64"  # links are at most size + 1
    trees = np.zeros(size, number), np.empty(size, "int64")
    lists = *(np.zeros(size, number) for _ in range(2)), np.zeros(4, "int64"), np.zeros(2, "int64")
    orphans = np.zeros(size, number), np.zeros(size + 2, number), np.empty(size, number)
    tops = np.ones(2, "int64")
    _send(tuple(network), sources, sinks, flow, used, trees, lists, orphans, tops, cut)
    side = np.flatnonzero(trees[0] > 0) if cut else np.empty(0, "int64")
    return FoundFlow(flow, np.flatnonzero(used), side)
