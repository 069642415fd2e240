"""Fragments: forests over the ids of some edges, before the vertices of the whole graph are numbered."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from dask_graphflow.graph import frames, renumber
from dask_graphflow.graph.edgelist import Ends
from dask_graphflow.graph.renumber import is_dense
from dask_graphflow.kernels import kernels_for

from . import streaming
from .forest import Forest
from .shared_forest import Shared


@dataclass
class ChunkEdges:
    """The edges of a chunk, each with the highest threshold that it reaches."""

    source: Ends
    target: Ends
    # Array of integers, shape (m,), or None. 0 for an edge below every threshold, k for an edge that
    # reaches the k-th threshold and no higher one. None if all are 1.
    level: Any = None
    streamed: bool = False  # whether the edges are in host memory while the forest is on the device

    @cached_property
    def ends(self) -> tuple[Any, Any]:
        """The ids at both ends as arrays."""
        kernels = kernels_for(self.source.only)
        return kernels.asarray(self.source.only), kernels.asarray(self.target.only)

    def bounds(self) -> tuple[tuple[int, int], bool]:
        """Return the range of a sample of the ids, and whether their type is unsigned."""
        source, target = self.ends
        step = max(1, len(source) // renumber.SAMPLE)
        bounds = kernels_for(source).bounds(source, target, step=step)
        return bounds, source.dtype.kind == "u"

    def on_device(self, rows: slice) -> ChunkEdges:
        """Copy some of the streamed edges to the device, as frames."""
        kernels = streaming.device().kernels
        level = None if self.level is None else kernels.namespace.asarray(self.level[rows])
        source, target = (
            Ends.of(kernels.from_pandas(side.frame.iloc[rows]))
            for side in (self.source, self.target)
        )
        return ChunkEdges(source, target, level)


def by_level(source: Any, target: Any, reached: Any, levels: int) -> Iterator[tuple[int, Any, Any]]:
    """Yield ``(forest, sources, targets)`` from the ends of the edges, as indices, and their levels.

    The ends of an edge below every threshold are still vertices, so each is joined to itself.
    """
    if reached is None:
        yield 0, source, target
        return
    for level in range(levels):
        own = reached == level + 1
        yield level, source[own], target[own]
    below = reached == 0
    yield 0, source[below], source[below]
    yield 0, target[below], target[below]


@dataclass
class Fragment:
    """The forests that result from some edges, and their ids."""

    # One per threshold, ascending. An edge is in the forest of the highest threshold that it reaches.
    forests: list[Forest]
    ids: Any  # frame. Row i is the id of vertex i. Empty if `dense`.
    dense: bool = False  # whether the ids are dense integers, which serve as vertices themselves

    def __sizeof__(self) -> int:
        return sum(f.__sizeof__() for f in self.forests) + int(self.ids.memory_usage().sum())

    def over(self, low: int, high: int) -> list[Forest]:
        """Return the forests with the integer ids `low` to `high` - 1 as their vertices."""
        if self.dense:
            return self.forests
        # Convert to int64 first: `low` may be less than the smallest value of the ids' dtype.
        values = self.forests[0].kernels.asarray(self.ids[self.ids.columns[0]])
        values = values.astype("int64", copy=False) - low
        return move_forests(self.forests, values, high - low, base=low)

    @classmethod
    def of(cls, edges: ChunkEdges, levels: int, threads: int) -> Fragment:
        """Reduce edges between any ids to forests over those ids."""
        found = renumber.Numbers([edges.source.frame, edges.target.frame], threads=threads)
        forests = list[Forest]()
        for rows, (sources, targets), count in found.blocks():
            if not forests:
                forests = [Forest(sources, size=count) for _ in range(levels)]
            for forest in forests:
                forest.cover(0, count - 1)
            level = None if edges.level is None else edges.level[rows]
            for at, source, target in by_level(sources, targets, level, levels):
                forests[at].hook(source, target, threads=threads)
        if found.places is not None:
            slots = np.zeros(len(forests[0].parent), found.places.dtype)
            slots[: len(found.places)] = found.places
            forests = move_forests(forests, slots, len(found.ids))
        for forest in forests:
            forest.compress(threads=threads)
        return cls(forests, found.ids)

    def sort(self) -> Fragment:
        """Return the fragment with its ids in order. It must not be dense."""
        if renumber.is_sorted(self.ids):
            return self
        ids, rank = renumber.sort(self.ids)
        return Fragment(move_forests(self.forests, rank, len(ids)), ids)

    def list_ids(self) -> Fragment:
        """Return the fragment with its ids listed. The ids of a dense fragment are in order."""
        if not self.dense:
            return self
        flatten(self.forests)
        first = self.forests[0]
        xp = first.kernels.namespace
        vertices = first.members(first.base, first.stop)
        slots = xp.zeros(len(first.parent), first.parent.dtype)
        slots[vertices - first.base] = xp.arange(len(vertices), dtype=slots.dtype)
        ids = frames.one_column(vertices, self.ids)
        return Fragment(move_forests(self.forests, slots, len(vertices)), ids)


@dataclass
class FragmentChain:
    """The fragments that a chain of chunks has made so far. It grows in place.

    Chunks of dense ids are hooked into the fragment in `dense`, which all chains of the process share.
    Every other chunk adds a fragment to `loose`. Adjacent fragments of similar size are joined, so that an
    id is copied at most a logarithmic number of times.
    """

    dense: Shared
    loose: list[Fragment] = field(default_factory=list)

    def __sizeof__(self) -> int:
        return self.dense.__sizeof__() + sum(f.__sizeof__() for f in self.loose)

    @classmethod
    def start(cls, dense: Shared, edges: ChunkEdges, levels: int) -> FragmentChain:
        """Return a new chain for edges like the given ones."""
        with dense.alone():
            if dense.held is None:
                ids = edges.source.like
                kernels = kernels_for(ids)
                if edges.streamed:
                    kernels = streaming.device().kernels
                    ids = kernels.from_pandas(ids)
                like = kernels.namespace.zeros(0)
                dense.held = Fragment([Forest(like) for _ in range(levels)], ids, dense=True)
        return cls(dense)

    def cover(self, bounds: tuple[int, int], total: int, unsigned: bool) -> bool:
        """Make the forests grow to ids within bounds. Return False if the ids would no longer be dense.

        `total` is the number of edges of the whole graph, as far as is known.
        """
        low, high = bounds
        forests = self.dense.held.forests
        with self.dense.alone(unless=partial(forests[-1].covers, low, high)) as alone:
            if alone:
                if len(forests[0].parent):
                    low, high = min(low, forests[0].base), max(high, forests[0].stop - 1)
                # Unsigned ids past int64 look negative to the kernels, so they are renumbered.
                if not is_dense(low, high, total) or (low < 0 and unsigned):
                    return False
                # A range guessed from n ids is too small by about one part in n. A margin of eight
                # times that much makes it rare that later chunks need the forest to grow again.
                spare = (high - low) * 8 // (2 * renumber.SAMPLE)
                low = low - spare if low < 0 else max(0, low - spare)
                for forest in forests:
                    forest.cover(low, high + spare)
        return True

    def chunks(
        self,
        edges: ChunkEdges,
        bounds: tuple[int, int],
        chunk_size: int | None,
        total: int,
        threads: int,
    ) -> Generator[tuple[Any, Any, Any], None, None]:
        """Yield the edges, as sources, targets and levels, where the forests are.

        Streamed edges pass through the link chunk by chunk: one is hooked while the next is copied.
        """
        ends = edges.ends
        if not edges.streamed:
            yield *ends, edges.level
            return
        make = partial(
            streaming.new_link,
            like=[side for side in (*ends, edges.level) if side is not None],
            bounds=bounds,
            chunk_size=chunk_size,
            total=total,
            threads=threads,
        )
        link = self.dense.link(make)
        with closing(streaming.send_edges(link, *ends, edges.level, bounds)) as chunks:
            yield from chunks

    def hook(
        self, source: Any, target: Any, level: Any, chunk_size: int | None, threads: int
    ) -> tuple[int, int] | None:
        """Hook edges that are stored where the forests are; return the range of ids outside the forests."""
        forests = self.dense.held.forests
        outside: tuple[int, int] | None = None
        with self.dense.enter_with_others():
            for at, us, vs in by_level(source, target, level, len(forests)):
                left = forests[at].hook(us, vs, chunk=chunk_size, threads=threads)
                if left:
                    low, high = outside or left
                    outside = min(left[0], low), max(left[1], high)
        return outside

    def hook_loose(self, edges: ChunkEdges, chunk_size: int | None, threads: int) -> None:
        """Hook edges between any ids."""
        if edges.streamed:
            for rows in streaming.slices(len(edges.source), chunk_size):
                self.hook_loose(edges.on_device(rows), chunk_size, threads)
            return
        self.loose.append(Fragment.of(edges, len(self.dense.held.forests), threads))
        while len(self.loose) > 1 and len(self.loose[-2].ids) < 2 * len(self.loose[-1].ids):
            self.loose[-2:] = [unite_listed(self.loose[-2:])]

    def close(self) -> Fragment:
        """Return all of the chain's edges as one fragment, either dense or sorted."""
        dense: Fragment = self.dense.held
        if not self.loose:
            return dense
        if not len(dense.forests[0].parent):
            return unite_listed(self.loose).sort()
        with self.dense.alone():
            return unite_listed([dense.list_ids(), *self.loose]).sort()


def unite_listed(fragments: Sequence[Fragment]) -> Fragment:
    """Return the union of fragments with listed ids."""
    if len(fragments) == 1:
        return fragments[0]
    ids, places = renumber.union([one.ids for one in fragments])
    forests = move_forests(fragments[0].forests, places[0], len(ids))
    for other, place in zip(fragments[1:], places[1:], strict=True):
        for forest, more in zip(forests, other.forests, strict=True):
            forest.absorb(more, place)
    return Fragment(forests, ids)


def move_forests(forests: Sequence[Forest], slots: Any, size: int, base: int = 0) -> list[Forest]:
    """Return the forests over `size` vertices, after moving each vertex i to index `slots[i]`."""
    result = []
    for forest in forests:
        result.append(Forest(forest.parent, base=base, size=size))
        result[-1].absorb(forest, slots)
    return result


def flatten(forests: Sequence[Forest], threads: int = 1) -> None:
    """Make every tree flat, in place, and mark the vertices that occur.

    An edge that reaches a threshold also counts for all lower thresholds.
    """
    for lower, higher in reversed(list(itertools.pairwise(forests))):
        lower.absorb(higher, threads=threads)
    for forest in forests[1:]:
        if len(forests[0].parent):
            forest.cover(forests[0].base, forests[0].stop - 1)
    forests[0].mark_members(threads=threads)
    for forest in forests[1:]:
        forest.compress(threads=threads)
