"""Host kernels, compiled by Numba. They release the GIL and work on plain arrays.

A forest is an array ``parent`` of indices with ``parent[v] <= v``. A root is its own parent. Several
threads can hook edges into one forest at the same time: a root changes only by compare-and-swap, and
every other write moves a vertex closer to its root. A lost write therefore costs an extra step, but
never loses a connection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphflow.kernels import aligned, values_of
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.host_atomics import swap
from dask_graphflow.kernels.host_threads import share

namespace = np
SAMPLED = 2  # vertices per edge in a sample
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


@inner
def find(parent, vertex):
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


@inner
def unite(parent, u, v):
    """Hook the higher root onto the lower one; after a lost race, continue from the present roots."""
    a, b = u, v
    while True:
        a = find(parent, a)
        b = find(parent, b)
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
            unite(parent, a, b)
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
            unite(parent, a, b)
    return hooked


@_compiled
def compress_range(parent, start, stop):
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


def absorb(parent, entries, *, first=0, shift=0, slots=None, threads=1):
    entries = _index_view(entries)
    where = _index_view(np.zeros(0, parent.dtype) if slots is None else slots)

    def work(start: int, stop: int) -> int:
        return int(_absorb(parent, entries, where, first, shift, start, stop))

    return sum(_blocks(work, 0, len(entries), threads))


def compress(parent, *, start=0, stop=None, threads=1):
    stop = len(parent) if stop is None else stop
    _blocks(lambda lo, hi: compress_range(parent, lo, hi), start, stop, threads)


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
