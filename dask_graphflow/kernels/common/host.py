"""Host kernels, compiled by Numba. They release the GIL and work on plain arrays.

A forest is an array ``parent`` of indices with ``parent[v] <= v``. A root is its own parent. Several
threads can hook edges into one forest at the same time: a root changes only by compare-and-swap, and
every other write moves a vertex closer to its root. A lost write therefore costs an extra step, but
never loses a connection.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.kernels import aligned, is_on_disk, values_of
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.compiling import uncached as _uncached
from dask_graphflow.kernels.host_atomics import fetch_add, prefetch, swap
from dask_graphflow.kernels.host_teams import OWN, enter, meet, together
from dask_graphflow.kernels.host_threads import share

namespace = np
SAMPLED = 2  # vertices per edge in a sample
VOTERS = 1 << 10  # about the number of vertices whose trees are counted to find a large one
AHEAD = 16  # rows whose edges are asked for before they are read
JOINED = 1 << 16  # rows per member at least: with fewer, a thread starts too late to help
CHUNK = 1 << 11  # rows that a member of a team takes at a time
SAMPLE = 16  # the last edge of one row in 16 is hooked, unless no tree has SOME of the vertices
SOME, MOST = 0.05, 0.98  # parts of the vertices
# Where a team has the next row that no member has taken, the largest tree, and the votes for it.
NEXT, TREE, VOTES = OWN, OWN + 8, OWN + 16
BLOCK = 1 << 18  # items that a thread takes at a time: 5 us of Python for 0.5 ms of work


def asarray(series):
    values: np.ndarray = aligned(series if isinstance(series, np.ndarray) else values_of(series))
    return values


def to_host(array):
    return array


def count_true(marks):
    return int(np.count_nonzero(marks))


def wait():
    return None


@partial(_uncached, inline="always")
def _find(parent, vertex):
    """Return the root of `vertex`, and halve the path to it: vertices skip their parent (ECL-CC)."""
    above = parent[vertex]
    if above != vertex:
        behind = vertex
        beyond = parent[above]
        while beyond != above:
            parent[behind] = beyond
            behind = above
            above = beyond
            beyond = parent[above]
    return above


@partial(_uncached, inline="always")
def _unite(parent, u, v):
    """Hook the higher root onto the lower one; after a lost race, continue from the present roots."""
    a, b = u, v
    while True:
        a = _find(parent, a)
        b = _find(parent, b)
        if a < b:
            a, b = b, a
        if a == b or swap(parent, np.intp(a), a, b):
            return


@_compiled
def _hook(parent, seen, source, target, base, start, stop, step, outside):
    """Hook the edges ``start:stop:step``; return how many had ends with different parents."""
    size = np.uint64(parent.size)
    marking = seen.size > 0
    hooked = 0
    for edge in range(start, stop, step):
        u = source[edge] - base
        v = target[edge] - base
        if np.uint64(u) >= size or np.uint64(v) >= size:
            outside[0] = min(outside[0], source[edge], target[edge])
            outside[1] = max(outside[1], source[edge], target[edge])
            continue
        a = parent[u]
        b = parent[v]
        # One comparison skips every edge inside a flat tree. After a sample, this skips nearly all edges.
        if a != b:
            hooked += 1
            _unite(parent, a, b)
        elif u == v and marking:
            seen[u] = 1
    return hooked


@_compiled
def _absorb(parent, entries, slots, first, shift, start, stop):
    hooked = 0
    for entry in range(start, stop):
        if slots.size:
            a = parent[slots[first + entry]]
            b = parent[slots[entries[entry]]]
        else:
            a = parent[first + entry + shift]
            b = parent[entries[entry] + shift]
        if a != b:
            hooked += 1
            _unite(parent, a, b)
    return hooked


@_compiled
def _compress(parent, start, stop):
    for vertex in range(start, stop):
        first = parent[vertex]
        above = first
        beyond = parent[above]
        while above != beyond:
            above = beyond
            beyond = parent[above]
        # Never write to a root, because another thread may have just hooked it.
        if above != first:
            parent[vertex] = above


@_compiled
def _mark_members(parent, seen, start, stop):
    for vertex in range(start, stop):
        above = parent[vertex]
        if above != vertex:
            seen[vertex] = 1
            seen[above] = 1


def _blocks(work: Callable[[int, int], Any], start: int, stop: int, threads: int) -> list[Any]:
    """Call ``work(lo, hi)`` for each block of ``start:stop``; idle threads take the next block."""
    size = BLOCK if threads > 1 else max(stop - start, 1)
    count = -(-(stop - start) // size)

    def block(i: int) -> Any:
        return work(start + i * size, min(start + (i + 1) * size, stop))

    return share(block, count, threads)


def _indices(source: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ids as the kernels expect them: contiguous, read-only arrays of the same dtype."""
    if source.dtype != target.dtype:
        source, target = source.astype(np.int64), target.astype(np.int64)
    return _index_view(source), _index_view(target)


def _index_view(array: np.ndarray) -> np.ndarray:
    if array.dtype == np.uint64:
        array = array.view(np.int64)  # ids from 2**63 on become negative: outside every forest
    elif array.dtype not in (np.int32, np.int64):
        array = array.astype(np.int64)
    array = np.ascontiguousarray(array).view()
    array.flags.writeable = False
    return array


def hook(parent, seen, source, target, *, base=0, step=1, cache=None, threads=1):
    source, target = _indices(source, target)
    limits = np.iinfo(np.int64)

    def work(start: int, stop: int) -> tuple[int, int, int]:
        outside = np.array([limits.max, limits.min])
        first = start + -start % step
        hooked = _hook(parent, seen, source, target, base, first, stop, step, outside)
        return hooked, *outside.tolist()

    done = _blocks(work, 0, len(source), threads)
    low = min((d[1] for d in done), default=limits.max)
    high = max((d[2] for d in done), default=limits.min)
    return sum(d[0] for d in done), (low, high) if low <= high else None


def hook_sampled(parent, seen, source, target, *, base=0, step, cache=None, threads=1):
    sampled, _ = hook(parent, seen, source, target, base=base, step=step, threads=threads)
    compress(parent, threads=threads)
    hooked, outside = hook(parent, seen, source, target, base=base, threads=threads)
    return sampled + hooked, outside


@_inner
def _join_smallest(offsets, ends, parent, start, stop):
    """Point each vertex at its first neighbor, or at that one's parent, if it is smaller.

    No other thread writes these entries. The trees within the range stay flat.
    """
    for vertex in range(start, stop):
        if vertex + AHEAD < stop:
            prefetch(ends, np.intp(offsets[vertex + AHEAD]))
        edge, least = offsets[vertex], parent.dtype.type(vertex)
        if edge < offsets[vertex + 1]:
            least = min(least, ends[edge])
        parent[vertex] = parent[least] if start <= least < vertex else least


@_inner
def _join_edges(offsets, ends, parent, tree, most, step, start, stop):
    """Hook up to `most` edges from the end of every `step`-th row, unless its parent is `tree`."""
    for row in range(start, stop, step):
        if row + AHEAD * step < stop:
            prefetch(ends, np.intp(offsets[row + AHEAD * step + 1] - 1))
        if parent[row] != tree:
            last = offsets[row + 1]
            for edge in range(max(offsets[row], last - most), last):
                a = parent[row]
                b = parent[ends[edge]]
                if a != b:
                    _unite(parent, a, b)


@_inner
def _vote(parent, team):
    """Return the parent of most of about :data:`VOTERS` vertices, and the part of them that have it.

    Votes are counted by the last bits of the parents, because Numba takes two seconds to compile a sort.
    The winner is the parent that more than half of the voters in the fullest bucket have.
    """
    step, bits, best, tree, lead, most = 1 + parent.size // VOTERS, VOTERS - 1, 0, 0, 0, 0
    for bucket in range(VOTES, VOTES + VOTERS):
        team[bucket] = 0
    for vertex in range(0, parent.size, step):
        bucket = VOTES + (parent[vertex] & bits)
        team[bucket] += 1
        if team[bucket] > team[VOTES + best]:
            best = bucket - VOTES
    for vertex in range(0, parent.size, step):
        if parent[vertex] & bits == best:
            if lead == 0:
                tree = parent[vertex]
            lead += 1 if parent[vertex] == tree else -1
    for vertex in range(0, parent.size, step):
        most += parent[vertex] == tree
    return tree, most * step / parent.size


@_compiled
def _join_rows(offsets, ends, parent, samples, team, part):
    """Point each vertex at the smallest vertex of its component: a few edges per row, then the rest."""
    me, members = enter(team, part)
    if me < 0:
        return
    rows = parent.size
    low, high = rows * me // members, rows * (me + 1) // members
    _join_smallest(offsets, ends, parent, low, high)
    for step in range(4):
        meet(team, members)
        _compress(parent, low, high)
        meet(team, members)
        if step == 3 or (step < 2 and not samples):
            continue
        if me == 0:
            team[TREE], votes = _vote(parent, team)
            # A sample cannot grow the largest tree, or it has nearly all vertices.
            skips = votes < SOME if step == 0 else step == 1 and votes > MOST
            team[NEXT] = rows if skips else 0
        meet(team, members)
        skipped, most = (team[TREE], ends.size) if step == 2 else (-1, 1)
        every = 1 if step else SAMPLE
        start = fetch_add(team, np.intp(NEXT), np.int64(CHUNK))
        while start < rows:
            stop = min(start + CHUNK, rows)
            _join_edges(offsets, ends, parent, skipped, most, every, start, stop)
            start = fetch_add(team, np.intp(NEXT), np.int64(CHUNK))


def join_rows(rows, *, threads=1):
    parent = np.empty(len(rows.offsets) - 1, rows.ends.dtype)
    # On disk, another pass over the rows takes longer than the edges that it saves.
    samples = not is_on_disk(rows.ends)
    if len(rows.ends):
        members = min(threads, len(parent) // JOINED + 1)
        together(_join_rows, members, rows.offsets, rows.ends, parent, samples, own=16 + VOTERS)
    else:
        parent[:] = np.arange(len(parent))
    return parent


def absorb(parent, entries, *, first=0, shift=0, slots=None, threads=1):
    entries = _index_view(entries)
    where = _index_view(np.zeros(0, parent.dtype) if slots is None else slots)

    def work(start: int, stop: int) -> int:
        return int(_absorb(parent, entries, where, first, shift, start, stop))

    return sum(_blocks(work, 0, len(entries), threads))


def compress(parent, *, start=0, stop=None, threads=1):
    stop = len(parent) if stop is None else stop
    _blocks(lambda lo, hi: _compress(parent, lo, hi), start, stop, threads)


def mark_members(parent, seen, *, threads=1):
    _blocks(lambda lo, hi: _mark_members(parent, seen, lo, hi), 0, len(parent), threads)


def labels(parent, seen, start, stop, *, base, dtype):
    # View as bool: NumPy finds True values several times faster than nonzero numbers.
    vertices = np.flatnonzero(seen[start:stop].view("bool"))
    roots = parent[start:stop][vertices]
    if base:
        roots = roots.astype("int64") + base
    if start + base:
        vertices += start + base
    return vertices.astype(dtype, copy=False), roots.astype(dtype, copy=False)


def bounds(source, target, *, step=1):
    few = source[::step], target[::step]
    return int(min(side.min() for side in few)), int(max(side.max() for side in few))


def identity(size, dtype):
    return np.arange(size, dtype=dtype)


def from_pandas(frame):
    return frame.reset_index(drop=True)


def to_pandas(frame):
    return frame
