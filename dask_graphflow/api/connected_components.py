"""Connected components of an undirected graph, from its edge list: the options of the call."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Sequence
from typing import Any, Literal

from dask.typing import no_default

from dask_graphflow.calls.components.fit_chains import fit_partitions
from dask_graphflow.calls.components.keep_names import keep_names
from dask_graphflow.calls.components.plan_chains import plan_components
from dask_graphflow.calls.components.thresholds import component_names
from dask_graphflow.calls.empty_frames import components_like
from dask_graphflow.declarations.number_options import check_count
from dask_graphflow.declarations.option import Choice, Flag
from dask_graphflow.graph.edgelist import vertex_names
from dask_graphflow.inputs.edges import check_edges, moves_to_gpu, read_alike
from dask_graphflow.inputs.forms import values_of
from dask_graphflow.inputs.vertex_frame import seed_frames
from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.bar import PARTS
from dask_graphflow.tasks.progress import listener
from dask_graphflow.tasks.trees import merge_policy

from .calls import refuse_options
from .graph import Graph
from .threshold_options import check_dense, sort_thresholds
from .types import ColumnName, ColumnNames, Edges, Listener


@explained
def connected_components(
    edges: Edges | Graph,
    *,
    source: ColumnNames | None = None,
    target: ColumnNames | None = None,
    vertices: Any = None,
    weight: ColumnName | None = no_default,
    threshold: float | None = None,
    thresholds: Sequence[float] | None = None,
    seed: Any = None,
    ids: Literal["smallest", "stable"] = "smallest",
    merge: Literal["tree", "one-way", "ring"] = "tree",
    merge_chunks: int = 1,
    inputs: Literal["availability", "round-robin"] | list[str] | tuple[str, ...] = "availability",
    chunk_size: int | None = None,
    dropna: bool = False,
    device: Literal["gpu"] | None = None,
    renumber: bool = True,
    progress: Listener = False,
) -> Any:
    """Return the connected component of each vertex of an undirected graph.

    The edges are read once, in any order, and do not have to fit in memory. Only one array entry per
    vertex, for each chain of partitions, has to fit. Self-loops, duplicate edges and reversed edges do not
    change the result.

    Parameters
    ----------
    edges : DataFrame, sparse matrix, array, list of pairs, NetworkX graph or Graph
        The edge list, one row per edge, in any form that :class:`~dask_graphflow.Graph` describes. Or a
        :class:`~dask_graphflow.Graph`, without any option except `progress`: this is the same as
        :meth:`.Graph.connected_components`.
    source, target : column name, or list of column names, optional
        Columns with the ids at the two ends of each edge. Several columns form one id. Ids can be
        integers, strings, categoricals or dates: anything that can be hashed and sorted. Both ends must
        have the same type. By default the columns "source" and "target", "src" and "dst", "from" and
        "to", or "left" and "right", if the frame has exactly one of these pairs.
    vertices : list, array, Series, DataFrame or Index, optional
        All vertex ids. Vertices without an edge then appear as components of their own. In a frame, the
        first columns are the id, as many as `source` has. The ids in the result get the integer type or the
        unit of time that can represent these ids and those of the edges.
    weight : column name, optional
        The column that `threshold` is compared with. The comparison is exact for every type of number;
        a float32 weight is not rounded, and neither is the threshold. An edge whose weight is missing
        (null or NaN) never connects vertices. By default the values, if `edges` is a sparse matrix.
    threshold : float, optional
        Only edges that weigh at least this much connect vertices. The ends of other edges still appear in
        the result.
    thresholds : sequence of float, optional
        Several thresholds, evaluated in one pass over the edges.
    seed : DataFrame, optional
        The result of an earlier call, to be updated; `edges` then has to contain only the new edges. The
        earlier call must have used the same `thresholds`.
    ids : {"smallest", "stable"}
        How components are named. "smallest", the default, names each by its smallest id. "stable" keeps the
        names in `seed`: a component that contains several old ones gets the smallest of their names, and
        only a component of new vertices is named by its smallest id. So a new id changes no name. The seed
        is read a second time for this. :func:`.stable_ids` also tells old components from new ones, and
        says what happened to each.
    merge : {"tree", "one-way", "ring"}
        Order in which the forests of several workers are merged. "tree" by default.
    merge_chunks : int
        Smallest number of slices a forest is split into when it is sent to another worker. Each slice is
        merged while the next one is in transit. 1 by default. Groute [1]_ uses 2 for a dense graph and 8
        for a sparse one. A slice takes 5 bytes per vertex. In host memory, slices have at most 2**20
        vertices anyway.
    inputs : {"availability", "round-robin"} or sequence of str
        Which worker processes which partition: "availability", the default, uses the worker that holds
        the partition or has capacity; "round-robin" uses each worker in turn; a sequence gives the
        address of a worker for each partition.
    chunk_size : int, optional
        Number of edges to hook before the trees are compressed again. By default a whole partition. With
        ``device="gpu"``, the number of edges per streaming buffer, 2**23 by default.
    dropna : bool
        Whether to skip edges with a null id. False by default, which raises an error.
    device : {None, "gpu"}
        Where to compute. None, the default, computes where the edges are. "gpu" streams pandas edges to
        the GPU of each process that runs a task, while kernels run there. The GPU then holds the forest
        and a few buffers, for any number of edges. The result is a pandas frame. This needs cuDF;
        ``Graph(edges, device="gpu").connected_components()`` needs only CuPy.
    renumber : bool
        Whether to renumber ids that are not dense integers. True by default. False asserts that the ids
        are integers without large gaps: a forest then has one entry for every integer from the smallest to
        the largest id.
    progress : bool or callable
        Report each finished part. True shows a progress bar in a terminal. A function is called with a
        dict that has the keys ``stage`` ("hook" for a partition of the edges, "label" for a partition of
        the result), ``done`` and ``total`` (numbers of parts of both stages). Calls with equal arguments
        are one computation, which reports to the `progress` of the last call. There are no reports with
        Dask's multiprocessing scheduler.

    Returns
    -------
    dask.dataframe.DataFrame
        Columns ``vertex`` and ``component``, of the ids' dtype, sorted by vertex; ``component`` is the
        name of the component, by default its smallest id. Ids of k columns give ``vertex_0`` to
        ``vertex_k-1`` and ``component_0`` to ``component_k-1``. Thresholds give ``component_0.9`` and so
        on; thresholds that agree in 15 digits are written in full, as in
        ``component_0.30000000000000004``. The result is lazy, and bit-identical for every partitioning,
        scheduler and backend. The index restarts at 0 in each partition.

    Raises
    ------
    UnknownColumnError, VertexTypeError, WeightError, OptionError
        An argument is invalid. Raised at the call if the problem can be detected there.
    BackendError
        A process has no GPU, CuPy or cuDF, and ``device="gpu"``. Raised when the result is computed.
    NullVertexError
        An id is null, and `dropna` is False. Raised when the result is computed.
    UnknownColumnError, VertexTypeError, WeightError
        A partition lacks a column, or it has another dtype than Dask's metadata and a value that does
        not fit. Raised when the result is computed.

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
    if isinstance(edges, Graph):
        options = {
            "source": source, "target": target, "vertices": vertices, "weight": weight,
            "threshold": threshold, "thresholds": thresholds, "seed": seed, "ids": ids,
            "merge": merge, "merge_chunks": merge_chunks, "inputs": inputs,
            "chunk_size": chunk_size, "dropna": dropna, "device": device, "renumber": renumber,
        }  # fmt: skip
        refuse_options(
            "connected_components", options, inspect.unwrap(connected_components).__kwdefaults__
        )
        return edges.connected_components(progress=progress)
    if weight is no_default:
        weight = None if threshold is None and thresholds is None else values_of(edges)
    Flag().check("dropna", dropna, None)
    Choice(("smallest", "stable")).check("ids", ids, None)
    checked = check_edges(
        edges, source, target, weight=weight, vertices=vertices, directed=True, dropna=dropna
    )
    shown = listener(progress, "connected components", PARTS)
    merge_policy(merge)
    check_count("chunk_size", chunk_size, optional=True)
    check_count("merge_chunks", merge_chunks)
    (frame, columns), *listed = checked.frames
    streamed = moves_to_gpu(frame._meta, device)
    limits = sort_thresholds(list(frame.columns), weight, threshold, thresholds)
    check_dense(columns, renumber)
    frame = fit_partitions(
        frame, columns, forests=max(1, len(limits)), divide=isinstance(inputs, str)
    )
    names = component_names(limits) if thresholds is not None else ["component"]
    components = [vertex_names(name, len(columns.names)) for name in names]
    seeds = [] if seed is None else seed_frames(seed, columns, components)
    frames = read_alike([(frame, columns), *listed, *seeds])
    labels = list(itertools.chain(*components))
    found = plan_components(
        frames,
        (*frames[0][1].names, *labels),
        components_like(frame._meta, frames[0][1], labels),
        thresholds=limits,
        merge=merge,
        merge_chunks=merge_chunks,
        inputs=inputs,
        chunk_size=chunk_size,
        streamed=streamed,
        renumber=renumber,
        listener=shown,
    )
    if ids == "stable" and seeds:
        return keep_names(found, frames[-len(seeds) :], components)
    return found
