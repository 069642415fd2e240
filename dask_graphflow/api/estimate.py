"""Predicted time and memory of a call, before any edge is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from dask.typing import no_default

from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.costs import prediction
from dask_graphflow.costs.choose_members import choose
from dask_graphflow.costs.cluster import ClusterSpec
from dask_graphflow.costs.estimate_of_call import Calibration, Estimate, kind_name
from dask_graphflow.costs.prediction import GraphSizes, Workers
from dask_graphflow.costs.rates import typical_rates
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import check_count
from dask_graphflow.declarations.option import Choice, Flag
from dask_graphflow.exceptions import ArgumentError, OptionError
from dask_graphflow.graph.build import Size
from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.bar import listener
from dask_graphflow.showing.tables import counted
from dask_graphflow.showing.values import shown
from dask_graphflow.tasks import placement, trees
from dask_graphflow.tasks.clients import check_waiting
from dask_graphflow.tasks.memory_limits import pause_fraction

from . import clusters
from .graph import Graph
from .graph_sizes import sizes_of
from .measuring import STEPS
from .storage_choice import is_on_disk
from .types import ColumnName, ColumnNames, Edges, Listener, Storage

PATHS = "shortest_paths"  # reads the result of a search
TYPICAL = (
    "; rates of a typical machine, because this one was never measured: gf.calibrate() does that"
)


@explained
def calibrate(
    cluster: ClusterSpec | Sequence[ClusterSpec] | None = None,
    *,
    device: bool = False,
    fresh: bool = True,
    progress: Listener = True,
) -> Calibration:
    """Measure the speed of the library on a cluster, and store the measurements for later estimates.

    Parameters
    ----------
    cluster : ClusterSpec or sequence of ClusterSpec, optional
        The workers to measure. By default one worker of each kind in the current cluster, or this process.
    device : bool
        Whether to measure GPUs if no worker has the Dask resource ``GPU``. False by default.
    fresh : bool
        Whether to measure again what is already stored. True by default.
    progress : bool or callable
        Report the progress. True, the default, shows one progress bar per kind of worker in a terminal. A
        function is called after each run with a dict that has the keys "kernel" (name of the measured
        rate), "vertices" (of the test graph), "done" and "total" (numbers of runs). The first run compiles
        the kernels. On a cluster the function is called at most ten times per second.

    Returns
    -------
    Calibration
        The kinds of workers with their rates, in edges per second, and the links between them. It prints as
        a table.

    Raises
    ------
    BackendError
        No usable GPU was found.
    OptionError
        `cluster` or `progress` is invalid.
    UsageError
        The caller is the event loop of an asynchronous client. The message names a call that works.

    Notes
    -----
    One rate is measured, that of PageRank; the others follow from it and from those of a typical machine.
    Each kind of worker takes a few seconds, more if kernels are compiled first. Workers are of the same
    kind if they have the same resource ``GPU`` and the same number of threads. The rates are stored on each
    worker's machine. The Dask configuration values ``graphflow.calibration.path`` and
    ``graphflow.calibration.age`` set the folder and the maximum age.

    Examples
    --------
    Given rates are not measured again, so this call measures only the links:

    >>> import dask_graphflow as gf
    >>> rates = gf.costs.Rates((1 << 16,), *[(1e8,)] * 7)  # of each kernel the same
    >>> measured = gf.calibrate(gf.costs.ClusterSpec(workers=1, threads=8, rates=rates))
    >>> measured.kinds[0].rates == rates, 0 < measured.links.call < 10
    (True, True)
    """
    check_waiting("gf.calibrate", "gf.calibrate(...)")
    kinds = _kinds(cluster, device)
    listeners = [listener(progress, f"calibrate {kind_name(kind)}", STEPS) for kind in kinds]
    measured = tuple(
        replace(kind, rates=clusters.rates_of(kind, fresh=fresh, listener=one))
        for kind, one in zip(kinds, listeners, strict=True)
    )
    return Calibration(measured, clusters.links_of(kinds, fresh=fresh))


@explained
def estimate(
    edges: Edges | Graph,
    algorithm: str = "connected_components",
    cluster: ClusterSpec | Sequence[ClusterSpec] | None = None,
    *,
    source: ColumnNames | None = None,
    target: ColumnNames | None = None,
    weight: ColumnName | None = no_default,
    directed: bool | None = None,
    num_edges: int | None = None,
    num_vertices: int | None = None,
    shards: int | None = None,
    supersteps: int | None = None,
    k: int | None = None,
    top_k: int | None = None,
    merge: Literal["tree", "one-way", "ring"] = "tree",
    dense_ids: bool | None = None,
    storage: Storage = "auto",
) -> Estimate:
    """Predict the time and memory of a call, before it reads any edge.

    Parameters
    ----------
    edges : DataFrame or Graph
        The edge list or the graph that will be used.
    algorithm : str
        Name of the function that will be called, such as "bfs" or "core_number". "connected_components" by
        default.
    cluster : ClusterSpec or sequence of ClusterSpec, optional
        The workers to predict for. They do not have to exist. By default the current cluster, or this
        process.
    source, target, weight, directed
        How a frame or a matrix becomes a graph; see :class:`~dask_graphflow.Graph`.
    num_edges, num_vertices : int, optional
        Size of the graph. Required unless it is known without reading the edges. It is known for a
        persisted :class:`~dask_graphflow.Graph`. For integer ids that are close together, it is also known
        for a frame in memory or from Parquet files.
    shards : int, optional
        Number of shards of the graph; see :class:`~dask_graphflow.Graph`. By default, a graph that is given
        without `cluster` keeps its own number. Otherwise there is one shard per worker if there are several
        kinds of workers, or the number that the build would choose. Connected components of a frame use all
        workers.
    supersteps : int, optional
        Number of supersteps. The default is a typical value for the number of vertices and edges: graphs
        with less than 2.5 edges per vertex are treated as grids or road networks, and others as random
        graphs. If an algorithm searches from many vertices, this is the number of supersteps of one search,
        which can start from one vertex or from several together.
    k : int, optional
        Number of sources: the function's option `k`, or the number of `sources`. By default, all vertices
        are sources. For "bfs" and "sssp", the number of sources of a call with ``by_source=True``; by
        default, the estimate is for a call without it. For "shortest_paths", the number of targets; 1 by
        default. For "similarity", the number of given pairs; by default, all pairs with a common neighbor
        are listed.
    top_k : int, optional
        Number of rows per vertex or source, like the option `top_k` of :func:`similarity` and
        :func:`personalized_pagerank`. By default, all rows are listed.
    merge : {"tree", "one-way", "ring"}
        The option of connected components; see :func:`connected_components`. "tree" by default.
    dense_ids : bool, optional
        Whether the ids are integers close together. Other ids take much longer to read, because they are
        renumbered. By default, this is found out from the range of the ids, as for `num_vertices`. Integers
        whose range is not known count as close together.
    storage : {"auto", "memory", "disk"}
        Where the edges of the graph are; see :class:`~dask_graphflow.Graph`. "auto", the default, decides
        by the number of edges and the memory of the workers. A graph that is given keeps its own storage.

    Returns
    -------
    Estimate
        ``seconds`` and the ``parts`` that they consist of; ``most_seconds``; ``bytes_per_worker``, and
        ``fits``; ``disk_bytes_per_worker``; the ``plan`` and the ``reason``. It prints as a table.

    Raises
    ------
    OptionError
        The algorithm is unknown or takes no number of sources, `shards` is larger than the number of
        workers, `supersteps` is not a whole number of at least 1, the size of the graph is not known, or
        `storage` is given with a graph.
    UnknownColumnError, VertexTypeError, WeightError, EdgeListError
        The edges or the columns are invalid.
    BackendError
        `cluster` has GPUs but no `links`, and this machine has no GPU to measure the links with.
    UsageError
        The caller is the event loop of an asynchronous client, and the answer needs its cluster. The
        message names a call that works.

    Notes
    -----
    The prediction covers the time from the call to the result on the workers, with kernels that are already
    compiled. For a frame it includes the build of the graph. It includes reading Parquet files, at the
    speed of files in the page cache, but no other work to make the frame. For a persisted graph, the
    prediction is for the first call of an algorithm. Some algorithms make rows of their own in that call
    and keep them in the graph, so later calls do not take the part "building".

    If the speed of a kind of worker was never measured, the speed of a typical machine is used, and the
    reason says so; :func:`calibrate` measures it.

    References
    ----------
    .. [1] T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU Programming
       Model for Irregular Computations", PPoPP 2017: the model of components.
    .. [2] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand
       Chickens for Heavy Lifting Graph Processing", PACT 2012: the model of supersteps.

    Examples
    --------
    Neither the workers nor the graph have to exist:

    >>> import dask_graphflow as gf
    >>> rates = gf.costs.Rates((1 << 20,), *[(1e8,)] * 7)  # of each kernel the same
    >>> links = gf.costs.Links(c=1e9, moves=1e9, latency=1e-4, call=0.005, level=0.001, gang=0.02)
    >>> four = gf.costs.ClusterSpec(workers=4, threads=8, memory=64 << 30, rates=rates, links=links)
    >>> edges = gf.generate.rmat(4)
    >>> size = {"num_vertices": 10**7, "num_edges": 10**9}
    >>> about = gf.estimate(edges, "pagerank", four, source="src", target="dst", **size)
    >>> about.fits, about.plan["shares"]
    (True, [0.25, 0.25, 0.25, 0.25])
    """
    names = (*ALGORITHMS, PATHS)
    if isinstance(edges, str) and (edges in names or not isinstance(algorithm, str)):
        raise ArgumentError(
            f"estimate() was called with edges={edges!r}; the edges come first. Call it as "
            f"estimate(edges, {edges!r})"
        )
    Choice(names).check("algorithm", algorithm, None)
    if cluster is None:
        check_waiting("gf.estimate", "gf.estimate(...)")
    trees.merge_policy(merge)
    if directed is not None:
        Flag().check("directed", directed, None)
    counts = {"shards": shards, "supersteps": supersteps, "k": k, "top_k": top_k}
    for name, value in counts.items():
        check_count(name, value, optional=True)
    declared, cost = ALGORITHMS.get(algorithm), _choose_cost(algorithm, k, top_k)
    if weight is no_default and (declared is None or declared.weights == "ignored"):
        weight = None
    if directed is None and algorithm == "connected_components":
        directed = True  # it reads both entries of a symmetric matrix
    graph = sizes_of(
        edges, source=source, target=target, weight=weight, directed=directed, num_edges=num_edges,
        num_vertices=num_vertices, dense_ids=dense_ids,
        count_degrees=cost is None or bool(cost.limits),
    )  # fmt: skip
    if graph.weight_bytes and cost is not None:
        cost = cost.weighted or cost
    kinds = _kinds(cluster, graph.device)
    if algorithm not in ("connected_components", PATHS) or graph.built:
        graph = graph._replace(on_disk=_on_disk(edges, graph, storage, cluster and kinds))
    workers = sum(kind.workers for kind in kinds)
    if shards is not None and shards > workers:
        raise OptionError(
            f"shards={shards}, and there {'is' if workers == 1 else 'are'} {counted(workers, 'worker')}; "
            f"give at most {workers}, or describe a larger cluster with cluster=ClusterSpec(...)"
        )
    stored = [clusters.stored_rates_of(kind) for kind in kinds]
    links = clusters.links_of(kinds)
    kinds = [
        replace(kind, rates=rates or typical_rates(kind.device, kind.threads))
        for kind, rates in zip(kinds, stored, strict=True)
    ]
    pause = pause_fraction()
    if cost is None:
        result = prediction.paths(graph, Workers(kinds, links, pause), k or 1)
    elif algorithm == "connected_components" and not graph.built:
        depth = trees.depth(trees.merge_policy(merge)(workers))
        all_workers, chains = Workers(kinds, links, pause), placement.CHAINS_PER_WORKER
        result = prediction.components(graph, all_workers, merge, depth, chains)
    else:
        if shards is None and cluster is None and isinstance(edges, Graph):
            shards = edges._shards.known_count()
        used, split = _choose_workers(graph, kinds, shards)
        result = prediction.supersteps(
            algorithm,
            cost,
            graph,
            Workers(used, links, pause),
            steps=supersteps,
            k=k,
            top_k=top_k,
            split=split,
            edge_bytes=ALGORITHMS[algorithm].edge_bytes[bool(graph.weight_bytes)],
        )
    return replace(result, reason=result.reason + (TYPICAL if None in stored else ""))


def _choose_cost(algorithm: str, k: int | None, top_k: int | None) -> Cost | None:
    """Return the cost of a call with these options, or raise if it does not have them.

    Paths have no declared cost.
    """
    cost = ALGORITHMS[algorithm].cost if algorithm in ALGORITHMS else None
    if top_k is not None and (cost is None or cost.listed is None):
        listing = [name for name, one in ALGORITHMS.items() if one.cost and one.cost.listed]
        raise OptionError(
            f"top_k={top_k}, but {algorithm} does not have this option; leave out top_k=, which is for "
            f"{', '.join(listing)}"
        )
    if k is not None and cost is not None:
        cost = cost.by_source or cost
        if not cost.takes_k:
            sampling = [name for name, one in ALGORITHMS.items() if one.cost and one.cost.takes_k]
            raise OptionError(
                f"k={k}, but {algorithm} does not sample sources; leave out k=, which is for "
                f"{', '.join([*sampling, PATHS])}"
            )
    return cost


def _choose_workers(
    graph: GraphSizes, kinds: Sequence[ClusterSpec], shards: int | None
) -> tuple[list[ClusterSpec], str]:
    """Return the workers that get a part of a graph, and the reason as text."""
    total, reason = sum(kind.workers for kind in kinds), ""
    if shards is None and total > 1 and len(kinds) == 1:
        size = Size(
            graph.vertices, graph.edges, graph.directed, graph.weight_bytes, kinds[0].device,
            shared=kinds[0].device and kinds[0].hosts == 1,  # if NVLink links the GPUs of a machine
        )  # fmt: skip
        memory = math.inf if kinds[0].memory is None else kinds[0].memory
        shards, why = choose(size, total, kinds[0].threads, memory)
        reason = f"; {shards:,} of {total:,} workers: {why}"
    left, used = min(shards or total, total), []
    for kind in kinds:
        if workers := min(kind.workers, left):
            used.append(replace(kind, workers=workers, hosts=min(kind.hosts, workers)))
        left -= workers
    return used, reason


def _on_disk(edges: Any, graph: GraphSizes, storage: Any, kinds: Any) -> bool:
    """Return whether the edges of a graph are, or will be, on disk."""
    if isinstance(edges, Graph):
        if storage != "auto":
            raise OptionError(
                f"storage={storage!r} was given with a graph, which has its own storage; leave it out, or "
                "give the edges from which the graph is built"
            )
        return edges._shards.plan.on_disk
    rooms = [math.inf if one.memory is None else one.memory * one.workers for one in kinds or ()]
    return is_on_disk(
        storage,
        lambda: graph.edges,
        in_memory=graph.device,
        directed=graph.directed,
        weight_bytes=graph.weight_bytes,
        room=sum(rooms) if rooms else None,
    )[0]


def _kinds(cluster: Any, device: bool) -> list[ClusterSpec]:
    if cluster is None:
        return clusters.workers_in_use(device)
    kinds = [cluster] if isinstance(cluster, ClusterSpec) else cluster
    if (
        not isinstance(kinds, Sequence)
        or not kinds
        or not all(isinstance(kind, ClusterSpec) for kind in kinds)
    ):
        raise OptionError(f"cluster={shown(cluster)}; give a ClusterSpec, or a list of some")
    return list(kinds)
