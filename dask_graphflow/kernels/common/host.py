"""Host kernels, compiled by Numba. They release the GIL and work on plain arrays.

Every function in this module has a counterpart with the same name and meaning in :mod:`.common.device`.

A forest is an array ``parent`` of indices with ``parent[v] <= v``. A root is its own parent. Several
threads can hook edges into one forest at the same time: a root changes only by compare-and-swap, and
every other write moves a vertex closer to its root. A lost write therefore costs an extra step, but
never loses a connection.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from dask_graphflow.kernels import aligned, values_of
from dask_graphflow.kernels.compiling import compiled as _compiled

namespace = np
SAMPLED = 2  # vertices per edge in a sample
VOTERS = 1 << 10  # about the number of vertices whose trees are counted to find a large one
BLOCK = 1 << 18  # items that a thread takes at a time: 5 us of Python for 0.5 ms of work


def asarray(series: Any) -> np.ndarray:
    """Return the values of a pandas Series or a NumPy array, without a copy if possible."""
    values: np.ndarray = aligned(series if isinstance(series, np.ndarray) else values_of(series))
    return values


def to_host(array: np.ndarray) -> np.ndarray:
    """Return `array` in host memory."""
    return array


def count_true(marks: np.ndarray) -> int:
    """Return how many entries of an array of bool are true."""
    return int(np.count_nonzero(marks))


def wait() -> None:
    """Return at once: on the host, no work is queued."""


@intrinsic
def _compare_and_swap(typing_context, array, index, expected, desired):  # type: ignore[no-untyped-def]
    """Atomically set ``array[index]`` to `desired` if it equals `expected`; return the old value."""

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array_type = signature.args[0]
        view = arrayobj.make_array(array_type)(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(
            context, builder, array_type, view, [arguments[1]], wraparound=False
        )
        pair = builder.cmpxchg(pointer, arguments[2], arguments[3], "acq_rel", "monotonic")
        return builder.extract_value(pair, 0)

    return array.dtype(array, types.intp, array.dtype, array.dtype), codegen


@numba.njit(inline="always")
def _find(parent, vertex):  # type: ignore[no-untyped-def]
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


@numba.njit(inline="always")
def _unite(parent, u, v):  # type: ignore[no-untyped-def]
    """Hook the higher root onto the lower one; after a lost race, continue from the current value."""
    a = _find(parent, u)
    b = _find(parent, v)
    while a != b:
        if a < b:
            a, b = b, a
        current = _compare_and_swap(parent, np.intp(a), a, b)
        if current == a:
            return
        a = _find(parent, current)
        b = _find(parent, b)


@_compiled
def _hook(parent, seen, source, target, base, start, stop, step, outside):  # type: ignore[no-untyped-def]
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
def _hook_rows(parent, offsets, ends, count, tree, start, stop):  # type: ignore[no-untyped-def]
    """Hook up to `count` edges of each row from `start` to ``stop - 1``, unless its parent is `tree`."""
    for row in range(start, stop):
        if parent[row] == tree:
            continue
        first = offsets[row]
        for edge in range(first, min(first + count, offsets[row + 1])):
            a = parent[row]
            b = parent[ends[edge]]
            if a != b:
                _unite(parent, a, b)


@_compiled
def _absorb(parent, entries, slots, first, shift, start, stop):  # type: ignore[no-untyped-def]
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
def _compress(parent, start, stop):  # type: ignore[no-untyped-def]
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
def _mark_members(parent, seen, start, stop):  # type: ignore[no-untyped-def]
    for vertex in range(start, stop):
        above = parent[vertex]
        if above != vertex:
            seen[vertex] = 1
            seen[above] = 1


def _blocks(work: Callable[[int, int], Any], start: int, stop: int, threads: int) -> list[Any]:
    """Call ``work(lo, hi)`` for each block of ``start:stop``; idle threads take the next block."""
    count = -(-(stop - start) // BLOCK)
    if threads <= 1 or count <= 1:
        return [work(start, stop)] if stop > start else []
    tickets = itertools.count()  # next(tickets) is atomic

    def run() -> list[Any]:
        done = []
        while (block := next(tickets)) < count:
            low = start + block * BLOCK
            done.append(work(low, min(low + BLOCK, stop)))
        return done

    with ThreadPoolExecutor(min(threads, count)) as pool:
        futures = [pool.submit(run) for _ in range(min(threads, count))]
        return [result for future in futures for result in future.result()]


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


def hook(
    parent: np.ndarray,
    seen: np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    *,
    base: int = 0,
    step: int = 1,
    cache: dict[str, Any] | None = None,
    threads: int = 1,
) -> tuple[int, tuple[int, int] | None]:
    """Join the trees of both ends of every `step`-th edge.

    Parameters
    ----------
    parent : ndarray of int32 or int64, shape (n,)
        The forest, changed in place.
    seen : ndarray of uint8, shape (n,)
        Set to 1 for each vertex with a self-loop. Pass an empty array to skip this.
    source, target : ndarray of integers, shape (m,)
        The edges. The forest contains the ids from `base` to ``base + n - 1``. Edges with other ids are
        skipped.
    base : int
        The id of the forest's first vertex.
    step : int
        1 to hook every edge, or more to hook a sample.
    cache : dict, optional
        Information about this forest that is kept between calls. The host kernels do not use it. The
        device kernels store the giant tree in it.

    Returns
    -------
    hooked : int
        Number of edges whose ends had different parents.
    outside : tuple of int, or None
        The smallest and the largest id of the skipped edges, or None if no edge was skipped.

    References
    ----------
    .. [1] J. Jaiganesh, M. Burtscher, "A High-Performance Connected Components Implementation for
       GPUs", HPDC 2018.
    """
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


def hook_sampled(
    parent: np.ndarray,
    seen: np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    *,
    base: int = 0,
    step: int,
    cache: dict[str, Any] | None = None,
    threads: int = 1,
) -> tuple[int, tuple[int, int] | None]:
    """Hook every `step`-th edge, flatten the trees, then hook all edges (Afforest).

    Returns
    -------
    tuple
        The same values as :func:`hook`.

    References
    ----------
    .. [1] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via
       Subgraph Sampling", IPDPS 2018.
    """
    sampled, _ = hook(parent, seen, source, target, base=base, step=step, threads=threads)
    compress(parent, threads=threads)
    hooked, outside = hook(parent, seen, source, target, base=base, threads=threads)
    return sampled + hooked, outside


def hook_first(parent: np.ndarray, rows: Any, count: int, *, threads: int = 1) -> None:
    """Hook the first `count` edges of each row.

    Parameters
    ----------
    parent : ndarray of int32 or int64, shape (n,)
        The forest, changed in place.
    rows : Rows
        The edges of the first vertices of the forest.
    count : int
    """
    _rows_hooked(parent, rows, count, -1, threads)


def hook_rest(parent: np.ndarray, rows: Any, tree: np.ndarray, *, threads: int = 1) -> None:
    """Hook the edges of the rows of all vertices whose parent is not the root in `tree`.

    Every edge must be in the rows of both its ends, and the trees must be flat. All edges are then hooked,
    or connect two vertices of that tree.
    """
    _rows_hooked(parent, rows, len(rows.ends), int(tree[0]), threads)


def _rows_hooked(parent: np.ndarray, rows: Any, count: int, tree: int, threads: int) -> None:
    ends = _index_view(rows.ends)

    def work(start: int, stop: int) -> None:
        _hook_rows(parent, rows.offsets, ends, count, tree, start, stop)

    _blocks(work, 0, len(rows.offsets) - 1, threads)


def choose_tree(parent: np.ndarray) -> np.ndarray:
    """Return, in an array, the root that most of some vertices have as their parent; there is a vertex."""
    trees, counts = np.unique(parent[:: 1 + len(parent) // VOTERS], return_counts=True)
    return trees[[counts.argmax()]]


def absorb(
    parent: np.ndarray,
    entries: np.ndarray,
    *,
    first: int = 0,
    shift: int = 0,
    slots: Any = None,
    threads: int = 1,
) -> int:
    """Hook the entries ``(i, entries[i])`` of another forest, or of a slice of it.

    Parameters
    ----------
    parent : ndarray of int32 or int64, shape (n,)
        The forest, changed in place.
    entries : ndarray of int32 or int64, shape (m,)
        The parents in the other forest, starting at its vertex `first`.
    first : int
        The first vertex of the slice.
    shift : int
        Index in this forest of the other forest's first vertex.
    slots : ndarray of integers, optional
        Index in this forest of each vertex of the other forest. Replaces `shift`.

    Returns
    -------
    int
        Number of entries whose ends had different parents.
    """
    entries = _index_view(entries)
    where = _index_view(np.zeros(0, parent.dtype) if slots is None else slots)

    def work(start: int, stop: int) -> int:
        return int(_absorb(parent, entries, where, first, shift, start, stop))

    return sum(_blocks(work, 0, len(entries), threads))


def compress(
    parent: np.ndarray, *, start: int = 0, stop: int | None = None, threads: int = 1
) -> None:
    """Point each vertex from `start` to ``stop - 1`` at its root (multiple pointer jumping)."""
    stop = len(parent) if stop is None else stop
    _blocks(lambda lo, hi: _compress(parent, lo, hi), start, stop, threads)


def mark_members(parent: np.ndarray, seen: np.ndarray, *, threads: int = 1) -> None:
    """Set ``seen`` to 1 for each vertex in a tree with other vertices; `parent` must be flat."""
    _blocks(lambda lo, hi: _mark_members(parent, seen, lo, hi), 0, len(parent), threads)


def labels(
    parent: np.ndarray, seen: np.ndarray, start: int, stop: int, *, base: int, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of the seen vertices from `start` to ``stop - 1``, and the ids of their roots.

    `parent` must be flat. Its first vertex has the id `base`.
    """
    # View as bool: NumPy finds True values several times faster than nonzero numbers.
    vertices = np.flatnonzero(seen[start:stop].view("bool"))
    roots = parent[start:stop][vertices]
    if base:
        roots = roots.astype("int64") + base
    if start + base:
        vertices += start + base
    return vertices.astype(dtype, copy=False), roots.astype(dtype, copy=False)


def bounds(source: np.ndarray, target: np.ndarray, *, step: int = 1) -> tuple[int, int]:
    """Return the smallest and the largest id among every `step`-th edge."""
    few = source[::step], target[::step]
    return int(min(side.min() for side in few)), int(max(side.max() for side in few))


def identity(size: int, dtype: Any) -> np.ndarray:
    """Return a forest of `size` roots."""
    return np.arange(size, dtype=dtype)


def from_pandas(frame: Any) -> Any:
    """Return a pandas frame of ids in the form that these kernels use, with rows numbered from 0."""
    return frame.reset_index(drop=True)


def to_pandas(frame: Any) -> Any:
    """Return a frame of these kernels as a pandas frame."""
    return frame
