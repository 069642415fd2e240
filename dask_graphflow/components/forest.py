"""The forest: what hook, compress and merge work on.

A :class:`Forest` says, for a range of vertices, which of them are connected. It only ever gains true
connections: hooking is monotone, commutative and idempotent. So a forest may be changed in place and
passed on, by several threads at once, edges may be hooked in any order and twice, and a forest that was
left half-way through a chunk is a right one to begin that chunk again with. Only :meth:`Forest.cover`
wants the forest to itself.
"""

from __future__ import annotations

import itertools
import threading
import uuid
from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.kernels import aligned, index_dtype, kernels_for, no_room

from .plan import Plan

__all__ = ["Entries", "Forest"]

GRAIN = 4096  # ids that a forest's ends are rounded to
LEAST = -(2**63)  # the first vertex of a forest is an int64
COMPRESS_ABOVE = 16  # compress once a chunk hooked more than this fraction (1/16) of the vertices
FLATTEN_ABOVE = 4  # and once several did, of which none was worth it, of this fraction (1/4)
LINE = 64  # entries that slices begin at a multiple of: a cache line of marks


class Forest:
    """Disjoint trees over the vertices ``base`` to ``base + size - 1``.

    Parameters
    ----------
    like : array
        Any array on the host or the device: the forest lies there too.
    base, size : int
        The range of vertices. It grows as edges ask for it.

    Attributes
    ----------
    parent : array of int32 or int64, shape (size,)
        Each vertex's parent, relative to `base`, at most the vertex itself.
    seen : array of uint8, shape (size,)
        1 for vertices known to occur although no edge to another vertex says so.
    flat : bool
        Whether every vertex points at its root.
    counts : dict of int
        What was done: edges taken, edges hooked (their ends had different parents), launches of the
        hook over a chunk, compressions.
    """

    __slots__ = ("_compressing", "_held", "_known", "counts", "flat", "kernels", "sent")

    def __init__(self, like: Any, *, base: int = 0, size: int = 0) -> None:
        self.kernels = kernels_for(like)
        # Together, so that who reads all of them while another thread makes the forest grow, as
        # sending it does, has either the old or the new.
        self._held = (base, *self._new_arrays(size))
        self._known: dict[str, Any] = {}  # what kernels remember of these arrays
        self.flat = True
        self._compressing = threading.Lock()
        self.sent: list[Any] = []  # memory that other processes may still be reading
        self.counts = {"edges": 0, "hooked": 0, "launches": 0, "compressions": 0}

    def _new_arrays(self, size: int) -> tuple[Any, Any]:
        parent, dtype = None, index_dtype(size)
        try:
            parent = self.kernels.identity(size, dtype)
            return parent, self.kernels.namespace.zeros(size, "uint8")
        except MemoryError as error:
            parent = None  # the error says what is free without it
            held = self.__sizeof__() if hasattr(self, "_held") else 0
            needed = size * (np.dtype(dtype).itemsize + 1)
            raise no_room(self.kernels, vertices=size, needed=needed, held=held) from error

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
        """The marks of vertices that are known to occur."""
        return self._held[2]

    @property
    def stop(self) -> int:
        """One past the last vertex."""
        base, parent, _ = self._held
        return int(base + len(parent))

    def covers(self, low: int, high: int) -> bool:
        """Say whether the vertices `low` to `high` lie in the forest."""
        base, parent, _ = self._held
        return bool(base <= low and high < base + len(parent))

    def cover(self, low: int, high: int) -> None:
        """Grow, if need be, so that the vertices `low` to `high` lie in the forest."""
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
        self._held, self._known = (low, parent, seen), {}

    def hook(
        self, source: Any, target: Any, *, plan: Plan | None = None, threads: int = 1
    ) -> tuple[int, int] | None:
        """Hook edges, chunk after chunk.

        Parameters
        ----------
        source, target : array of integers, shape (m,)
            The edges' ends.
        plan : Plan, optional
            How to take them; by default in one chunk, after a sample.
        threads : int
            Host threads to use.

        Returns
        -------
        tuple of int or None
            The smallest and largest id of the edges that do not lie in the forest, if any: those
            edges were left out. Grow with :meth:`cover` and hook again.
        """
        plan = plan or Plan.for_graph(len(self.parent), len(source), sampled=self.kernels.SAMPLED)
        outside: tuple[int, int] | None = None
        before = self.counts["hooked"]
        for start in range(0, len(source), plan.chunk):
            chunk = source[start : start + plan.chunk], target[start : start + plan.chunk]
            # A sample makes the trees flat, and the full pass then skips what they span. It pays
            # where there are more edges to come than vertices to flatten, and only at first.
            first = self.counts["edges"] < len(self.parent) <= len(chunk[0])
            left, hooked = self._hook(*chunk, threads, plan.step if first else 1)
            self.counts["launches"] += 1
            self.counts["edges"] += len(chunk[0])
            self.counts["hooked"] += hooked
            if hooked * COMPRESS_ABOVE > len(self.parent):
                self.compress(threads=threads)
            if left:
                outside = (min(left[0], outside[0]), max(left[1], outside[1])) if outside else left
        # Chunks may be so much smaller than the forest that none by itself is worth a pass over it;
        # without one, ever fewer edges inside a tree would be skipped.
        share = max(1, len(self.parent) // FLATTEN_ABOVE)
        if self.counts["hooked"] // share > before // share:
            self.compress(threads=threads)
        return outside

    def cut(self, count: int) -> list[Entries]:
        """Return the entries as they are now, in `count` slices that are views of them."""
        base, parent, seen = self._held
        size, token = len(parent), uuid.uuid4().hex
        bounds = [size * i // count // LINE * LINE for i in range(count)] + [size]
        return [
            Entries(base, size, low, parent[low:high], seen[low:high], token, self)
            for low, high in itertools.pairwise(bounds)
        ]

    def absorb(self, other: Forest | Entries, slots: Any = None, *, threads: int = 1) -> None:
        """Merge another forest into this one: its entries ``(i, parent[i])`` are edges.

        Parameters
        ----------
        other : Forest or Entries
            Left as it is. A forest that comes in slices has been merged once each of them has, in any
            order; the last of them makes the trees flat.
        slots : array of integers, shape (len(other.parent),), optional
            The index here of each of the other's vertices; by default they have the same id.
        threads : int
            Host threads to use.
        """
        (entries,) = other.cut(1) if isinstance(other, Forest) else (other,)
        if entries.whole is self or not len(entries.parent):
            return
        first, count, shift = entries.first, len(entries.parent), 0
        if slots is None:
            # Of the whole forest: parents lie outside of a slice, and growing copies.
            self.cover(entries.base, entries.base + entries.size - 1)
            shift = entries.base - self.base
            self.seen[shift + first : shift + first + count] |= entries.seen
        hooked = self.kernels.absorb(
            self.parent, entries.parent, first=first, shift=shift, slots=slots, threads=threads
        )
        self._hooked(hooked)
        if first + count == entries.size:
            self.compress(threads=threads)

    def compress(self, *, threads: int = 1) -> None:
        """Point every vertex at its root, unless all do."""
        # One thread at a time: a slow pass would write old roots over those of a pass that began later.
        with self._compressing:
            if not self.flat:
                # Said before it is so: a thread that hooks meanwhile takes it back when it is done.
                self.flat = True
                self.kernels.compress(self.parent, threads=threads)
                self.counts["compressions"] += 1

    def members(self, low: int, high: int) -> Any:
        """Return which of the vertices `low` to `high` - 1 occur, as ids in ascending order.

        :meth:`mark_members` comes first.
        """
        low, high = max(low, self.base), min(high, self.stop)
        if low >= high:
            return self.kernels.namespace.zeros(0, "int64")
        # As truth values: NumPy finds those several times faster than numbers that are not zero.
        seen = self.seen[low - self.base : high - self.base].view("bool")
        return self.kernels.namespace.flatnonzero(seen) + low

    def mark_members(self, *, threads: int = 1) -> None:
        """Find every vertex that occurs, whether an edge or only `seen` says so."""
        self.compress(threads=threads)
        self.kernels.mark_members(self.parent, self.seen, threads=threads)

    def labels(self, low: int, high: int, dtype: Any) -> tuple[Any, Any]:
        """Return which of the vertices `low` to `high` - 1 occur, in order, and their roots.

        :meth:`mark_members` comes first.
        """
        start, stop = max(low, self.base) - self.base, min(high, self.stop) - self.base
        return self.kernels.labels(  # type: ignore[no-any-return]
            self.parent, self.seen, start, max(stop, start), base=self.base, dtype=dtype
        )

    def roots(self, vertices: Any) -> Any:
        """Return the smallest vertex of each given vertex's component, as int64."""
        if not self.base:
            return self.parent[vertices].astype("int64")
        # Not in the vertices' own type: 127 - (-128) does not fit int8.
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
            known=self._known,
            threads=threads,
        )
        # A sample was compressed beside other threads, so old roots may have been written.
        self._hooked(hooked or step > 1)
        return outside, hooked

    def _hooked(self, count: int) -> None:
        if count:
            self.flat = False


class Entries:
    """A slice of a forest's entries, which the forest can be merged by.

    Its parents may lie outside of it, so that it is no forest by itself.

    Parameters
    ----------
    base, size : int
        The first vertex of the whole forest, and how many there are.
    first : int
        The index of the first of these entries.
    parent, seen : array
        Of these entries, as the forest has them: parents count from `base`.
    token : str
        What all slices that were cut at once have in common, and no others.
    whole : Forest, optional
        What it was cut from, if that lies in this process.
    """

    __slots__ = ("base", "first", "parent", "seen", "sent", "size", "token", "whole")

    def __init__(
        self,
        base: int,
        size: int,
        first: int,
        parent: Any,
        seen: Any,
        token: str,
        whole: Forest | None = None,
    ) -> None:
        self.base, self.size, self.first = base, size, first
        self.parent, self.seen = parent, seen
        self.token, self.whole = token, whole
        self.sent: list[Any] = []  # memory that other processes may still be reading

    def __reduce__(self) -> tuple[Any, ...]:
        place = self.base, self.size, self.first
        return _restore_entries, ((place, self.parent, self.seen), self.token)

    def __sizeof__(self) -> int:
        return int(self.parent.nbytes + self.seen.nbytes)


def _restore_entries(held: tuple[tuple[int, int, int], Any, Any], token: str) -> Entries:
    place, parent, seen = held
    return Entries(*place, aligned(parent), seen, token)


def _restore(held: tuple[int, Any, Any], counts: dict[str, int]) -> Forest:
    base, parent, seen = held
    forest = Forest(parent)
    forest._held, forest.counts = (base, aligned(parent), seen), counts
    forest.flat = False  # other threads may have hooked while it was sent
    return forest
