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
reduced to a forest over its own ids, and only these ids are sorted and renumbered
(:mod:`~dask_graphflow.graph.numbering`).

.. [1] T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU Programming Model
   for Irregular Computations", PPoPP 2017.
.. [2] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via
   Subgraph Sampling", IPDPS 2018.
.. [3] J. Jaiganesh, M. Burtscher, "A High-Performance Connected Components Implementation for GPUs",
   HPDC 2018.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.exceptions import VertexTypeError
from dask_graphflow.graph import dtypes, frames
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.kernels import kernels_for
from dask_graphflow.operators.forests import streaming
from dask_graphflow.operators.forests.forest import Forest
from dask_graphflow.operators.forests.fragments import ChunkEdges, FragmentChain
from dask_graphflow.operators.forests.shared_forest import Start
from dask_graphflow.tasks import placement
from dask_graphflow.tasks.progress import Progress, Told

from .thresholds import levels

ANY = 1 << 62  # a number of edges for which any range of ids is dense


def not_plain() -> VertexTypeError:
    """Return the error for ids that are said to be dense and are not."""
    return VertexTypeError(
        "renumber=False needs ids below 2**63, and there are ids of 2**63 and more; leave "
        "renumber=False out"
    )


@dataclass(frozen=True)
class Components:
    """The steps of chains of tasks, and of the members of a gang (:mod:`.members`)."""

    frames: tuple[EdgeColumns, ...]  # how to read each frame of edges
    # The result's columns: the vertex columns, followed by the component columns of each threshold.
    columns: tuple[str, ...]
    # Ascending; empty if every edge counts, regardless of its weight.
    thresholds: tuple[float, ...] = ()
    partitions: int = 1  # number of partitions of all frames together
    chunk_size: int | None = None  # number of edges to hook before the trees are compressed again
    sharing: int = 1  # number of tasks that run at the same time in one process
    # Whether the edges and the result are pandas frames while the forest is on the GPU of each process.
    streamed: bool = False
    # Whether the ids are known to be dense integers, which serve as vertices themselves.
    dense: bool = False
    # Reports the chunks that are hooked, and the parts of the result.
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
        self, chain: FragmentChain | Start | None, frame: Any, position: int, partition: int = 0
    ) -> FragmentChain:
        """Hook the edges of a partition into the chain's forests, in place."""
        with self.progress.part("hook"):
            edges = self._edges(frame, self.frames[position], partition)
            if not isinstance(chain, FragmentChain):
                chain = self._new_chain(chain or self.start(), edges)
            if len(edges.source) and not self._hook_dense(chain, edges):
                chain.hook_loose(edges, self.chunk_size, self.threads)
            return chain

    def empty_chain(self, frame: Any) -> FragmentChain:
        """Return a chain without edges, given an empty frame like those of the edges."""
        return self._new_chain(self.start(), self._edges(frame, self.frames[0], 0))

    def _new_chain(self, start: Start, edges: ChunkEdges) -> FragmentChain:
        return FragmentChain.start(start.open(), edges, max(1, len(self.thresholds)))

    def _hook_dense(self, chain: FragmentChain, edges: ChunkEdges) -> bool:
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

    def _edges(self, frame: Any, columns: EdgeColumns, partition: int) -> ChunkEdges:
        source, target, weight = columns.ends(frame, partition)
        streamed = self.streamed and frames.is_pandas(type(frame))
        if not self.thresholds:
            return ChunkEdges(source, target, streamed=streamed)
        if weight is not None:
            return ChunkEdges(source, target, levels(weight, self.thresholds), streamed)
        xp, dtype = kernels_for(frame).namespace, np.min_scalar_type(len(self.thresholds))
        return ChunkEdges(source, target, xp.full(len(source), columns.level, dtype), streamed)

    # Label the vertices

    def label_named(self, roots: Sequence[Any], ids: Any, *where: Any) -> Any:
        """Return a share of the vertices, and their components; see :func:`label_columns`."""
        values = label_columns(roots, ids, *where)
        frame = frames.build(type(ids), dict(zip(self.columns, values, strict=True)))
        return self._typed(streaming.device().kernels.to_pandas(frame)) if self.streamed else frame

    def label_dense(self, forests: list[Forest], low: int, high: int) -> Any:
        """Return the vertices between `low` and `high` - 1 and their components, if ids are dense."""
        dtype = self.frames[0].dtypes[0]
        kind = pd.DataFrame if self.streamed else frames.kind(forests[0].kernels)
        if frames.is_pandas(kind) and not dtypes.is_integer(dtype):
            # If there are no edges, ids of any type get here, and Arrow can cast integers to few types.
            return kind({column: [] for column in self.columns}, dtype=dtype)
        numbers = frames.are_integers([dtype])
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


def label_columns(
    roots: Sequence[Any], ids: Any, low: int, first: int, heads: Sequence[tuple[Any, Any]]
) -> list[Any]:
    """Return the columns of a share of an owner's range: the vertices, and their components.

    `roots` has the roots of the share's vertices, per threshold. The share begins at row `first` of `ids`,
    the ids of the owner's range, whose first vertex is `low`. `heads` are roots in earlier ranges,
    ascending, with their ids.
    """
    xp = kernels_for(roots[0]).namespace
    before = xp.concatenate([xp.zeros(0, "int64"), *(own for own, _ in heads)])
    names = frames.stack([*(names for _, names in heads), ids.iloc[:0]])
    vertices = ids.iloc[first : first + len(roots[0])].reset_index(drop=True)
    result = [vertices[column] for column in vertices.columns]
    for own in roots:
        inside, outside = xp.flatnonzero(own >= low), xp.flatnonzero(own < low)
        # Take ids from both frames and reorder them. This copies only the ids of this share, and not
        # those of the whole range.
        other = names.iloc[xp.searchsorted(before, own[outside])]
        taken = frames.stack([ids.iloc[own[inside] - low], other])
        order = xp.empty(len(own), "int64")
        order[xp.concatenate([inside, outside])] = xp.arange(len(own))
        components = taken.iloc[order].reset_index(drop=True)
        result += [components[column] for column in ids.columns]
    return result
