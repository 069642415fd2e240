"""Fragments: forests over the ids that some edges hold, before the whole graph is numbered."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from dask_graphflow.graph import edgelist, frames, renumber
from dask_graphflow.kernels import kernels_for
from dask_graphflow.operators.forest import Forest
from dask_graphflow.operators.plan import Plan

from .shared import Shared

__all__ = ["Chain", "Edges", "Fragment", "flatten", "moved"]

SPARE_IDS = 1 << 22  # a range of integer ids up to this is dense whatever the edges
IDS_PER_EDGE = 4  # and beyond it while it is no wider than this many times the edges


def is_dense(low: int, high: int, edges: int) -> bool:
    """Say whether the ids `low` to `high` are worth a forest entry each, used or not."""
    return high < 2**63 and high - low < max(SPARE_IDS, IDS_PER_EDGE * edges)


@dataclass
class Edges:
    """The edges of a chunk, each with the highest threshold that it reaches.

    Attributes
    ----------
    source, target : frame of ids
    level : array of integers, shape (m,), or None
        0 for an edge below every threshold, k for one that reaches the k-th. None for all 1.
    """

    source: Any
    target: Any
    level: Any = None

    def at(self, source: Any, target: Any, levels: int) -> Iterator[tuple[int, Any, Any]]:
        """Yield ``(forest, sources, targets)``, given the ends as arrays of indices.

        An edge below every threshold still says that its ends exist: each is joined to itself.
        """
        if self.level is None:
            yield 0, source, target
            return
        for level in range(levels):
            reached = self.level == level + 1
            yield level, source[reached], target[reached]
        below = self.level == 0
        yield 0, source[below], source[below]
        yield 0, target[below], target[below]


@dataclass
class Fragment:
    """What some edges say.

    Attributes
    ----------
    forests : list of Forest
        One a threshold, ascending; an edge is in the forest of the highest that it reaches.
    ids : frame
        Row i is the id of vertex i. Empty where `dense`.
    dense : bool
        The vertices are the ids.
    token : str
        This fragment's own.
    """

    forests: list[Forest]
    ids: Any
    dense: bool = False
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __sizeof__(self) -> int:
        return sum(f.__sizeof__() for f in self.forests) + int(self.ids.memory_usage().sum())

    def fingerprint(self) -> tuple[Any, ...]:
        """Return what two fragments have in common only if they have the same ids in the same order."""
        if self.dense:
            # Another chain may hook more into it: then it is another one.
            return self.token, self.forests[0].counts["edges"]
        first = self.ids[self.ids.columns[0]]
        return len(first), int(first.sum()) if edgelist.is_integer(first.dtype) else None

    def over(self, low: int, high: int) -> list[Forest]:
        """Return the forests over the vertices that are the integer ids `low` to `high` - 1."""
        if self.dense:
            return self.forests
        values = self.forests[0].kernels.asarray(self.ids[self.ids.columns[0]]) - low
        return moved(self.forests, values, high - low, base=low)

    @classmethod
    def of(cls, edges: Edges, levels: int, threads: int) -> Fragment:
        """Reduce edges between any ids to forests over those ids."""
        codes, ids = renumber.factorize(frames.stack([edges.source, edges.target]))
        forests = [Forest(codes, size=len(ids)) for _ in range(levels)]
        half = len(edges.source)
        for level, source, target in edges.at(codes[:half], codes[half:], levels):
            forests[level].hook(source, target, threads=threads)
        for forest in forests:
            forest.compress(threads=threads)
        return cls(forests, ids)

    def join(self, other: Fragment) -> Fragment:
        """Return what both say."""
        ids, (mine, theirs) = renumber.union([self.ids, other.ids])
        forests = moved(self.forests, mine, len(ids))
        for forest, more in zip(forests, other.forests, strict=True):
            forest.absorb(more, theirs)
        return Fragment(forests, ids)

    def sorted(self) -> Fragment:
        """Return the fragment, which is not dense, with its ids in order."""
        ids, rank = renumber.sort(self.ids)
        return Fragment(moved(self.forests, rank, len(ids)), ids)

    def numbered(self) -> Fragment:
        """Return the fragment with its ids listed, dense or not; in order, if it was."""
        if not self.dense:
            return self
        flatten(self.forests)
        first = self.forests[0]
        xp = first.kernels.namespace
        vertices = first.members(first.base, first.stop)
        slots = xp.zeros(len(first.parent), first.parent.dtype)
        slots[vertices - first.base] = xp.arange(len(vertices), dtype=slots.dtype)
        column = self.ids.columns[0]
        ids = type(self.ids)({column: vertices}).astype(self.ids.dtypes.iloc[0])
        return Fragment(moved(self.forests, slots, len(vertices)), ids)


@dataclass
class Chain:
    """What a chain of chunks has found so far; it grows in place.

    Chunks of dense ids are hooked into the fragment that `dense` holds for all chains of the process.
    Others leave a fragment each in `loose`; neighbours of like size are joined, so that an id is copied
    at most a logarithmic number of times.
    """

    dense: Shared
    loose: list[Fragment] = field(default_factory=list)

    def __sizeof__(self) -> int:
        return self.dense.__sizeof__() + sum(f.__sizeof__() for f in self.loose)

    @classmethod
    def start(cls, dense: Shared, edges: Edges, levels: int) -> Chain:
        """Return a chain that has found nothing of its own, for edges of that kind."""
        with dense.alone():
            if dense.held is None:
                like = kernels_for(edges.source).namespace.zeros(0)
                forests = [Forest(like) for _ in range(levels)]
                dense.held = Fragment(forests, frames.empty_like(edges.source), dense=True)
        return cls(dense)

    def hook_dense(self, edges: Edges, chunk_size: int | None, total: int, threads: int) -> bool:
        """Hook edges whose integer ids are vertices as they are; say whether they could be.

        Parameters
        ----------
        edges : Edges
        chunk_size : int or None
            Edges to hook before the trees are made flat again, if not as the plan says.
        total : int
            Edges of the whole graph, as far as is known.
        threads : int
        """
        forests = self.dense.held.forests
        kernels = forests[0].kernels
        source, target = (
            kernels.asarray(side[side.columns[0]]) for side in (edges.source, edges.target)
        )
        # The range is guessed from a few ids; hooking says what lies outside it, and is repeated.
        step = max(1, len(source) // renumber.SAMPLE)
        outside: tuple[int, int] | None = kernels.bounds(source, target, step=step)
        while outside:
            low, high = outside
            with self.dense.alone(unless=partial(forests[-1].covers, low, high)) as alone:
                if alone:
                    if len(forests[0].parent):
                        low, high = min(low, forests[0].base), max(high, forests[0].stop - 1)
                    # Unsigned ids past int64 look negative to the kernels: they are renumbered.
                    if not is_dense(low, high, total) or (low < 0 and source.dtype.kind == "u"):
                        return False
                    # A guess falls short by about a part in as many as were looked at: eight
                    # times that to spare, and later chunks seldom make the forest grow again.
                    spare = (high - low) * 8 // (2 * renumber.SAMPLE)
                    low = low - spare if low < 0 else max(0, low - spare)
                    for forest in forests:
                        forest.cover(low, high + spare)
            plan = None
            if chunk_size:
                plan = replace(
                    Plan.for_graph(
                        len(forests[0].parent), len(source), sampled=forests[0].kernels.SAMPLED
                    ),
                    chunk=chunk_size,
                )
            outside = None
            with self.dense.beside_others():
                for level, us, vs in edges.at(source, target, len(forests)):
                    left = forests[level].hook(us, vs, plan=plan, threads=threads)
                    if left:
                        low, high = outside or left
                        outside = min(left[0], low), max(left[1], high)
        return True

    def hook_loose(self, edges: Edges, threads: int) -> None:
        """Hook edges between any ids."""
        self.loose.append(Fragment.of(edges, len(self.dense.held.forests), threads))
        while len(self.loose) > 1 and len(self.loose[-2].ids) < 2 * len(self.loose[-1].ids):
            last = self.loose.pop()
            self.loose[-1] = self.loose[-1].join(last)

    def close(self) -> Fragment:
        """Return all that the chain has found as one fragment, dense or sorted."""
        dense: Fragment = self.dense.held
        if not self.loose:
            return dense
        pieces = [*self.loose]
        if len(dense.forests[0].parent):
            with self.dense.alone():
                pieces.insert(0, dense.numbered())
        fragment, *rest = pieces[::-1]
        for piece in rest:
            fragment = fragment.join(piece)
        return fragment.sorted()


def moved(forests: Sequence[Forest], slots: Any, size: int, base: int = 0) -> list[Forest]:
    """Return forests over `size` vertices, in which vertex i of the given ones is the `slots[i]`-th."""
    result = []
    for forest in forests:
        result.append(Forest(forest.parent, base=base, size=size))
        result[-1].absorb(forest, slots)
    return result


def flatten(forests: Sequence[Forest], threads: int = 1) -> None:
    """Make every tree flat, in place, and find the members.

    An edge that reached a threshold counts for those below it too.
    """
    for lower, higher in reversed(list(itertools.pairwise(forests))):
        lower.absorb(higher, threads=threads)
    for forest in forests[1:]:
        if len(forests[0].parent):
            forest.cover(forests[0].base, forests[0].stop - 1)
    forests[0].mark_members(threads=threads)
    for forest in forests[1:]:
        forest.compress(threads=threads)
