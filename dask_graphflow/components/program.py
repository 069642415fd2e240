"""The steps of a reduction to connected components."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pandas as pd

from dask_graphflow.exceptions import VertexTypeError, WorkerLostError
from dask_graphflow.graph import dtypes, frames, renumber
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.renumber import is_dense
from dask_graphflow.kernels import index_dtype, kernels_for
from dask_graphflow.scheduling import placement
from dask_graphflow.scheduling.progress import Progress, Told

from . import streaming
from .forest import Entries, Forest
from .fragments import Chain, Edges, Fragment, flatten, moved
from .shared_forest import Shared
from .thresholds import levels

__all__ = ["Components"]


Absorbed = tuple[list[Forest], list[str]]
"""Forests that slices of others are hooked into, and the tokens of these slices.

This is a plain tuple with the forests first, because Dask's serializers for arrays do not look into other
types.
"""

Step = TypeVar("Step", bound=Callable[..., Any])

ANY = 1 << 62  # a number of edges for which any range of ids is dense


class Survey(NamedTuple):
    """Facts about a fragment: the range of its ids if dense, otherwise a sample of ids; its fingerprint."""

    low: Any
    high: Any
    ids: Any
    fingerprint: tuple[Any, ...]


class Numbering(NamedTuple):
    """How the vertices of the whole graph are numbered.

    Attributes
    ----------
    bounds : list of int or None
        If the ids are dense, the vertices where the parts of the result begin, and where the last one ends.
    cuts : frame or None
        If the ids are not dense, the ids at which the owners' ranges are cut.
    fingerprints : list of tuple
        The fingerprint of each chain's fragment.
    """

    bounds: Any
    cuts: Any
    fingerprints: list[tuple[Any, ...]]


def _part(stage: str) -> Callable[[Step], Step]:
    """Make a step report progress: it does one part of a stage."""

    def tells(step: Step) -> Step:
        @wraps(step)
        def told(self: Components, *arguments: Any) -> Any:
            with self.told.part(stage):
                return step(self, *arguments)

        return cast("Step", told)

    return tells


@dataclass(frozen=True)
class Components:
    """The steps of :class:`~dask_graphflow.scheduling.forest_expr.ForestReduction`.

    Attributes
    ----------
    frames : tuple of EdgeColumns
        How to read each frame of edges.
    columns : tuple of str
        The result's columns: the vertex columns, followed by the component columns of each threshold.
    thresholds : tuple of int or float
        Ascending; empty if every edge counts, regardless of its weight.
    partitions : int
        Number of partitions of all frames together.
    chunk_size : int or None
        Number of edges to hook before the trees are made flat again.
    sharing : int
        Number of tasks that run at the same time in one process.
    streamed : bool
        Whether the edges and the result are pandas frames while the forest is on the GPU of each process.
    dense : bool
        Whether the ids are known to be dense integers, which serve as vertices themselves.
    told : Told
        Reports the chunks that are hooked, and the parts of the result.
    """

    frames: tuple[EdgeColumns, ...]
    columns: tuple[str, ...]
    thresholds: tuple[float, ...] = ()
    partitions: int = 1
    chunk_size: int | None = None
    sharing: int = 1
    streamed: bool = False
    dense: bool = False
    told: Told = field(default_factory=lambda: Progress(None), compare=False)

    @property
    def threads(self) -> int:
        """Host threads that a task may use."""
        return placement.task_threads(self.sharing)

    def start(self) -> Shared:
        """Return the holder that the chains of a process share."""
        return Shared()

    @_part("hook")
    def hook(
        self, chain: Chain | Shared | None, frame: Any, position: int, partition: int = 0
    ) -> Chain:
        """Hook a chunk into the chain's forests, in place."""
        edges = self._edges(frame, self.frames[position], partition)
        if not isinstance(chain, Chain):
            chain = Chain.start(chain or self.start(), edges, max(1, len(self.thresholds)))
        rows = len(edges.source)
        if not rows:
            return chain
        if len(edges.source.series) == 1 and dtypes.is_integer(self.frames[0].dtypes[0]):
            total = ANY if self.dense else rows * self.partitions
            if chain.hook_dense(edges, self.chunk_size, total, self.threads):
                return chain
        chain.hook_loose(edges, self.chunk_size, self.threads)
        return chain

    def _edges(self, frame: Any, columns: EdgeColumns, partition: int) -> Edges:
        source, target, weight = columns.ends(frame, partition)
        streamed = self.streamed and frames.is_pandas(type(frame))
        if not self.thresholds:
            return Edges(source, target, streamed=streamed)
        if weight is None:
            count = len(self.thresholds)
            xp = kernels_for(frame).namespace
            level = xp.full(len(source), columns.level, np.min_scalar_type(count))
        else:
            level = levels(weight, self.thresholds)
        return Edges(source, target, level, streamed)

    def plain(self, fragment: Fragment, surveys: Sequence[Survey] = ()) -> list[Forest]:
        """Return the forests of a fragment that is said to be dense.

        The surveys are not used. They delay this step until all chains have been hooked.

        Raises
        ------
        VertexTypeError
            The fragment is not dense.
        """
        if not fragment.dense:
            raise VertexTypeError(
                "renumber=False needs ids below 2**63, and there are ids of 2**63 and more; leave "
                "renumber=False out"
            )
        return fragment.forests

    def close(self, chain: Chain) -> Fragment:
        """Return the fragment that a chain has found."""
        return chain.close()

    def survey(self, fragment: Fragment) -> Survey:
        """Return the facts about a fragment from which the numbering is chosen."""
        if not fragment.dense:
            return Survey(None, None, renumber.sample(fragment.ids), fragment.fingerprint())
        forest = fragment.forests[0]
        # The ids of a dense fragment are not listed, so `fragment.ids` is empty.
        return Survey(forest.base, forest.stop, fragment.ids, fragment.fingerprint())

    def number(self, surveys: list[Survey], owners: int, shares: int = 1) -> Numbering:
        """Choose the numbering."""
        fingerprints = [survey.fingerprint for survey in surveys]
        # The chains of one process share a forest, so their ranges are the same: count each range once.
        ranges = {(s.low, s.high) for s in surveys if s.low is not None and s.high > s.low}
        loose = [s.ids for s in surveys if s.low is None and len(s.ids)]
        if not loose:
            low = min((low for low, _ in ranges), default=0)
            high = max((high for _, high in ranges), default=0)
            if is_dense(low, high, sum(high - low for low, high in ranges)):
                parts = owners * shares
                bounds = [low + (high - low) * i // parts for i in range(parts + 1)]
                return Numbering(bounds, None, fingerprints)
        empty = frames.empty_like(surveys[0].ids)
        dense = [renumber.sample_range(low, high, empty) for low, high in sorted(ranges)]
        return Numbering(None, renumber.splitters([*loose, *dense], owners), fingerprints)

    def piece(
        self, fragments: list[Fragment], numbering: Numbering, owner: int
    ) -> list[Any] | None:
        """Return the ids of some fragments in an owner's range; None if the ids are dense."""
        if numbering.bounds:
            return None
        return [renumber.piece(one.numbered().ids, numbering.cuts, owner) for one in fragments]

    def own(self, pieces: list[list[Any] | None]) -> tuple[Any, list[Any]] | None:
        """Return an owner's ids in order and, for each chain, the index among them of each id it sent."""
        sent = [piece for some in pieces for piece in some or ()]
        return renumber.merge(sent) if sent else None

    def size(self, owned: tuple[Any, list[Any]] | None) -> int | None:
        """Return the number of ids that an owner has; None if the ids are dense."""
        return None if owned is None else len(owned[0])

    def codes(
        self, owned: tuple[Any, list[Any]] | None, first: int, count: int
    ) -> list[Any] | None:
        """Return the indices, among an owner's ids, of the ids that some chains sent to it."""
        return None if owned is None else owned[1][first : first + count]

    def renumber(
        self,
        fragment: Fragment,
        numbering: Numbering,
        chain: int,
        sizes: list[Any],
        codes: list[Any],
        place: int = 0,
    ) -> list[Forest]:
        """Return a fragment's forests over the vertices of the whole graph.

        Each entry of `codes` contains the answers of one owner to some chains. This chain's is at `place`.

        If a worker was lost after the numbering, its chains ran again on another worker, together with that
        worker's chains. Their fragment may then have a different form although it is equivalent.

        Raises
        ------
        WorkerLostError
            The ids of the fragment differ from the ids that were numbered.
        """
        if numbering.bounds:
            return fragment.over(numbering.bounds[0], numbering.bounds[-1])
        same = fragment.fingerprint() == numbering.fingerprints[chain]
        fragment = fragment.numbered()
        own = [some[place] for some in codes]
        if not same or len(fragment.ids) != sum(map(len, own)):
            raise WorkerLostError(
                "a worker was lost while the ids were numbered, and its part of the result was stored in "
                "another form when it was computed again: some workers have dense ids and others do not. "
                "Nothing is wrong with the edges; compute once more"
            )
        xp = fragment.forests[0].kernels.namespace
        bounds = _bounds(sizes)
        dtype = index_dtype(bounds[-1])
        slots = [code.astype(dtype) + low for code, low in zip(own, bounds, strict=False)]
        return moved(fragment.forests, xp.concatenate(slots), bounds[-1])

    def merge(self, into: list[Forest], other: list[Forest]) -> list[Forest]:
        """Merge the other forests into these, in place."""
        for forest, more in zip(into, other, strict=True):
            forest.absorb(more, threads=self.threads)
        return into

    def cut(self, forests: list[Forest], count: int) -> list[list[Entries]]:
        """Cut forests into slices. Each slice contains the entries of all thresholds' forests."""
        slices = zip(*(forest.cut(count) for forest in forests), strict=True)
        return [list(part) for part in slices]

    def absorb(self, into: list[Forest] | Absorbed, part: list[Entries]) -> Absorbed:
        """Merge one slice into these forests, in place."""
        forests, tokens = into if isinstance(into, tuple) else (into, [])
        for forest, entries in zip(forests, part, strict=True):
            forest.absorb(entries, threads=self.threads)
        return forests, [*tokens, part[0].token]

    def tokens(self, absorbed: Absorbed) -> list[str]:
        """Return the token of each slice, which identifies the cut that it is from."""
        return absorbed[1]

    def mend(self, forests: list[Forest], tokens: list[str]) -> list[Forest] | None:
        """Return the forests that slices were cut from if the slices are not all of the same cut.

        If a worker was lost between two slices, its chains ran again on another worker, together with that
        worker's chains. Slices that came later are from forests in which the same vertices may have other
        roots. Only all slices of the same cut together contain all of its connections.
        """
        return None if len(set(tokens)) == 1 else forests

    def mended(self, into: Absorbed, more: list[Forest] | None) -> list[Forest]:
        """Return the forests that all slices were merged into, after merging the result of :meth:`mend`.

        Raises
        ------
        WorkerLostError
            The slices are not those whose tokens :meth:`mend` got.
        """
        forests, tokens = into
        if more is not None:
            return self.merge(forests, more)
        if len(set(tokens)) > 1:
            raise WorkerLostError(
                "workers were lost while a forest travelled in slices, and again while it was sent once "
                "more, so that its slices do not fit together. Nothing is wrong with the edges; compute "
                "once more, or with merge_chunks=1"
            )
        return forests

    def finish(self, forests: list[Forest]) -> list[Forest]:
        """Make every tree flat."""
        flatten(forests, self.threads)
        return forests

    def head(
        self,
        forests: list[Forest],
        owned: tuple[Any, list[Any]] | None,
        sizes: list[Any],
        owner: int,
        later: range,
    ) -> tuple[Any, Any] | None:
        """Return the roots in an owner's range that vertices in the `later` ranges have, and their ids."""
        if owned is None:
            return None
        ids, xp, bounds = owned[0], forests[0].kernels.namespace, _bounds(sizes)
        start, stop = bounds[later.start], bounds[later.stop]
        roots = xp.unique(xp.concatenate([forest.parent[start:stop] for forest in forests]))
        roots = roots[(roots >= bounds[owner]) & (roots < bounds[owner + 1])]
        return roots, ids.iloc[roots - bounds[owner]]

    @_part("label")
    def label(
        self,
        forests: list[Forest],
        owned: tuple[Any, list[Any]] | None,
        numbering: Numbering,
        sizes: list[Any],
        owner: int,
        heads: list[Any],
        share: int = 0,
        shares: int = 1,
    ) -> Any:
        """Return a share of the vertices in an owner's range, and their components."""
        if owned is None:
            part = owner * shares + share
            return self._label_dense(forests, *numbering.bounds[part : part + 2])
        ids, xp = owned[0], forests[0].kernels.namespace
        low = _bounds(sizes)[owner]
        first, last = (len(ids) * i // shares for i in (share, share + 1))
        before = xp.concatenate([xp.zeros(0, "int64"), *(roots for roots, _ in heads)])
        named = frames.stack([*(names for _, names in heads), ids.iloc[:0]])
        own = ids.iloc[first:last].reset_index(drop=True)
        parts = [own[column] for column in own.columns]
        for forest in forests:
            roots = forest.parent[low + first : low + last]
            inside, outside = xp.flatnonzero(roots >= low), xp.flatnonzero(roots < low)
            # Take ids from both frames and reorder them. This copies only the ids of this share, and not
            # those of the whole range.
            taken = frames.stack(
                [
                    ids.iloc[roots[inside] - low],
                    named.iloc[xp.searchsorted(before, roots[outside])],
                ]
            )
            order = xp.empty(len(roots), "int64")
            order[xp.concatenate([inside, outside])] = xp.arange(len(roots))
            found = taken.iloc[order].reset_index(drop=True)
            parts += [found[column] for column in ids.columns]
        found = frames.build(type(ids), dict(zip(self.columns, parts, strict=True)))
        if not self.streamed:
            return found
        return self._typed(streaming.device().kernels.to_pandas(found))

    @_part("label")
    def label_plain(self, forests: list[Forest], part: int, parts: int) -> Any:
        """Return a part of the vertices, and their components, if the ids are dense."""
        low, high = forests[0].base, forests[0].stop
        bounds = [low + (high - low) * i // parts for i in (part, part + 1)]
        return self._label_dense(forests, *bounds)

    def _label_dense(self, forests: list[Forest], low: int, high: int) -> Any:
        dtype = self.frames[0].dtypes[0]
        kind = pd.DataFrame if self.streamed else frames.kind(forests[0].kernels)
        if frames.is_pandas(kind) and not dtypes.is_integer(dtype):
            # If there are no edges, ids of any type get here, and Arrow can cast integers to few types.
            return kind({column: [] for column in self.columns}, dtype=dtype)
        numbers = isinstance(dtype, np.dtype) and dtype.kind in "iu"
        plain = dtype if numbers else np.dtype("int64")
        vertices, roots = forests[0].labels(low, high, plain)
        values = [vertices, roots, *(f.roots(vertices).astype(plain) for f in forests[1:])]
        if self.streamed:
            values = [forests[0].kernels.to_host(value) for value in values]
            columns = dict(zip(self.columns, values, strict=True))
            return self._typed(frames.build(pd.DataFrame, columns))
        frame = frames.build(kind, dict(zip(self.columns, values, strict=True)))
        return frame if plain == dtype else frame.astype(dtype)

    def _typed(self, frame: Any) -> Any:
        """Convert a result that was on the device to the dtypes of the edges' ids."""
        of_ids = itertools.cycle(self.frames[0].dtypes)
        return frame.astype(dict(zip(self.columns, of_ids, strict=False)))


def _bounds(sizes: list[int]) -> list[int]:
    """Return the first vertex of each owner's range, and one past the last."""
    return list(itertools.accumulate(sizes, initial=0))
