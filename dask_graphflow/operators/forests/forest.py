"""The forest: the data structure that is hooked, compressed and merged.

A :class:`Forest` stores which vertices of a range are connected. It only ever gains true connections:
hooking is monotone, commutative and idempotent. So several threads may change a forest in place and send it
at the same time, and edges may be hooked in any order and more than once. If hooking a chunk is
interrupted, the forest is still valid, and the chunk can be hooked again. Only :meth:`Forest.cover` needs
exclusive access.
"""

from __future__ import annotations

import itertools
import threading
from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.kernels import aligned, index_dtype, kernels_for, no_room

FEW = 1 << 16  # marks that are read to find the first one
GRAIN = 4096  # a forest's range of ids begins and ends at a multiple of this number
LEAST = -(2**63)  # the first vertex of a forest is an int64
# Compress after a chunk that hooked more than V / 16 edges, and whenever the hooked edges of all chunks
# together pass a multiple of V / 4.
COMPRESS_ABOVE = 16
FLATTEN_ABOVE = 4
LINE = 64  # slices begin at a multiple of this number of entries, one cache line of marks


class Forest:
    """Disjoint trees over the vertices ``base`` to ``base + size - 1``.

    Parameters
    ----------
    like : array
        Any array on the host or the device. The forest is stored on the same one.
    base, size : int
        The first vertex and the number of vertices. :meth:`cover` enlarges the range.

    Attributes
    ----------
    parent : array of int32 or int64, shape (size,)
        Each vertex's parent, relative to `base`, at most the vertex itself.
    seen : array of uint8, shape (size,)
        1 for vertices that are known to occur even if no edge connects them to another vertex.
    flat : bool
        Whether every vertex points at its root.
    counts : dict of int
        Number of edges processed, of edges hooked (their ends had different parents), of launches of the
        hook over a chunk, and of compressions.
    """

    __slots__ = ("_compressing", "_held", "_kernel_cache", "counts", "flat", "kernels")

    def __init__(self, like: Any, *, base: int = 0, size: int = 0) -> None:
        self.kernels = kernels_for(like)
        # One tuple, because another thread may make the forest grow while this one reads it, for example
        # to send it. A reader then gets either all old values or all new ones.
        self._held = (base, *self._new_arrays(size))
        self._kernel_cache: dict[str, Any] = {}  # kernels store facts about these arrays here
        self.flat = True
        self._compressing = threading.Lock()
        self.counts = {"edges": 0, "hooked": 0, "launches": 0, "compressions": 0}

    def _new_arrays(self, size: int) -> tuple[Any, Any]:
        parent, dtype = None, index_dtype(size)
        try:
            parent = self.kernels.identity(size, dtype)
            return parent, self.kernels.namespace.zeros(size, "uint8")
        except MemoryError as error:
            parent = None  # free it first, because the error reports the free memory
            held = self.__sizeof__() if hasattr(self, "_held") else 0
            needed = size * (np.dtype(dtype).itemsize + 1)
            raise no_room(self.kernels, vertices=size, needed=needed, held=held) from error

    @classmethod
    def of(cls, base: int, parent: Any, seen: Any) -> Forest:
        """Return the forest of some entries, which it takes over."""
        forest = cls(parent)
        forest._held, forest.flat = (base, aligned(parent), seen), False
        return forest

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._held, self.counts)

    def __sizeof__(self) -> int:
        return int(self.parent.nbytes + self.seen.nbytes)

    @property
    def base(self) -> int:
        """The first vertex."""
        return int(self._held[0])

    @property
    def parent(self) -> Any:
        """Each vertex's parent."""
        return self._held[1]

    @property
    def seen(self) -> Any:
        """Marks of the vertices that are known to occur."""
        return self._held[2]

    @property
    def stop(self) -> int:
        """One past the last vertex."""
        base, parent, _ = self._held
        return int(base + len(parent))

    def covers(self, low: int, high: int) -> bool:
        """Return whether the forest contains the vertices `low` to `high`."""
        base, parent, _ = self._held
        return bool(base <= low and high < base + len(parent))

    def cover(self, low: int, high: int) -> None:
        """Grow the forest, if needed, so that it contains the vertices `low` to `high`."""
        if self.covers(low, high):
            return
        low, high = max(low // GRAIN * GRAIN, LEAST), -(-(high + 1) // GRAIN) * GRAIN
        if len(self.parent):
            low, high = min(low, self.base), max(high, self.stop)
        parent, seen = self._new_arrays(high - low)
        if len(self.parent):
            at = self.base - low
            own = slice(at, at + len(self.parent))
            parent[own] = self.parent
            parent[own] += at
            seen[own] = self.seen
        self._held, self._kernel_cache = (low, parent, seen), {}

    def hook(
        self,
        source: Any,
        target: Any,
        *,
        chunk: int | None = None,
        step: int | None = None,
        threads: int = 1,
    ) -> tuple[int, int] | None:
        """Hook edges chunk by chunk.

        Parameters
        ----------
        source, target : array of integers, shape (m,)
            The ends of the edges.
        chunk : int, optional
            Edges per chunk. By default all edges are one chunk.
        step : int, optional
            The first pass over the forest's first edges hooks a sample of one edge in `step` (Afforest); 1
            for no sample. By default, the sample is large enough to find most of the largest component.
        threads : int
            Host threads to use.

        Returns
        -------
        tuple of int or None
            The smallest and largest id of the edges that have an end outside the forest, or None. These
            edges were not hooked: enlarge the forest with :meth:`cover` and hook again.
        """
        chunk = chunk or max(len(source), 1)
        step = step or self._sample_step(len(source))
        outside: tuple[int, int] | None = None
        before = self.counts["hooked"]
        for start in range(0, len(source), chunk):
            us, vs = source[start : start + chunk], target[start : start + chunk]
            # A sample makes the trees flat, and the full pass then skips the edges inside a tree. This
            # pays only for the first edges, and if there are at least as many edges as vertices to flatten.
            first = self.counts["edges"] < len(self.parent) <= len(us)
            left, hooked = self._hook(us, vs, threads, step if first else 1)
            self.counts["launches"] += 1
            self.counts["edges"] += len(us)
            self.counts["hooked"] += hooked
            if hooked * COMPRESS_ABOVE > len(self.parent):
                self.compress(threads=threads)
            if left:
                outside = (min(left[0], outside[0]), max(left[1], outside[1])) if outside else left
        # If chunks are much smaller than the forest, no single chunk is worth a pass over the forest.
        # Without any pass, fewer and fewer of the edges inside a tree would be skipped.
        share = max(1, len(self.parent) // FLATTEN_ABOVE)
        if self.counts["hooked"] // share > before // share:
            self.compress(threads=threads)
        return outside

    def _sample_step(self, edges: int) -> int:
        sampled = self.kernels.SAMPLED  # vertices per sampled edge
        return int(min(max(sampled * edges // max(len(self.parent), 1), 2), 16 * sampled))

    def cut(self, count: int) -> list[Entries]:
        """Return the current entries in `count` slices. The slices are views."""
        base, parent, seen = self._held
        size = len(parent)
        bounds = [size * i // count // LINE * LINE for i in range(count)] + [size]
        return [
            Entries(base, size, low, parent[low:high], seen[low:high], self)
            for low, high in itertools.pairwise(bounds)
        ]

    def absorb(self, other: Forest | Entries, slots: Any = None, *, threads: int = 1) -> None:
        """Merge another forest into this one by hooking its entries ``(i, parent[i])`` as edges.

        The other forest is not changed. The slices of a forest may be merged in any order; the slice with
        the last entries makes the trees flat. `slots` has the index in this forest of each vertex of the
        other. By default, vertices with the same id are the same.
        """
        (entries,) = other.cut(1) if isinstance(other, Forest) else (other,)
        if entries.whole is self or not len(entries.parent):
            return
        first, count, shift = entries.first, len(entries.parent), 0
        if slots is None:
            # Cover the whole forest at once: parents may be outside the slice, and growing makes copies.
            self.cover(entries.base, entries.base + entries.size - 1)
            shift = entries.base - self.base
            self.seen[shift + first : shift + first + count] |= entries.seen
        hooked = self.kernels.absorb(
            self.parent, entries.parent, first=first, shift=shift, slots=slots, threads=threads
        )
        self._note_hooked(hooked)
        if first + count == entries.size:
            self.compress(threads=threads)

    def compress(self, *, threads: int = 1) -> None:
        """Point every vertex at its root, unless all vertices already do."""
        # Only one thread at a time: a slow pass could overwrite the roots of a later pass with older ones.
        with self._compressing:
            if not self.flat:
                # Set before the pass: a thread that hooks during the pass resets it when it is done.
                self.flat = True
                self.kernels.compress(self.parent, threads=threads)
                self.counts["compressions"] += 1

    def members(self, low: int, high: int) -> Any:
        """Return the vertices between `low` and `high` - 1 that occur, as ids in ascending order.

        Call :meth:`mark_members` first.
        """
        low, high = max(low, self.base), min(high, self.stop)
        if low >= high:
            return self.kernels.namespace.zeros(0, "int64")
        # As bool: NumPy finds true values several times faster than nonzero numbers.
        seen = self.seen[low - self.base : high - self.base].view("bool")
        return self.kernels.namespace.flatnonzero(seen) + low

    def mark_members(self, *, threads: int = 1) -> None:
        """Set `seen` to 1 for every vertex that a hooked edge touched. Earlier marks are kept."""
        self.compress(threads=threads)
        self.kernels.mark_members(self.parent, self.seen, threads=threads)

    def occupied(self) -> tuple[int, int]:
        """Return the first vertex that occurs, and one past the last; an empty range if none does.

        Call :meth:`mark_members` first.
        """
        first, last = _first_seen(self.seen), _first_seen(self.seen[::-1])
        if first is None or last is None:
            return self.base, self.base
        return self.base + first, self.stop - last

    def labels(self, low: int, high: int, dtype: Any) -> tuple[Any, Any]:
        """Return the vertices between `low` and `high` - 1 that occur, in order, and their roots.

        Call :meth:`mark_members` first.
        """
        start, stop = max(low, self.base) - self.base, min(high, self.stop) - self.base
        return self.kernels.labels(
            self.parent, self.seen, start, max(stop, start), base=self.base, dtype=dtype
        )

    def roots(self, vertices: Any) -> Any:
        """Return the smallest vertex of each given vertex's component, as int64."""
        if not self.base:
            return self.parent[vertices].astype("int64")
        # Convert to int64 first: in int8, for example, 127 - (-128) would overflow.
        places = vertices.astype("int64", copy=False) - self.base
        return self.parent[places].astype("int64") + self.base

    def _hook(self, source: Any, target: Any, threads: int, step: int) -> tuple[Any, int]:
        kernel = self.kernels.hook
        if step > 1:
            kernel = partial(self.kernels.hook_sampled, step=step)
            self.counts["compressions"] += 1
        hooked, outside = kernel(
            self.parent,
            self.seen,
            source,
            target,
            base=self.base,
            cache=self._kernel_cache,
            threads=threads,
        )
        # A sample is compressed while other threads may hook, so it may have written old roots.
        self._note_hooked(hooked or step > 1)
        return outside, hooked

    def _note_hooked(self, count: int) -> None:
        if count:
            self.flat = False


class Entries:
    """A slice of the entries of a forest, which can be merged slice by slice.

    A slice is not a forest itself, because its parents, which are relative to `base`, may be outside of it.
    `base` and `size` are those of the forest, and `first` is the index of the slice's first entry. `whole`
    is the forest that the slice was cut from, if it is in this process.
    """

    __slots__ = ("base", "first", "parent", "seen", "size", "whole")

    def __init__(
        self,
        base: int,
        size: int,
        first: int,
        parent: Any,
        seen: Any,
        whole: Forest | None = None,
    ) -> None:
        self.base, self.size, self.first = base, size, first
        self.parent, self.seen = parent, seen
        self.whole = whole


def _first_seen(seen: Any) -> int | None:
    """Return the index of the first mark, or None. Reads few marks if one of them is near the beginning.

    They are copied to the host, because a device reduces any array to one value with one block, which takes
    8 ms for the marks of a large forest.
    """
    low, size = 0, FEW
    while low < len(seen):
        marks = kernels_for(seen).to_host(seen[low : low + size]).view("bool")
        first = int(marks.argmax())
        if marks[first]:
            return low + first
        low, size = low + size, size * 2
    return None


def _restore(held: tuple[int, Any, Any], counts: dict[str, int]) -> Forest:
    forest = Forest.of(*held)  # not flat: other threads may have hooked edges while it was sent
    forest.counts = counts
    return forest
