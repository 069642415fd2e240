"""Connected components of a stream of edges, from the first edge to the last label.

Each edge (u, v) is *hooked*: the higher root of u and v becomes a child of the lower one. This uses
compare-and-swap, so any number of threads can hook into the same forest [1]_. The first chunk of a chain
is sampled, and the trees of the sample are *compressed*. The full pass then skips every edge inside one of
these trees by comparing two parents; on a power-law graph, this skips nearly all edges (Afforest [2]_).
Each find shortens the path that it follows (ECL-CC [3]_). The chunks of a chain share one forest. The
forests of the chains are *merged* by hooking their entries (i, parent[i]), in a tree, in a ring, or one
after another. A forest can be merged slice by slice while it is sent. The merged forest is *broadcast* to
the workers that label the vertices (Groute [1]_).

Dense integer ids are used as vertices directly. Other ids are numbered chunk by chunk: each chunk is
reduced to a forest over its own ids, and only these ids are sorted and renumbered (:mod:`.numbering`).

.. [1] T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU Programming Model
   for Irregular Computations", PPoPP 2017.
.. [2] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via
   Subgraph Sampling", IPDPS 2018.
.. [3] J. Jaiganesh, M. Burtscher, "A High-Performance Connected Components Implementation for GPUs",
   HPDC 2018.
"""

from __future__ import annotations

import itertools
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.exceptions import VertexTypeError, WorkerLostError
from dask_graphflow.graph import dtypes, frames
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.kernels import kernels_for
from dask_graphflow.scheduling import placement
from dask_graphflow.scheduling.progress import Progress, Told

from . import numbering, streaming
from .forest import Entries, Forest
from .fragments import Chain, Edges, Fragment, flatten
from .shared_forest import Start
from .thresholds import levels

Absorbed = tuple[list[Forest], list[str]]
"""Forests that slices of others are hooked into, and the tokens of these slices.

This is a plain tuple with the forests first, because Dask's serializers for arrays do not look into other
types.
"""

ANY = 1 << 62  # a number of edges for which any range of ids is dense


def not_plain() -> VertexTypeError:
    """Return the error for ids that are said to be dense and are not."""
    return VertexTypeError(
        "renumber=False needs ids below 2**63, and there are ids of 2**63 and more; leave "
        "renumber=False out"
    )


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
        Number of edges to hook before the trees are compressed again.
    sharing : int
        Number of tasks that run at the same time in one process.
    streamed : bool
        Whether the edges and the result are pandas frames while the forest is on the GPU of each process.
    dense : bool
        Whether the ids are known to be dense integers, which serve as vertices themselves.
    progress : Told
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
    progress: Told = field(default_factory=lambda: Progress(None), compare=False)

    @property
    def threads(self) -> int:
        """Host threads that a task may use."""
        return placement.task_threads(self.sharing)

    # Hook

    def start(self) -> Start:
        """Return what the chains of a process start from."""
        return Start()

    def hook(
        self, chain: Chain | Start | None, frame: Any, position: int, partition: int = 0
    ) -> Chain:
        """Hook the edges of a partition into the chain's forests, in place."""
        with self.progress.part("hook"):
            edges = self._edges(frame, self.frames[position], partition)
            if not isinstance(chain, Chain):
                shared = (chain or self.start()).shared
                chain = Chain.start(shared, edges, max(1, len(self.thresholds)))
            if len(edges.source) and not self._hook_dense(chain, edges):
                chain.hook_loose(edges, self.chunk_size, self.threads)
            return chain

    def _hook_dense(self, chain: Chain, edges: Edges) -> bool:
        """Hook edges chunk by chunk, with their ids as vertices. Return False if the ids are not dense."""
        if len(edges.source.series) > 1 or not dtypes.is_integer(self.frames[0].dtypes[0]):
            return False
        total = ANY if self.dense else len(edges.source) * self.partitions
        bounds, unsigned = edges.bounds()
        if not chain.cover(bounds, total, unsigned):
            return False
        with closing(chain.chunks(edges, bounds, self.chunk_size, total, self.threads)) as chunks:
            for chunk in chunks:
                # The bounds are a guess. If an id is outside, the forest grows, and the chunk is hooked
                # once more. This changes nothing for the edges that were hooked before.
                while outside := chain.hook(*chunk, self.chunk_size, self.threads):
                    if not chain.cover(outside, total, unsigned):
                        return False
        return True

    def _edges(self, frame: Any, columns: EdgeColumns, partition: int) -> Edges:
        source, target, weight = columns.ends(frame, partition)
        streamed = self.streamed and frames.is_pandas(type(frame))
        if not self.thresholds:
            return Edges(source, target, streamed=streamed)
        if weight is not None:
            return Edges(source, target, levels(weight, self.thresholds), streamed)
        xp, dtype = kernels_for(frame).namespace, np.min_scalar_type(len(self.thresholds))
        return Edges(source, target, xp.full(len(source), columns.level, dtype), streamed)

    def close(self, chain: Chain) -> Fragment:
        """Return the fragment that a chain has made."""
        return chain.close()

    def plain(self, fragment: Fragment, surveys: Any = ()) -> list[Forest]:
        """Return the forests of a fragment that is said to be dense.

        The surveys are not used. They delay this step until all chains have been hooked.

        Raises
        ------
        VertexTypeError
            The fragment is not dense.
        """
        if not fragment.dense:
            raise not_plain()
        return fragment.forests

    # Number ids that are not dense

    survey = staticmethod(numbering.survey)
    number = staticmethod(numbering.number)
    piece = staticmethod(numbering.piece)
    own = staticmethod(numbering.own)
    size = staticmethod(numbering.size)
    codes = staticmethod(numbering.codes)
    renumber = staticmethod(numbering.renumbered)

    # Merge, the whole forest at once or slice by slice

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
                "workers were lost while a forest was sent in slices, and again while it was sent a second "
                "time, so its slices do not fit together. Nothing is wrong with the edges; compute the "
                "result again, or with merge_chunks=1"
            )
        return forests

    def finish(self, forests: list[Forest]) -> list[Forest]:
        """Compress the merged forests: every vertex points at its root."""
        flatten(forests, self.threads)
        return forests

    # Broadcast, and label the vertices

    head = staticmethod(numbering.head)

    def label(
        self,
        forests: list[Forest],
        owned: tuple[Any, list[Any]] | None,
        numbers: numbering.Numbering,
        sizes: list[Any],
        owner: int,
        heads: list[Any],
        share: int = 0,
        shares: int = 1,
    ) -> Any:
        """Return a share of the vertices in an owner's range, and their components."""
        with self.progress.part("label"):
            if owned is None:
                part = owner * shares + share
                return self.label_dense(forests, *numbers.bounds[part : part + 2])
            roots, low, first = numbering.share_of(forests, sizes, owner, share, shares)
            labels = self.label_named(roots, owned[0], low, first, heads)
            if not self.streamed:
                return labels
            return self._typed(streaming.device().kernels.to_pandas(labels))

    def label_named(self, roots: list[Any], ids: Any, *where: Any) -> Any:
        """Return a share of the vertices, and their components; see :func:`.numbering.columns`."""
        values = numbering.columns(roots, ids, *where)
        return frames.build(type(ids), dict(zip(self.columns, values, strict=True)))

    def label_plain(self, forests: list[Forest], part: int, parts: int) -> Any:
        """Return a part of the vertices, and their components, if the ids are dense."""
        low, high = forests[0].base, forests[0].stop
        bounds = [low + (high - low) * i // parts for i in (part, part + 1)]
        with self.progress.part("label"):
            return self.label_dense(forests, *bounds)

    def label_dense(self, forests: list[Forest], low: int, high: int) -> Any:
        """Return the vertices between `low` and `high` - 1 and their components, if ids are dense."""
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
