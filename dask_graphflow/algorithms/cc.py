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
from typing import Any

from dask_graphflow.costs import cluster
from dask_graphflow.dataflow import merging, placement, trees
from dask_graphflow.dataflow.expr import (
    Empty,
    ForestReduction,
    Held,
    Resident,
    as_computed,
    collection,
    held_by,
    reduction_tasks,
)
from dask_graphflow.dataflow.progress import Progress, Tally, listener
from dask_graphflow.exceptions import OptionError, nearest
from dask_graphflow.graph.edgelist import vertex_names
from dask_graphflow.graph.frames import is_pandas
from dask_graphflow.showing.bar import PARTS

from . import inputs as inputs_of
from .answers import ids_like
from .components import Components
from .programs import by_label

__all__ = ["connected_components", "tasks_of"]

MOST_PARTS = 32
PARTITIONS_PER_PART = 8  # of the edges, to one of the result


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
    merge_chunks: int = 1,
    inputs: str | Sequence[str] = "availability",
    chunk_size: int | None = None,
    dropna: bool = False,
    device: str | None = None,
    renumber: bool = True,
    method: str = "forest",
    progress: Any = False,
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
        its first columns, as many as `source` has. The result has an integer type, or a unit of time,
        that holds these ids and those of the edges.
    weight : column name, optional
        What `threshold` is compared with.
    threshold : float, optional
        Only edges that weigh at least this much connect. The ends of the others still appear.
    thresholds : sequence of float, optional
        Several thresholds at once, in one pass over the edges.
    seed : DataFrame, optional
        The result of an earlier call, with its columns; `edges` then needs to hold only what is new. With
        `thresholds`, the earlier call had the same ones.
    merge : {"tree", "one-way", "ring", "adaptive"}
        Which forest is merged into which, where there are several. "adaptive" looks at where they
        lie: those of each worker first, then workers in pairs, so that each worker but one sends a
        forest, once. Where that is not known before edges are read, it is "tree".
    merge_chunks : int
        Slices that a forest travels to another worker in, each hooked while the next is on its way;
        1 to merge it once all of it is there. It pays where a slice takes longer to send than the
        milliseconds that its tasks cost. Groute [1]_ takes 2 for a dense graph and 8 for a sparse
        one. Dask sends in one message what is less than
        ``distributed.worker.transfer.message-bytes-limit``, by default 50 MB: smaller slices, which
        are of 5 bytes a vertex, come several at once.
    inputs : {"availability", "round-robin"} or sequence of str
        Which worker takes which chunk: the one that holds it, or has room; each in turn; or the one
        whose address is given for each partition.
    chunk_size : int, optional
        Edges to hook before the trees are made flat again; by default a partition. With
        ``device="gpu"``, edges of a buffer that they stream through; by default 2**23.
    dropna : bool
        Leave out edges with a null end, instead of raising.
    device : {None, "gpu"}
        Where the components are found: where the edges lie; or on the GPU of each process that runs
        a task, which pandas edges are streamed to while its kernels run. What lies there is the
        forest and a few buffers, however many edges there are. The result is a pandas frame.
    renumber : bool
        False says that the ids are integers without large gaps: memory is an entry for every integer
        from the smallest to the largest, and a cluster is spared the steps of finding that out.
    method : {"forest", "label"}
        "forest" is what is described above. "label" builds a :class:`~dask_graphflow.Graph` and spreads
        the smallest label by push and pull (Gemini [3]_): for comparison, and slower. Of the options it
        takes `dropna` and `progress` alone.
    progress : bool or callable
        Tell of each part that is done: True shows a progress bar in a terminal; or a function that is
        given a dict of ``stage`` ("hook" of a partition of edges, "label" of one of the result),
        ``done`` and ``total`` (parts of both). Calls that ask the same are one computation, of which the
        last one says who is told. With a scheduler that is other processes and no cluster, nobody is.

    Returns
    -------
    dask.dataframe.DataFrame
        Columns ``vertex`` and ``component``, of the ids' dtype, sorted by vertex; ``component`` is the
        smallest id of the component. Ids of k columns give ``vertex_0`` to ``vertex_k-1`` and
        ``component_0`` to ``component_k-1``; thresholds give ``component_0.9`` and so on. The result is
        lazy, and the same bits for every partitioning, scheduler and backend. The index counts from 0
        in each partition.

    Raises
    ------
    UnknownColumnError, VertexTypeError, WeightError, OptionError
        At the call, where it can be known there.
    BackendError
        When computed with ``device="gpu"``, where a process has no GPU, CuPy or cuDF.
    NullVertexError
        When computed: an id is null, and `dropna` is off.
    UnknownColumnError, VertexTypeError, WeightError
        When computed: a partition lacks a column, or has another dtype than Dask's metadata says and a
        value that does not fit.

    References
    ----------
    .. [1] T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU Programming
       Model for Irregular Computations", PPoPP 2017.
    .. [2] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via
       Subgraph Sampling", IPDPS 2018.
    .. [3] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
       System", OSDI 2016.

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
    edges = inputs_of.as_dask(edges, "edges", source, target)
    shown = listener(progress, "connected components", PARTS)
    merges = merging.merge_policy(merge)
    inputs_of.check_count("chunk_size", chunk_size, optional=True)
    inputs_of.check_count("merge_chunks", merge_chunks)
    if method == "label":
        others = {
            "vertices": vertices, "weight": weight, "threshold": threshold, "thresholds": thresholds,
            "seed": seed, "chunk_size": chunk_size, "device": device,
        }  # fmt: skip
        return by_label(edges, source, target, others, dropna=dropna, progress=progress)
    if method != "forest":
        raise OptionError(
            f"method={method!r}; give 'forest' or 'label'{nearest(method, ['forest', 'label'])}"
        )
    streamed = inputs_of.to_stream(edges, device)
    limits = inputs_of.ascending(edges, weight, threshold, thresholds)
    columns = inputs_of.edge_columns(edges, source, target, weight if limits else None, dropna)
    inputs_of.check_dense(columns, renumber)
    frames = [(edges, columns)]
    if vertices is not None:
        frames.append(inputs_of.vertex_frame(vertices, columns))
    labels = [f"component_{t:.15g}" for t in limits] if thresholds is not None else ["component"]
    widths = [vertex_names(label, len(columns.names)) for label in labels]
    if seed is not None:
        frames += inputs_of.seed_frames(seed, columns, widths)
    frames = inputs_of.with_one_dtype(frames)
    given = [
        frame if isinstance(frame, Held) else as_computed(frame, how.columns)
        for frame, how in frames
    ]
    partitions = sum(frame.npartitions for frame in given)

    slots = placement.slots()
    homes = [
        home for frame in given for home in placement.homes(*held_by(frame), frame.npartitions)
    ]
    speeds = cluster.speeds() if merge == "adaptive" else trees.UNKNOWN
    chains = trees.chains(inputs, homes, slots, speeds)
    if merge == "adaptive":
        chains = merging.fastest_first(chains, speeds)
    if merge_chunks > 1 or any(chain.worker for chain in chains):
        placement.keep_pins()
    if streamed or not is_pandas(type(edges._meta)):
        placement.preload("dask_graphflow.algorithms.sending")
    owners, shares = _owners(len(chains), partitions, slots)
    parts = {"hook": partitions, "label": owners * shares}
    told = Progress(shown and Tally(shown, parts))
    program = Components(
        frames=tuple(how for _, how in frames),
        columns=(*columns.names, *(name for width in widths for name in width)),
        thresholds=tuple(limits),
        partitions=partitions,
        chunk_size=chunk_size,
        sharing=min(slots.chains, -(-len(chains) // len(slots.workers))),
        streamed=streamed,
        dense=not renumber,
        told=told,
    )
    # Where each chain has a process of its own, it makes its own forest.
    resident = all(chain.home for chain in chains)
    shared = len(chains) > 1 and not (resident and len(chains) <= len(slots.workers))
    # Chunks that stay where they lie are taken as they are, with all their columns.
    sources = [
        (resident and not isinstance(whole, Held) and Resident.of(whole.expr)) or frame
        for frame, (whole, _) in zip(given, frames, strict=True)
    ]
    result = _empty(edges, program)
    found = collection(
        ForestReduction(
            program,
            Empty(result),
            chains,
            merges(chains, speeds, barrier=shared or renumber),
            merge_chunks,
            owners,
            shares,
            shared,
            *sources,
        )
    )
    return told.of(found)


def _owners(chains: int, partitions: int, slots: trees.Slots) -> tuple[int, int]:
    """Return how many owners vertices have, and how many partitions of the result each of them writes."""
    parts = min(MOST_PARTS, max(chains, partitions // PARTITIONS_PER_PART))
    owners = min(parts, len(slots.workers) * slots.threads)
    return owners, round(parts / owners)


def tasks_of(chains: Sequence[trees.Chain], partitions: int, slots: trees.Slots) -> int:
    """Return how many tasks a call has beside hooks, if it is not known that ids are dense."""
    owners, shares = _owners(len(chains), partitions, slots)
    return reduction_tasks(len(chains), len(trees.together(chains)), owners, shares)


def _empty(edges: Any, program: Components) -> Any:
    """Return the result's columns and dtypes as an empty frame of the edges' backend."""
    ids = ids_like(edges._meta, program.frames[0])
    parts = [ids[column] for column in ids.columns]
    return type(ids)({name: parts[i % len(parts)] for i, name in enumerate(program.columns)})
