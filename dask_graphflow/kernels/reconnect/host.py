"""Searches from the ends of deleted edges, in turns.

A search has a queue: a list of vertices that are linked by `following`, from its current vertex to its last
one. So the queues of two searches that meet are concatenated in constant time.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner

from . import Cut

TURN = 64  # entries of rows that a search reads before the next one has its turn


@inner
def _root(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@inner
def _turn(sides, labels, spaces, searches, g, live, used):
    """Let a search read up to :data:`TURN` entries.

    Return how many searches are left, how many vertices have been reached, and how much was read.
    """
    (offsets, ends), (more_offsets, more_ends), both = sides
    group, following, visited = spaces
    parent, current, done, tail, whole = searches
    left, label = TURN, labels[current[g]]
    while left > 0 and live > 1:
        v = current[g]
        low = offsets[v]
        own = offsets[v + 1] - low
        entries = own
        if both:
            entries += more_offsets[v + 1] - more_offsets[v]
        stop = min(entries, done[g] + left)
        left -= stop - done[g] + 1
        for k in range(done[g], stop):
            w = ends[low + k] if k < own else more_ends[more_offsets[v] + k - own]
            # An inserted edge can lead to another component.
            if labels[w] != label:
                continue
            if group[w] < 0:
                group[w] = g
                following[tail[g]] = w
                tail[g] = visited[used] = w
                used += 1
                continue
            h = _root(parent, np.int64(group[w]))
            if h != g:
                parent[h] = g
                following[tail[g]] = current[h]
                tail[g] = tail[h]
                live -= 1
                if live == 1:
                    return live, used, TURN - left
        done[g] = stop
        if stop == entries:
            if v == tail[g]:
                whole[g] = 1
                return live - 1, used, TURN - left
            current[g], done[g] = following[v], 0
    return live, used, TURN - left


@inner
def _is_cut(v, group, parent, whole):
    """Return whether a search without further vertices has reached a vertex."""
    return group[v] >= 0 and whole[_root(parent, np.int64(group[v]))] == 1


@_compiled
def _cut_off(sides, labels, seeds, spaces, searches, renamed, budget):
    """Return the numbers of vertices in pieces, and of components that need new labels.

    The first number is -1 if the budget was not enough.
    """
    group, following, visited = spaces
    alive, parent, current, done, tail, whole, name = searches
    old, new = renamed
    count = used = seeds.size
    for g in range(count):
        v = seeds[g]
        group[v], visited[g] = g, v
        alive[g] = parent[g] = g
        current[g] = tail[g] = v
        done[g] = whole[g] = 0
        name[g] = labels.size
    first, rests, work = 0, 0, 0
    while first < count:
        label, last = labels[seeds[first]], first
        while last < count and labels[seeds[last]] == label:
            last += 1
        live, stop = last - first, last
        while live > 1:
            kept = first
            for a in range(first, stop):
                g = alive[a]
                if live > 1 and parent[g] == g and not whole[g]:
                    of_search = parent, current, done, tail, whole
                    live, used, read = _turn(sides, labels, spaces, of_search, g, live, used)
                    work += read
                    if work > budget:
                        return -1, 0
                    alive[kept] = g
                    kept += 1
            stop = kept
        if _is_cut(label, group, parent, whole):
            least = label
            while labels[least] != label or _is_cut(least, group, parent, whole):
                least += 1
            old[rests], new[rests] = label, least
            rests += 1
        first = last
    for i in range(used):
        g = _root(parent, np.int64(group[visited[i]]))
        name[g] = min(name[g], np.int64(visited[i]))
    cut = 0
    for i in range(used):
        v = visited[i]
        g = _root(parent, np.int64(group[v]))
        if whole[g]:
            visited[cut], following[cut] = v, name[g]  # no search needs its queue any more
            cut += 1
    return cut, rests


def cut_off(sides, labels, seeds, budget):
    size, count, dtype = len(labels), len(seeds), labels.dtype
    # The search that reached each vertex, the queues, and the vertices that were reached.
    spaces = np.full(size, -1, dtype), np.empty(size, dtype), np.empty(size, dtype)
    searches = tuple(np.empty(count, np.int64) for _ in range(7))
    renamed = np.empty(count, dtype), np.empty(count, dtype)
    rows = tuple(side[:2] for side in (sides[0], sides[-1]))
    given = (*rows, len(sides) > 1), labels, seeds, spaces, searches, renamed
    cut, rests = _cut_off(*given, budget)
    if cut < 0:
        return None
    _, following, visited = spaces
    return Cut(visited[:cut], following[:cut], *(names[:rests] for names in renamed))
