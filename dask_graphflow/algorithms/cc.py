"""Connected components of an undirected graph, from its edge list.

Returns a frame of every vertex and its component, which is named by the smallest vertex in it.

Each edge (u, v) is *hooked*: of the roots of u and v the higher one is made a child of the lower, by
compare-and-swap, so any number of threads may hook into one forest [1]_. The first chunk of a chain is
sampled: with the trees of the sample made flat, the full pass skips every edge inside one of them by
comparing two parents, which on a power-law graph is nearly all of them (Afforest [2]_). Finds shorten
the path that they walk (ECL-CC [3]_). A chain of chunks shares one forest, and the forests of the chains
are merged by hooking their entries (i, parent[i]) in a tree (Groute [1]_).

Ids that are dense integers are vertices as they are. Others are numbered chunk by chunk, each chunk is
reduced to a forest over the ids that it holds, and only those ids are sorted and renumbered.

.. [1] T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU Programming Model
   for Irregular Computations", PPoPP 2017.
.. [2] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via
   Subgraph Sampling", IPDPS 2018.
.. [3] J. Jaiganesh, M. Burtscher, "A High-Performance Connected Components Implementation for GPUs",
   HPDC 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd

from dask_graphflow.dataflow import placement, trees
from dask_graphflow.dataflow.expr import ForestReduction, collection, held_by
from dask_graphflow.exceptions import EdgeListError, OptionError, WeightError
from dask_graphflow.graph import edgelist, renumber
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.kernels import kernels_for
from dask_graphflow.operators.forest import Forest
from dask_graphflow.operators.plan import Plan

from .fragments import Chain, Edges, Fragment, flatten, is_dense, moved

__all__ = ["Components", "connected_components"]

MOST_OWNERS = 32


@dataclass(frozen=True)
class Components:
    """What :class:`~dask_graphflow.dataflow.expr.ForestReduction` does at each step.

    Attributes
    ----------
    frames : tuple of EdgeColumns
        How to read each frame of edges.
    columns : tuple of str
        The result's columns: the vertex's, then each threshold's component's.
    thresholds : tuple of float
        Ascending; empty to take every edge whatever it weighs.
    partitions : int
        Partitions of all frames together.
    chunk_size : int or None
        Edges to hook before the trees are made flat again.
    sharing : int
        Tasks that run beside each other in one process.
    """

    frames: tuple[EdgeColumns, ...]
    columns: tuple[str, ...]
    thresholds: tuple[float, ...] = ()
    partitions: int = 1
    chunk_size: int | None = None
    sharing: int = 1

    @property
    def threads(self) -> int:
        """Host threads that a task may use."""
        return placement.task_threads(self.sharing)

    def hook(self, chain: Chain | None, frame: Any, position: int) -> Chain:
        """Hook a chunk into the chain's forests, in place."""
        edges = self._edges(frame, self.frames[position])
        chain = chain or Chain.start(edges, max(1, len(self.thresholds)))
        rows = len(edges.source)
        if not rows:
            return chain
        if len(edges.source.columns) == 1 and edgelist.is_integer(self.frames[0].dtypes[0]):
            plan = self.chunk_size and replace(Plan.for_graph(1, rows), chunk=self.chunk_size)
            if chain.hook_dense(edges, plan or None, rows * self.partitions, self.threads):
                return chain
        chain.hook_loose(edges, self.threads)
        return chain

    def _edges(self, frame: Any, columns: EdgeColumns) -> Edges:
        source, target, weight = columns.ends(frame)
        if not self.thresholds:
            return Edges(source, target)
        kernels = kernels_for(frame)
        xp = kernels.namespace
        if weight is None:
            return Edges(source, target, xp.full(len(source), columns.level))
        values = xp.nan_to_num(kernels.asarray(weight.astype("float64")), nan=-np.inf)
        return Edges(
            source, target, xp.searchsorted(xp.asarray(self.thresholds), values, side="right")
        )

    def close(self, chain: Chain) -> Fragment:
        """Return what a chain has found."""
        return chain.close()

    def survey(self, fragment: Fragment) -> tuple[Any, Any, Any]:
        """Return what the numbering is chosen from: the range of dense ids, and a sample of all."""
        if not fragment.dense:
            return None, None, renumber.sample(fragment.ids)
        forest = fragment.forests[0]
        step = max(1, len(forest.parent) // renumber.SAMPLE)
        ids = forest.kernels.namespace.arange(forest.base, forest.stop, step)
        column = fragment.ids.columns[0]
        sample = type(fragment.ids)({column: ids}) if len(ids) else fragment.ids
        return forest.base, forest.stop, sample.astype(fragment.ids.dtypes.iloc[0])

    def number(self, surveys: list[tuple[Any, Any, Any]], owners: int) -> tuple[Any, Any]:
        """Choose the numbering: ``(bounds of dense ids, None)``, or ``(None, splitters)``."""
        found = [survey for survey in surveys if len(survey[2])]
        if all(low is not None for low, _, _ in found):
            low = min((low for low, _, _ in found), default=0)
            high = max((high for _, high, _ in found), default=0)
            entries = sum(high - low for low, high, _ in found)
            if is_dense(low, high, entries):
                return [low + (high - low) * i // owners for i in range(owners + 1)], None
        return None, renumber.splitters([sample for _, _, sample in surveys], owners)

    def split(self, fragment: Fragment, numbering: tuple[Any, Any], owners: int) -> list[Any]:
        """Return the ids of a fragment for each owner; none, where ids are vertices as they are."""
        if numbering[0] is not None:
            return [fragment.ids] * owners
        return renumber.split(fragment.numbered().ids, numbering[1], owners)

    def own(self, pieces: list[Any]) -> tuple[Any, list[Any]]:
        """Return an owner's ids in order, and the place among them of each that each chain sent."""
        ids, codes = renumber.union(pieces)
        ids, rank = renumber.sort(ids)
        return ids, [rank[code] for code in codes]

    def size(self, owned: tuple[Any, list[Any]]) -> int:
        """Return how many ids an owner has."""
        return len(owned[0])

    def offsets(self, numbering: tuple[Any, Any], sizes: list[int]) -> list[int]:
        """Return the first vertex of each owner's range, and one past the last."""
        return list(numbering[0] or np.cumsum([0, *sizes]).tolist())

    def codes(self, owned: tuple[Any, list[Any]], chain: int) -> Any:
        """Return the places of the ids that one chain sent to an owner."""
        return owned[1][chain]

    def renumber(
        self, fragment: Fragment, numbering: tuple[Any, Any], offsets: list[int], codes: list[Any]
    ) -> list[Forest]:
        """Return a fragment's forests over the vertices of the whole graph."""
        if numbering[0] is not None:
            return fragment.forests
        fragment = fragment.numbered()
        xp = fragment.forests[0].kernels.namespace
        dtype = "int32" if offsets[-1] < 2**31 else "int64"
        slots = [code.astype(dtype) + low for code, low in zip(codes, offsets, strict=False)]
        return moved(fragment.forests, xp.concatenate(slots), offsets[-1])

    def merge(self, into: list[Forest], other: list[Forest]) -> list[Forest]:
        """Hook the entries of the other forests into these, in place."""
        for forest, more in zip(into, other, strict=True):
            forest.absorb(more, threads=self.threads)
        return into

    def finish(self, forests: list[Forest]) -> list[Forest]:
        """Make every tree flat."""
        flatten(forests, self.threads)
        return forests

    def heads(
        self, forests: list[Forest], owned: tuple[Any, list[Any]], offsets: list[int], owner: int
    ) -> list[Any]:
        """Return, for each owner, the roots of this range that name components of vertices there."""
        ids, xp = owned[0], forests[0].kernels.namespace
        low, high = offsets[owner : owner + 2]
        needed = []
        for other, (start, stop) in enumerate(zip(offsets, offsets[1:], strict=False)):
            roots = xp.zeros(0, "int64")
            if len(ids) and other > owner:
                roots = xp.unique(xp.concatenate([f.parent[start:stop] for f in forests]))
                roots = roots[(roots >= low) & (roots < high)]
            needed.append((roots, ids.iloc[roots - low]))
        return needed

    def label(
        self,
        forests: list[Forest],
        owned: tuple[Any, list[Any]],
        numbering: tuple[Any, Any],
        offsets: list[int],
        owner: int,
        heads: list[Any],
    ) -> Any:
        """Return the vertices of an owner's range and the components they are in."""
        ids, xp = owned[0], forests[0].kernels.namespace
        low, high = offsets[owner : owner + 2]
        if numbering[0] is not None:
            vertices = forests[0].members(low, high)
            values = [vertices, *(forest.roots(vertices) for forest in forests)]
            frame = type(ids)(dict(zip(self.columns, values, strict=True)))
            return frame.astype(ids.dtypes.iloc[0])
        before = xp.concatenate([xp.zeros(0, "int64"), *(roots for roots, _ in heads)])
        named = renumber.stack([*(names for _, names in heads), ids])
        parts = [ids[column] for column in ids.columns]
        for forest in forests:
            roots = forest.parent[low:high]
            # Roots of ranges before come first in `named`, then this range's own ids.
            row = xp.where(roots < low, xp.searchsorted(before, roots), roots - low + len(before))
            found = named.iloc[row].reset_index(drop=True)
            parts += [found[column] for column in ids.columns]
        return type(ids)(dict(zip(self.columns, parts, strict=True)))


def connected_components(
    edges: Any,
    *,
    source: Any,
    target: Any,
    vertices: Any = None,
    weight: Any = None,
    threshold: float | None = None,
    thresholds: Sequence[float] | None = None,
    seed: Any = None,
    merge: str = "tree",
    inputs: str = "availability",
    chunk_size: int | None = None,
    dropna: bool = False,
) -> Any:
    """Find the connected components of an undirected graph.

    Edges are read once, in any order, and never need to fit in memory: what does is an entry a vertex
    for each chain of chunks. Self-loops, duplicate and reversed edges change nothing.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame or pandas.DataFrame
        The edge list, a row an edge; backed by pandas or by cuDF.
    source, target : column name, or list of column names
        The ends of an edge; several columns make up one id. Ids are integers, strings, categoricals,
        dates: anything that can be hashed and sorted, of one type on both sides.
    vertices : Series, DataFrame or Index, optional
        All ids, so that those without an edge appear as components of their own. A frame has the id in
        its first columns, as many as `source` has.
    weight : column name, optional
        What `threshold` is compared with.
    threshold : float, optional
        Only edges that weigh at least this much connect. The ends of the others still appear.
    thresholds : sequence of float, optional
        Several thresholds at once, in one pass over the edges.
    seed : DataFrame, optional
        The result of an earlier call; `edges` then needs to hold only what is new. With `thresholds`,
        the earlier call had the same ones.
    merge : {"tree", "one-way", "ring"}
        Which forest is merged into which, where there are several.
    inputs : {"availability", "round-robin"}
        Which chain takes which chunk.
    chunk_size : int, optional
        Edges to hook before the trees are made flat again; by default a partition.
    dropna : bool
        Leave out edges with a null end, instead of raising.

    Returns
    -------
    dask.dataframe.DataFrame
        Columns ``vertex`` and ``component``, of the ids' dtype, sorted by vertex; ``component`` is the
        smallest id of the component. Ids of k columns give ``vertex_0`` to ``vertex_k-1`` and
        ``component_0`` to ``component_k-1``; thresholds give ``component_0.9`` and so on. The result is
        lazy, and the same bits for every partitioning, scheduler and backend.

    Raises
    ------
    UnknownColumnError, VertexTypeError, WeightError, OptionError
        At the call, where it can be known there.
    NullVertexError
        When computed: an id is null, and `dropna` is off.

    References
    ----------
    .. [1] T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU Programming
       Model for Irregular Computations", PPoPP 2017.
    .. [2] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via
       Subgraph Sampling", IPDPS 2018.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> pairs = pd.DataFrame({"id_l": ["b", "d", "x"], "id_r": ["a", "b", "y"]})
    >>> gf.connected_components(pairs, source="id_l", target="id_r").compute()
      vertex component
    0      a         a
    1      b         a
    2      d         a
    3      x         x
    4      y         x
    """
    edges = _as_dask(edges, "edges", source, target)
    merges = trees.merge_policy(merge)
    assign = trees.input_policy(inputs)
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise OptionError(f"chunk_size={chunk_size!r}; give a whole number of edges, 1 or more")
    limits = _thresholds(edges, weight, threshold, thresholds)
    columns = _edge_columns(edges, source, target, weight if limits else None, dropna)
    frames = [(edges, columns)]
    if vertices is not None:
        frames.append(_vertex_frame(vertices, columns))
    labels = [f"component_{t:g}" for t in limits] if thresholds is not None else ["component"]
    widths = [edgelist.vertex_names(label, len(columns.names)) for label in labels]
    if seed is not None:
        frames += _seed_frames(seed, columns, widths)
    collections = [frame[how.columns] for frame, how in frames]
    partitions = sum(frame.npartitions for frame in collections)

    slots = placement.slots()
    homes = [
        home
        for frame in collections
        for home in placement.homes(*held_by(frame.expr), frame.npartitions)
    ]
    chains = assign(homes, slots.at_once, slots.spare)
    program = Components(
        frames=tuple(how for _, how in frames),
        columns=(*columns.names, *(name for width in widths for name in width)),
        thresholds=tuple(limits),
        partitions=partitions,
        chunk_size=chunk_size,
        sharing=min(slots.chains, -(-len(chains) // slots.workers)),
    )
    owners = min(MOST_OWNERS, max(len(chains), partitions // 8))
    result = _empty(edges, program)
    return collection(
        ForestReduction(
            program, result, chains, merges(len(chains)), owners, *(f.expr for f in collections)
        )
    )


def _as_dask(frame: Any, role: str, *ids: Any) -> Any:
    if isinstance(frame, pd.DataFrame):
        for column in frame.columns.intersection(pd.Index(_flat(ids))):
            edgelist.check_objects(frame[column], role)
        return dd.from_pandas(frame, npartitions=1, sort=False)
    if isinstance(frame, dd.DataFrame):
        return frame
    raise EdgeListError(
        f"{role} is a {type(frame).__module__}.{type(frame).__name__}; give a Dask DataFrame, or a pandas "
        "DataFrame"
    )


def _flat(columns: Any) -> list[Any]:
    return [c for some in columns for c in (some if isinstance(some, list | tuple) else [some])]


def _thresholds(
    edges: Any, weight: Any, threshold: float | None, thresholds: Sequence[float] | None
) -> list[float]:
    """Return the thresholds in ascending order, or raise where they and the weight do not fit."""
    if threshold is not None and thresholds is not None:
        raise OptionError("threshold= and thresholds= were both given; give one of them")
    given = [threshold] if threshold is not None else list(thresholds or [])
    if thresholds is not None and not given:
        raise OptionError("thresholds=[] is empty; give at least one, or leave it out")
    for value in given:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or value != value:
            raise OptionError(f"threshold {value!r} is no number")
    if len(set(given)) < len(given):
        raise OptionError(f"thresholds={given!r} has one more than once")
    if given and weight is None:
        raise WeightError(
            f"threshold {given[0]!r} needs a weight to be compared with; name its column with weight=. "
            f"The frame has {', '.join(map(repr, edges.columns))}"
        )
    if weight is not None:
        edgelist.check_weight(edges, weight)
        if not given:
            raise WeightError(
                f"weight={weight!r} does nothing without threshold= or thresholds=; add one, or leave "
                "the weight out"
            )
    return sorted(float(value) for value in given)


def _edge_columns(edges: Any, source: Any, target: Any, weight: Any, dropna: bool) -> EdgeColumns:
    sources, targets = edgelist.as_columns(source, "source"), edgelist.as_columns(target, "target")
    edgelist.check_columns(edges, sources, "source")
    edgelist.check_columns(edges, targets, "target")
    if len(sources) != len(targets):
        raise EdgeListError(
            f"source={source!r} has {len(sources)} columns and target={target!r} has {len(targets)}; "
            "both ends of an edge have as many"
        )
    meta = edges._meta
    dtypes = [
        edgelist.common_dtype(
            edgelist.value_dtype(meta[s], "source"),
            edgelist.value_dtype(meta[t], "target"),
            f"source={s!r}",
            f"target={t!r}",
        )
        for s, t in zip(sources, targets, strict=True)
    ]
    names = edgelist.vertex_names("vertex", len(sources))
    return EdgeColumns(
        tuple(sources), tuple(targets), tuple(names), tuple(dtypes), weight=weight, dropna=dropna
    )


def _vertex_frame(vertices: Any, edges: EdgeColumns) -> tuple[Any, EdgeColumns]:
    """Return the vertices as edges from each to itself."""
    if hasattr(vertices, "to_frame"):
        vertices = vertices.to_frame(name=edges.names[0])
    frame = _as_dask(vertices, "vertices", *getattr(vertices, "columns", ()))
    width = len(edges.names)
    if len(frame.columns) < width:
        raise EdgeListError(
            f"vertices has {len(frame.columns)} columns and an id has {width}; the first {width} columns "
            "are the id"
        )
    columns = tuple(frame.columns[:width])
    return frame, _like(edges, frame, columns, columns, "vertices", level=0)


def _seed_frames(
    seed: Any, edges: EdgeColumns, labels: Sequence[Sequence[str]]
) -> list[tuple[Any, EdgeColumns]]:
    """Return an earlier result as edges from each vertex to its component, threshold by threshold."""
    frame = _as_dask(seed, "seed")
    found = []
    for level, columns in enumerate(labels, start=1):
        edgelist.check_columns(frame, [*edges.names, *columns], "seed")
        found.append((frame, _like(edges, frame, edges.names, tuple(columns), "seed", level=level)))
    return found


def _like(
    edges: EdgeColumns, frame: Any, source: tuple[Any, ...], target: tuple[Any, ...], role: str, level: int
) -> EdgeColumns:
    for columns in (source, target):
        for column, dtype in zip(columns, edges.dtypes, strict=True):
            edgelist.common_dtype(
                edgelist.value_dtype(frame._meta[column], role), dtype, f"{role} {column!r}", "the edges"
            )
    return replace(edges, source=source, target=target, weight=None, level=level)


def _empty(edges: Any, program: Components) -> Any:
    """Return the result's columns and dtypes as an empty frame of the edges' backend."""
    how = program.frames[0]
    width = len(how.dtypes)
    like = edges._meta.iloc[:0]
    return type(like)(
        {
            name: like[how.source[i % width]].astype(how.dtypes[i % width]).reset_index(drop=True)
            for i, name in enumerate(program.columns)
        }
    )
