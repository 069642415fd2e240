"""Predicted time and memory of a call, before any edge is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dask_graphflow.algorithms.algorithm import ALGORITHMS, Algorithm
from dask_graphflow.algorithms.number_options import check_count
from dask_graphflow.algorithms.options import Choice, Flag
from dask_graphflow.components import merging
from dask_graphflow.costs import cluster as clusters
from dask_graphflow.costs import model
from dask_graphflow.costs.cluster import ClusterSpec, KnownRates
from dask_graphflow.costs.cost import ROW, Shape, is_sparse
from dask_graphflow.costs.curves import Rates
from dask_graphflow.costs.defaults import READ, default_rates
from dask_graphflow.costs.links import Links
from dask_graphflow.costs.members import choose, never_split, search_levels
from dask_graphflow.costs.microbenchmarks import STEPS
from dask_graphflow.costs.table import COSTS
from dask_graphflow.exceptions import GraphMemoryError, OptionError
from dask_graphflow.graph import memory
from dask_graphflow.graph.build import Size
from dask_graphflow.graph.load_balance import share_out
from dask_graphflow.scheduling import placement, trees
from dask_graphflow.scheduling.memory_limits import PROCESS, pause_fraction
from dask_graphflow.showing.bar import listener
from dask_graphflow.showing.tables import counted, duration
from dask_graphflow.showing.values import shown

from .components import tasks_of
from .estimate_result import Calibration, Estimate, kind_name
from .graph import Graph
from .graph_sizes import Known, known

__all__ = ["calibrate", "estimate"]

LEVELS = 4  # levels of tasks: read, pieces, build, run
GANG_LEVELS = 3  # levels of a gang with several members; see scheduling/gang_expr.py
FOREST_LEVELS = 8  # levels of components without their merges; see scheduling/forest_expr.py
FOREST_DENSE = 4  # the same, if the workers that hold the edges know that the ids are dense
MAKING = {"graph": 8e-3, "forest": 4e-3}  # seconds that the client takes to make the expressions
# Seconds that pandas takes to select the columns of a partition, however few edges it has.
PARTITION = 3e-4
TYPICAL = (
    "; rates of a typical machine, because this one was never measured: gf.calibrate() does that"
)
TEXT = 16  # bytes of an id
LISTED = 20  # labels that are counted in the time it takes to list a row
PATHS = "shortest_paths"  # reads the result of a search
PATHS_VERTEX, PATHS_ROW = 80, 80  # bytes per vertex of the search, and per row of the result
FOLLOW = 2e-5  # seconds per step of the longest path


def calibrate(
    cluster: Any = None, *, device: bool = False, fresh: bool = True, progress: Any = True
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
        function is called after each kernel run with a dict that has the keys "kernel" (its name),
        "vertices" (of the test graph), "done" and "total" (numbers of kernel runs). The first graph is run
        twice, because the first run compiles the kernels. On a cluster the function is called at most ten
        times per second.

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
    Each kind of worker takes about 20 seconds, more if kernels are compiled first. Workers are of
    the same kind if they have the same resources ``GPU`` and ``CPU`` and the same number of threads. The
    rates are stored on each worker's machine. Measuring them again deletes the times of calls with which
    :func:`estimate` corrected the old rates. The Dask configuration values ``graphflow.calibration.path``
    and ``graphflow.calibration.age`` set the folder and the maximum age.

    Examples
    --------
    Given rates are not measured again, so this call measures only the links:

    >>> import dask_graphflow as gf
    >>> rates = gf.costs.Rates((1 << 16,), *[(1e8,)] * 8)  # of each kernel the same
    >>> found = gf.calibrate(gf.costs.ClusterSpec(workers=1, threads=8, rates=rates))
    >>> found.kinds[0].rates == rates, 0 < found.links.call < 10
    (True, True)
    """
    placement.check_waiting("gf.calibrate", "gf.calibrate(...)")
    return _calibrated(_kinds(cluster, device), fresh=fresh, progress=progress)


def estimate(
    edges: Any,
    algorithm: str = "connected_components",
    cluster: Any = None,
    *,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    directed: bool = True,
    num_edges: int | None = None,
    num_vertices: int | None = None,
    shards: int | None = None,
    supersteps: int | None = None,
    k: int | None = None,
    top_k: int | None = None,
    merge: str = "tree",
    dense_ids: bool | None = None,
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
        How a frame becomes a graph; see :class:`~dask_graphflow.Graph`.
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
        are sources. For "shortest_paths", the number of targets; 1 by default. For "similarity", the number
        of given pairs; by default, all pairs with a common neighbor are listed.
    top_k : int, optional
        Number of rows per vertex or source, like the option `top_k` of :func:`similarity` and
        :func:`personalized_pagerank`. By default, all rows are listed.
    merge : {"tree", "one-way", "ring"}
        The option of connected components; see :func:`connected_components`. "tree" by default.
    dense_ids : bool, optional
        Whether the ids are integers close together. Other ids take much longer to read, because they are
        renumbered. By default, this is found out from the range of the ids, as for `num_vertices`. Integers
        whose range is not known count as close together.

    Returns
    -------
    Estimate
        ``seconds`` and the ``parts`` that they consist of; ``most_seconds``; ``bytes_per_worker``, and
        ``fits``; the ``plan`` and the ``reason``. It prints as a table.

    Raises
    ------
    OptionError
        The algorithm is unknown or takes no number of sources, `shards` is larger than the number of
        workers, `supersteps` is not a whole number of at least 1, or the size of the graph is not known.
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
    reason says so; :func:`calibrate` measures it. Calls of PageRank, BFS, shortest paths and label
    propagation that run on one worker correct the speed. Their times are used once three calls count, and
    the reason says so too.

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
    >>> rates = gf.costs.Rates((1 << 20,), *[(1e8,)] * 8)  # of each kernel the same
    >>> links = gf.costs.Links(c=1e9, moves=1e9, latency=1e-4, call=0.005, level=0.001, gang=0.02)
    >>> four = gf.costs.ClusterSpec(workers=4, threads=8, memory=64 << 30, rates=rates, links=links)
    >>> edges = gf.generate.rmat(4)
    >>> size = {"num_vertices": 10**7, "num_edges": 10**9}
    >>> about = gf.estimate(edges, "pagerank", four, source="src", target="dst", **size)
    >>> about.fits, about.plan["shares"]
    (True, [0.25, 0.25, 0.25, 0.25])
    """
    Choice((*ALGORITHMS, PATHS)).check("algorithm", algorithm, None)
    if cluster is None:
        placement.check_waiting("gf.estimate", "gf.estimate(...)")
    merging.merge_policy(merge)
    Flag().check("directed", directed, None)
    check_count("shards", shards, least=1, optional=True)
    check_count("supersteps", supersteps, least=1, optional=True)
    check_count("k", k, least=1, optional=True)
    check_count("top_k", top_k, least=1, optional=True)
    cost = None if algorithm == PATHS else COSTS[algorithm]
    if k is not None and cost is not None and not cost.takes_k:
        sampling = [name for name, one in COSTS.items() if one.takes_k]
        raise OptionError(
            f"k={k}, but {algorithm} does not sample sources; leave out k=, which is for "
            f"{', '.join([*sampling, PATHS])}"
        )
    if top_k is not None and (cost is None or cost.listed is None):
        listing = [name for name, one in COSTS.items() if one.listed]
        raise OptionError(
            f"top_k={top_k}, but {algorithm} does not have this option; leave out top_k=, which is for "
            f"{', '.join(listing)}"
        )
    options: dict[str, Any] = {"num_edges": num_edges, "num_vertices": num_vertices}
    options["dense_ids"] = dense_ids
    options["count_degrees"] = cost is None or bool(cost.limits)
    graph = known(edges, source=source, target=target, weight=weight, directed=directed, **options)
    kinds = _kinds(cluster, graph.device)
    workers = sum(kind.workers for kind in kinds)
    if shards is not None and shards > workers:
        raise OptionError(
            f"shards={shards}, and there {'is' if workers == 1 else 'are'} {counted(workers, 'worker')}; "
            f"give at most {workers}, or describe a larger cluster with cluster=ClusterSpec(...)"
        )
    known_rates = [clusters.known_rates_of(kind) for kind in kinds]
    calibration = _calibration(kinds, known_rates)
    if cost is None:
        return _noted(_paths(graph, calibration, k or 1), known_rates, PATHS)
    if algorithm == "connected_components" and not graph.built:
        return _noted(_components(graph, calibration, merge), known_rates, "hooks")
    if shards is None and cluster is None and isinstance(edges, Graph):
        shards = edges._known_shards()
    used, split = _used(graph, calibration.kinds, shards)
    total, members = (sum(kind.workers for kind in some) for some in (kinds, used))
    readers = members
    if not (graph.built or shards is not None or _in_one_task(graph, calibration.kinds)):
        # If the frame stands in for a larger one, it may have too few partitions for all members.
        readers = max(members, min(total, graph.partitions))
    calibration = replace(calibration, kinds=used)
    found = _supersteps(graph, algorithm, calibration, supersteps, k, top_k, split, readers, total)
    kernel = cost.kernel_on(sparse=is_sparse(graph.vertices, graph.edges))
    return _noted(found, known_rates, kernel)


def _noted(found: Estimate, rates: Sequence[KnownRates], kernel: str) -> Estimate:
    """Add to the reason if the rates are typical ones, or if the times of calls corrected them."""
    calls = sum(one.calls.get(kernel, 0) for one in rates)
    reason = found.reason + (TYPICAL if any(one.typical for one in rates) else "")
    if calls:
        reason += f"; the rate of {kernel} is corrected by the times of {counted(calls, 'call')}"
    return replace(found, reason=reason)


def _used(
    graph: Known, kinds: tuple[ClusterSpec, ...], shards: int | None
) -> tuple[tuple[ClusterSpec, ...], str]:
    """Return the workers that get a part of a graph, and the reason as text."""
    total, why = sum(kind.workers for kind in kinds), ""
    if shards is None and total > 1 and len(kinds) == 1:
        size = Size(
            graph.vertices, graph.edges, graph.directed, graph.weight_bytes, kinds[0].device
        )
        memory = math.inf if kinds[0].memory is None else kinds[0].memory
        shards, why = choose(size, total, kinds[0].threads, memory)
        why = f"; {shards:,} of {total:,} workers: {why}"
    left, used = min(shards or total, total), []
    for kind in kinds:
        if workers := min(kind.workers, left):
            used.append(replace(kind, workers=workers, hosts=min(kind.hosts, workers)))
        left -= workers
    return tuple(used), why


def _in_one_task(graph: Known, kinds: Sequence[ClusterSpec]) -> bool:
    """Return whether a graph has so few edges that no gang reads them; see :func:`.members.never_split`."""
    if not (graph.held or graph.sent_bytes):  # the call does not know the number of edges
        return False
    count, threads = sum(kind.workers for kind in kinds), max(kind.threads for kind in kinds)
    # For text, the bytes of a persisted frame allow for many more edges than it has.
    most = graph.edges * (TEXT if graph.held and "text_ids" in graph.ids else 1)
    return never_split(most, count, threads, device=graph.device)


def _kinds(cluster: Any, device: bool) -> list[ClusterSpec]:
    if cluster is None:
        return clusters.in_use(device)
    kinds = [cluster] if isinstance(cluster, ClusterSpec) else cluster
    if (
        not isinstance(kinds, Sequence)
        or not kinds
        or not all(isinstance(kind, ClusterSpec) for kind in kinds)
    ):
        raise OptionError(f"cluster={shown(cluster)}; give a ClusterSpec, or a list of some")
    return list(kinds)


def _calibration(kinds: Sequence[ClusterSpec], rates: Sequence[KnownRates]) -> Calibration:
    """Return kinds of workers with their rates, and the links between them."""
    given = tuple(replace(kind, rates=one.rates) for kind, one in zip(kinds, rates, strict=True))
    if not any(one.typical for one in rates):
        clusters.remember(given)
    return Calibration(given, clusters.links_of(kinds))


def _calibrated(kinds: Sequence[ClusterSpec], *, fresh: bool, progress: Any) -> Calibration:
    told = [listener(progress, f"calibrate {kind_name(kind)}", STEPS) for kind in kinds]
    found = tuple(
        replace(kind, rates=clusters.rates_of(kind, fresh=fresh, listener=one))
        for kind, one in zip(kinds, told, strict=True)
    )
    clusters.remember(found)
    return Calibration(found, clusters.links_of(kinds, fresh=fresh))


@dataclass(frozen=True)
class _Members:
    """The individual workers."""

    kinds: tuple[ClusterSpec, ...]

    @property
    def all(self) -> list[ClusterSpec]:
        return [kind for kind in self.kinds for _ in range(kind.workers)]

    @property
    def room(self) -> list[float]:
        return [_room(one) for one in self.all]

    def rates(self, kernel: str, vertices: float) -> list[float]:
        return [_own(one).rate(kernel, vertices) for one in self.all]

    def numbering(self, graph: Known) -> float:
        """Return the seconds per end of an edge that the slowest member takes to number ids.

        The parts of an id are numbered one by one, and then the pairs of their numbers. Rates that lack
        numbering, as on a calibrated GPU, are completed by those of a typical machine.
        """
        parts = [*graph.ids, *["far_ids"] * (len(graph.ids) - 1)]

        def rate(kind: ClusterSpec, part: str) -> float:
            own = _own(kind)
            known = own if getattr(own, part) else default_rates(kind.device, kind.threads)
            return known.rate(part, graph.vertices)

        return max(math.fsum(1 / rate(kind, part) for part in parts) for kind in self.kinds)


def _room(kind: ClusterSpec) -> float:
    """Return the bytes that a worker can use before Dask pauses it."""
    if kind.memory is None:
        return math.inf
    paused = bool(kind.addresses) and not kind.device
    return kind.memory * (pause_fraction() if paused else 1.0)


def _own(kind: ClusterSpec) -> Rates:
    assert kind.rates is not None, "kinds are calibrated"
    return kind.rates


def _reading(graph: Known, threads: int, links: Links, *, remote: bool) -> float:
    """Return the seconds that `threads` threads take to get the partitions of a frame."""
    each = min(threads, graph.partitions)
    seconds = (graph.partitions * PARTITION + graph.read_bytes / READ) / each
    # A frame of the client is sent to the scheduler, and from there to a worker.
    return seconds + (2 * graph.sent_bytes / links.moves if remote else 0.0)


def _tasks(graph: Known, threads: Sequence[int]) -> int:
    """Return the number of tasks of a reduction without hooks, on workers with these numbers of threads."""
    workers = [str(number) for number in range(len(threads))]
    slots = placement.slots_of(dict(zip(workers, threads, strict=True)))
    partitions = max(1, -(-graph.edges // max(graph.chunk, 1)))
    homes = [workers[i % len(workers)] if graph.held else None for i in range(partitions)]
    return tasks_of(trees.chains("availability", homes, slots), partitions, slots)


def _components(graph: Known, calibration: Calibration, merge: str) -> Estimate:
    members, links = _Members(calibration.kinds), calibration.links
    count, vertices, edges = len(members.all), graph.vertices, graph.edges
    hooks = members.rates("hooks", vertices)
    depth = trees.depth(merging.merges_of(merge, count))
    forest = vertices * (memory.index_bytes(vertices) + 1)
    t_merge = forest / links.moves + vertices / min(members.rates("merges", vertices)) + links.level
    # If edges are streamed to a device, each chunk is copied while the last is hooked: components/link.py.
    copying = [
        0.0 if graph.device else 2 * graph.id_bytes / _own(one).copies for one in members.all
    ]
    slower = [max(1 / rate, copy) for rate, copy in zip(hooks, copying, strict=True)]
    threads = [1 if one.device else one.threads for one in members.all]
    tasks, levels = _tasks(graph, threads), FOREST_LEVELS
    cluster = math.isfinite(links.moves)
    if cluster and graph.held and graph.ids == ("dense_ids",):
        tasks, levels = 0, FOREST_DENSE
    tasks += graph.partitions * graph.steps
    chunk = count * vertices / sum(1 / edge for edge in slower)  # seconds per V edges on one worker
    constants = {
        "t_at": chunk,
        "t_com": MAKING["forest"] + links.call + (levels - 1) * links.level + tasks * links.task,
        "t_merge": t_merge,
    }
    seconds = model.components_seconds(vertices, edges, count, **constants, merge=merge)
    parts = {
        "reading": _reading(graph, sum(threads), links, remote=cluster),
        "numbering": 0.0,
        "hooking": chunk * edges / (count * max(vertices, 1)),
        "merging": t_merge * depth,
        "Dask": constants["t_com"],
    }
    if graph.ids != ("dense_ids",):
        chains = min(
            graph.partitions, sum(min(each, placement.CHAINS_PER_WORKER) for each in threads)
        )
        work = model.joined(2 * edges, vertices, graph.partitions, chains)
        parts["numbering"] = (work + vertices) * members.numbering(graph)
    seconds += parts["reading"] + parts["numbering"]
    result = 2 * graph.id_bytes * vertices // count
    sizes = tuple(
        memory.components_bytes(
            vertices, graph.chunk, members=count, device=one.device, id_bytes=graph.id_bytes
        )
        + result
        + (0 if one.device else PROCESS)
        for one in members.all
    )
    cut = {
        "workers": count,
        "merge": merge,
        "merges on the longest path": depth,
        "shares": [rate / sum(hooks) for rate in hooks],
    }
    binding = _binding(parts)
    if binding == "hooking" and any(
        copy * rate > 1 for copy, rate in zip(copying, hooks, strict=True)
    ):
        binding = "copying to devices"
    reason = (
        f"{binding} takes longest; E/V is {edges / max(vertices, 1):.3g} (Groute calls 8 or more "
        f"dense); each worker holds a forest of all vertices; sizes {graph.source}"
    )
    fits = all(size <= room for size, room in zip(sizes, members.room, strict=True))
    return Estimate(
        "connected_components", vertices, edges, seconds, parts, sizes, fits, cut, reason, seconds
    )


def _paths(graph: Known, calibration: Calibration, targets: int) -> Estimate:
    """Return the estimate of following predecessors, on the workers that hold the result of a search."""
    members, links = _Members(calibration.kinds), calibration.links
    count, vertices, edges = len(members.all), graph.vertices, graph.edges
    shape = graph.shape or Shape.most(vertices, edges)
    most = min(shape.inner + 2, max(vertices, 1))  # vertices of a path
    usual = min(math.ceil(search_levels(vertices, 2 * edges / max(vertices, 1))) + 1, most)
    kind = "text_ids" if "text_ids" in graph.ids else "far_ids"
    looked = 3 * vertices / count * members.numbering(graph._replace(ids=(kind,) * len(graph.ids)))
    parts = {
        "numbering": looked,
        "following": usual * FOLLOW,
        "Dask": _dask(graph._replace(built=True), links, count, count, together=True),
    }
    each = int(PATHS_VERTEX * vertices / count + PATHS_ROW * targets * most)
    sizes = (PROCESS + each,) * count
    fits = all(size <= room for size, room in zip(sizes, members.room, strict=True))
    seconds = sum(parts.values())
    most_seconds = seconds + (most - usual) * FOLLOW
    reason = (
        f"{_binding(parts)} takes longest; {_limits(['the diameter'], most_seconds)}; sizes "
        f"{graph.source}"
    )
    cut = {"workers": count}
    return Estimate(PATHS, vertices, edges, seconds, parts, sizes, fits, cut, reason, most_seconds)


def _limits(limits: Sequence[str], most_seconds: float) -> str:
    """Return a text about what the time depends on."""
    return f"the time depends on {' and '.join(limits)}, and is at most {duration(most_seconds)}"


def _supersteps(
    graph: Known,
    algorithm: str,
    calibration: Calibration,
    supersteps: int | None,
    k: int | None,
    top_k: int | None,
    split: str,
    readers: int,
    total: int,
) -> Estimate:
    members, links = _Members(calibration.kinds), calibration.links
    count, vertices, edges = len(members.all), graph.vertices, graph.edges
    declared = ALGORITHMS[algorithm]
    cost = COSTS[declared.name]
    entries = edges * (1 if graph.directed else 2)
    degree = entries / max(vertices, 1)
    read = model.remote(vertices, degree, count)
    rates = members.rates(cost.kernel, vertices)
    usual, most = (
        graph.shape or Shape.usual(vertices, edges),
        graph.shape or Shape.most(vertices, edges),
    )
    if cost.wedges and k is not None:  # given pairs
        usual = most = Shape(most.inner, 0.0)
    listed = ROW * cost.listed(vertices, most.wedges, k, top_k) if cost.listed else 0.0

    def needs(share: float) -> int:
        return memory.graph_bytes(
            vertices, edges, cost.scratch, cost.copies, edge=cost.edge, listed=listed, share=share,
            remote=read, directed=graph.directed, weight_bytes=graph.weight_bytes,
            id_bytes=graph.id_bytes, device=graph.device, built=graph.built,
        ) + (0 if graph.device else PROCESS)  # fmt: skip

    fixed, whole = needs(0.0), needs(1.0)
    room = [max(one - fixed, 0.0) / max(whole - fixed, 1) for one in members.room]
    limit, fits = "every worker has enough memory for its share", True
    try:
        shares = share_out(rates, room, nbytes=whole)
    except GraphMemoryError as error:
        shares, fits, limit = share_out(rates), False, str(error)
    even = share_out(rates)
    if fits and max(abs(a - b) for a, b in zip(shares, even, strict=True)) > 1e-9:
        limit = "the fastest workers have no room for more"
    # A directed edge is a neighbor of both its ends.
    sparse = is_sparse(vertices, edges)
    neighbors = 2 * edges / max(vertices, 1)
    runs = cost.runs(vertices, k)
    steps, most_steps = cost.supersteps(vertices, neighbors, most.inner)
    if supersteps is not None:
        steps = most_steps = supersteps
    each = [entries * share for share in shares]
    kernel_rates = members.rates(cost.kernel_on(sparse=sparse), vertices)

    def running_with(steps: int, shape: Shape) -> dict[str, float]:
        return cost.seconds(
            each, kernel_rates, steps=runs * steps, runs=runs, sparse=sparse,
            near=shape.wedges / max(entries, 1), read=read, links=links,
        )  # fmt: skip

    running, bound = running_with(steps, usual), running_with(most_steps, most)
    # If true, the graph is built and used in one run, which makes only the rows of incoming edges.
    plain = declared.incoming and graph.directed and not graph.weight_bytes and readers > 1
    parts = {
        "reading": 0.0,
        "numbering": 0.0,
        "building": 0.0,
        "dealing": 0.0,
        **running,
        "result": vertices / count * _id_columns(declared) * members.numbering(graph),
        "Dask": _dask(graph, links, readers, count, together=plain),
    }
    builds = members.rates("builds", vertices)
    if cost.listed and not cost.wedges:
        row = LISTED / count / min(members.rates("labels", vertices))
        rows, most_rows = (cost.listed(vertices, one.wedges, k, top_k) for one in (usual, most))
        parts["result"] += row * rows
        bound["result"] = row * (most_rows - rows)
    # The algorithm makes its own rows in the first call.
    parts["building"] = cost.rows * _slowest(each, builds)
    if not graph.built:
        # A member has every undirected edge with an end among its vertices.
        ends = [
            edge * (1 if graph.directed else 2 - s) for edge, s in zip(each, shares, strict=True)
        ]
        ways = 2 if graph.directed and cost.both_ways else 1
        if not plain or count == 1:
            parts["building"] += _slowest(ends, builds) + (ways - 1) * _slowest(each, builds)
        threads = [1 if one.device else one.threads for one in members.all]
        remote = math.isfinite(links.moves)
        parts["reading"] = _reading(graph, sum(threads[:readers]), links, remote=remote)
        work = 2 * edges / readers
        if graph.ids != ("dense_ids",):
            partitions = max(graph.partitions, readers)
            work = model.numbered(2 * edges, vertices, partitions, readers)
        parts["numbering"] = work * members.numbering(graph)
        edge_bytes = 2 * memory.index_bytes(vertices) + graph.weight_bytes
        if readers > 1:
            # All readers assign edges to members, and each member receives its edges from the others.
            dealt = entries / readers / min(members.rates("deals", vertices))
            parts["dealing"] = dealt + edge_bytes * entries / count * (1 - 1 / readers) / links.c
            again = ways - 1 if count > 1 else 0
            parts["dealing"] *= 1 + again
        elif graph.held:  # the partitions on other workers are sent to this one whole
            away = 1 - 1 / total
            parts["dealing"] = (
                (2 * graph.id_bytes + graph.weight_bytes) * edges * away / links.moves
            )
    sizes = tuple(needs(share) for share in shares)
    cut = {
        "workers": count,
        "supersteps": runs * steps,
        "shares": shares,
        "boundary": read / max(vertices, 1) if count > 1 else 0.0,
    }
    seconds = sum(parts.values())
    most_seconds = seconds + max(sum(bound.values()) - sum(running.values()), 0.0)
    depends = f"{_limits(cost.limits, most_seconds)}; " if cost.limits else ""
    reason = (
        f"{_binding(parts)} takes longest; {depends}shares follow the rates, and {limit}{split}; sizes "
        f"{graph.source}"
    )
    return Estimate(
        algorithm, vertices, edges, seconds, parts, sizes, fits, cut, reason, most_seconds
    )


def _slowest(edges: Sequence[float], rates: Sequence[float]) -> float:
    return max(edge / rate for edge, rate in zip(edges, rates, strict=True))


def _dask(graph: Known, links: Links, readers: int, count: int, *, together: bool) -> float:
    """Return the overhead of a call in seconds: its expressions, its tasks, and starting gangs.

    Parameters
    ----------
    graph : Known
    links : Links
    readers, count : int
        Number of members that read the edges, and number of members that have a part of the graph.
    together : bool
        Whether the graph is built and used in one run.
    """
    gang = links.gang - links.call
    run = gang if count > 1 else links.level * (GANG_LEVELS if readers > 1 else 1)
    seconds = MAKING["graph"] + links.call
    if graph.built:
        return seconds + run - (links.level if count == 1 else 0.0)
    seconds += (LEVELS - 3 + graph.steps) * links.level
    seconds += graph.partitions * graph.steps * links.task
    seconds += gang if readers > 1 else 0.0
    return seconds if together else seconds + run


def _id_columns(declared: Algorithm) -> int:
    """Return the number of id columns of a result in addition to the vertex."""
    columns = declared.columns
    found = () if callable(columns) else columns.values()
    ids = sum(isinstance(dtype, str) and dtype.startswith("id") for dtype in found)
    return ids + (declared.rows == "edges")


def _binding(parts: dict[str, float]) -> str:
    return max(parts, key=lambda name: parts[name])
