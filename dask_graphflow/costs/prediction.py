"""Predicted time and memory of calls, by the models of Groute [1]_ and TOTEM [2]_.

Components (Groute): each of N members hooks E/N edges in chunks of V, and a policy decides how the forests
are merged. Supersteps (TOTEM): a member p computes for E_p/r_p seconds and sends for B_p/c seconds, and all
members wait for the slowest one.

.. [1] T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU Programming Model
   for Irregular Computations", PPoPP 2017.
.. [2] A. Gharaibeh, L. Beltrao Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand Chickens
   for Heavy Lifting Graph Processing", PACT 2012.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dask_graphflow.declarations.cost import LISTED, ROW, SPARSE, Cost, Shape, search_levels
from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.graph import memory_model
from dask_graphflow.graph.load_balance import share_out
from dask_graphflow.graph.memory_model import Part
from dask_graphflow.kernels import disk
from dask_graphflow.kernels.memory import PROCESS
from dask_graphflow.showing.tables import duration

from .cluster import ClusterSpec
from .estimate_of_call import Estimate
from .links import Links
from .model import numbered, remote

MAKING = 8e-3  # seconds that the client takes to make the expressions of a call
LEVELS = 4  # levels of tasks: read, make pieces, build, run
FOREST_LEVELS = 8  # levels of components without their merges, if dense ids are not certain
PARTITION = 3e-4  # seconds that pandas takes to select the columns of a partition
# Ends of edges per second that are replaced by vertex numbers: by one thread of an AMD EPYC (Zen 4),
# however many threads a worker has, and by an H200. These are not measured on each machine, because their
# differences are smaller than the error of an estimate.
NUMBERED = {"dense_ids": 9e8, "far_ids": 4e7, "text_ids": 2.5e7}
GPU_NUMBERED = {"dense_ids": 1e11, "far_ids": 6.8e8, "text_ids": 6.8e8}
COPIED = 5.8e9  # bytes per second from host memory to a GPU
READ = 3e8  # bytes in memory that a thread reads per second from Parquet files in the page cache
MESSAGE = 8  # bytes that a member sends per vertex that another one reads
PATHS_VERTEX, PATHS_ROW = 80, 80  # bytes per vertex of the search, and per row of the result
FOLLOW = 2e-5  # seconds per step of the longest path


class GraphSizes(NamedTuple):
    """The sizes of a graph."""

    vertices: int
    edges: int
    chunk: int  # number of edges per partition
    # Bytes of one end of an edge, and of a weight.
    id_bytes: int
    weight_bytes: int
    directed: bool
    built: bool  # whether the graph is built
    device: bool  # whether the graph is in GPU memory
    held: bool  # whether the partitions of the edges are in the memory of workers
    origin: str  # where the sizes come from, as text
    ids: tuple[str, ...] = ("dense_ids",)  # the kind of each part of an id; see :data:`NUMBERED`
    partitions: int = 1  # number of partitions of the edges
    # Bytes in memory of the columns that are read from Parquet files; 0 if there are no such files.
    read_bytes: int = 0
    sent_bytes: int = 0  # bytes of the frame in this process that the call sends to a cluster
    shape: Shape | None = None  # the degrees, if they were counted
    on_disk: bool = False  # whether the edges are on disk

    @property
    def entries(self) -> int:
        """Number of edges; an undirected edge counts twice."""
        return self.edges * (1 if self.directed else 2)

    @property
    def degree(self) -> float:
        """Mean number of edges in both directions per vertex."""
        return 2 * self.edges / max(self.vertices, 1)

    @property
    def dense(self) -> bool:
        """Whether ids are integers close together."""
        return self.ids == ("dense_ids",)


class Workers:
    """Workers that take part in a call, and the links between them.

    Parameters
    ----------
    kinds : sequence of ClusterSpec
        Kinds of workers, with their rates.
    links : Links
    pause : float
        Fraction of its memory above which Dask pauses a worker.
    """

    def __init__(self, kinds: Sequence[ClusterSpec], links: Links, pause: float) -> None:
        self.links = links
        self.each = [kind for kind in kinds for _ in range(kind.workers)]
        self.threads = [1 if one.device else one.threads for one in self.each]
        self.on_cluster = math.isfinite(links.moves)
        # Bytes that each worker can use before Dask pauses it.
        self.room = [
            math.inf
            if one.memory is None
            else one.memory * (pause if one.addresses and not one.device else 1.0)
            for one in self.each
        ]
        known = [one.memory for one in self.each if one.memory is not None and not one.device]
        # Bytes that mapped pages of files may take on the worker with the least memory.
        self.pages = disk.part_of(min(known)) if known else disk.budget()

    def __len__(self) -> int:
        return len(self.each)

    def rates(self, kernel: str, vertices: int) -> list[float]:
        """Return the rate of each worker."""
        rates = [one.rates for one in self.each if one.rates is not None]
        return [one.rate(kernel, vertices) for one in rates]

    def building(self, edges: Sequence[float], vertices: int) -> float:
        """Return the seconds in which the slowest worker makes rows of the number of edges of each one."""
        rates = self.rates("builds", vertices)
        return max(edge / rate for edge, rate in zip(edges, rates, strict=True))

    def numbering(self, ids: Sequence[str]) -> float:
        """Return the seconds per end of an edge that a member takes to number ids.

        The parts of an id are numbered one by one, and then the pairs of their numbers.
        """
        speed = GPU_NUMBERED if all(one.device for one in self.each) else NUMBERED
        return sum(1 / speed[part] for part in [*ids, *["far_ids"] * (len(ids) - 1)])

    def reading(self, graph: GraphSizes) -> float:
        """Return the seconds that all workers take to get the partitions of a frame."""
        parallel = min(sum(self.threads), graph.partitions)
        seconds = (graph.partitions * PARTITION + graph.read_bytes / READ) / parallel
        # A frame of the client is sent to the scheduler, and from there to a worker.
        return seconds + (2 * graph.sent_bytes / self.links.moves if self.on_cluster else 0.0)

    def calling(self, graph: GraphSizes) -> float:
        """Return the overhead of a call in seconds: its expressions, its tasks, and starting gangs."""
        seconds = MAKING + self.links.call
        if not graph.built:
            seconds += (LEVELS - 1) * self.links.level + graph.partitions * self.links.task
        gangs = 0 if len(self) == 1 else 1 if graph.built else 2
        return seconds + gangs * (self.links.gang - self.links.call)


def components(
    graph: GraphSizes, workers: Workers, merge: str, depth: int, chains: int
) -> Estimate:
    """Return the estimate of connected components of a frame.

    The longest path of the policy `merge` has `depth` merges. A worker has at most `chains` chains.
    """
    links, count, vertices = workers.links, len(workers), graph.vertices
    hooks = workers.rates("hooks", vertices)
    # If edges are streamed to a device, each chunk is copied while the last is hooked: kernels/link.py.
    copied = COPIED / (2 * graph.id_bytes)
    reached = [
        min(rate, copied) if one.device and not graph.device else rate
        for rate, one in zip(hooks, workers.each, strict=True)
    ]
    forest = vertices * (memory_model.index_bytes(vertices) + 1)
    each_merge = forest / links.moves + vertices / min(workers.rates("merges", vertices))
    chains = min(graph.partitions, sum(min(threads, chains) for threads in workers.threads))
    levels, tasks = LEVELS, graph.partitions
    if not (graph.dense and graph.held and workers.on_cluster):
        levels, tasks = FOREST_LEVELS, tasks + 2 * chains**2  # every chain sends ids to every owner
    work = 0.0 if graph.dense else numbered(2 * graph.edges, vertices, chains) + vertices
    parts = {
        "reading": workers.reading(graph),
        "numbering": work * workers.numbering(graph.ids),
        "hooking": graph.edges / sum(reached),
        "merging": depth * (each_merge + links.level),
        "Dask": MAKING + links.call + (levels - 1) * links.level + tasks * links.task,
    }
    result = 2 * graph.id_bytes * vertices // count
    sizes = tuple(
        memory_model.components_bytes(
            vertices, graph.chunk, members=count, device=one.device, id_bytes=graph.id_bytes
        )
        + result
        + (0 if one.device else PROCESS)
        for one in workers.each
    )
    plan = {
        "workers": count,
        "merge": merge,
        "merges on the longest path": depth,
        "shares": [rate / sum(hooks) for rate in hooks],
    }
    reason = (
        f"E/V is {graph.edges / max(vertices, 1):.3g} (Groute calls 8 or more dense); each worker holds a "
        "forest of all vertices"
    )
    return _estimate("connected_components", graph, workers, parts, sizes, plan, reason)


def paths(graph: GraphSizes, workers: Workers, targets: int) -> Estimate:
    """Return the estimate of following predecessors, on the workers that hold the result of a search."""
    count, vertices = len(workers), graph.vertices
    shape = graph.shape or Shape.most(vertices, graph.edges)
    most = min(shape.inner + 2, max(vertices, 1))  # vertices of a path
    usual = min(math.ceil(search_levels(vertices, graph.degree)) + 1, most)
    kind = "text_ids" if "text_ids" in graph.ids else "far_ids"
    parts = {
        "numbering": 3 * vertices / count * workers.numbering([kind] * len(graph.ids)),
        "following": usual * FOLLOW,
        "Dask": workers.calling(graph._replace(built=True)),
    }
    size = PROCESS + int(PATHS_VERTEX * vertices / count + PATHS_ROW * targets * most)
    more = (most - usual) * FOLLOW
    return _estimate(
        "shortest_paths", graph, workers, parts, (size,) * count, {"workers": count},
        _limits(["the diameter"], sum(parts.values()) + more), more,
    )  # fmt: skip


def supersteps(
    algorithm: str,
    cost: Cost,
    graph: GraphSizes,
    workers: Workers,
    *,
    steps: int | None = None,
    k: int | None = None,
    top_k: int | None = None,
    split: str = "",
    edge_bytes: int = 0,
) -> Estimate:
    """Return the estimate of an algorithm that works in supersteps, on workers with a part of the graph.

    Parameters
    ----------
    algorithm : str
    cost : Cost
    graph : GraphSizes
    workers : Workers
    steps, k, top_k : int, optional
        Number of supersteps of one run, and options of the call.
    split : str
        Text about the number of workers, for the reason.
    edge_bytes : int
        Bytes of memory per entry of the rows that the algorithm needs even if the edges are on disk.
    """
    links, count, vertices = workers.links, len(workers), graph.vertices
    usual = graph.shape or Shape.usual(vertices, graph.edges)
    most = graph.shape or Shape.most(vertices, graph.edges)
    if cost.wedges and k is not None:  # given pairs
        usual = most = Shape(most.inner, 0.0)
    listed = ROW * cost.listed(vertices, most.wedges, k, top_k) if cost.listed else 0.0
    read = remote(vertices, graph.entries / max(vertices, 1), count)
    part = _part(graph, workers, cost, listed, read)
    on_disk = part._replace(
        on_disk=True,
        edge=edge_bytes,
        read=graph.chunk * min(max(workers.threads), graph.partitions),
        pages=workers.pages,
    )
    part = on_disk if graph.on_disk and not graph.device else part
    rates = workers.rates(cost.kernel, vertices)
    shares, fits, limit = _shares(part, graph, rates, workers.room)
    if not (fits or graph.device):
        for better, how in (
            (on_disk, "with storage='disk'"),
            (on_disk._replace(read=0), "on disk, with more and smaller partitions of the edges"),
        ):
            if _shares(better, graph, rates, workers.room)[1]:
                limit += f"; {how}, every worker has enough"
                break
    members = [_of(part, graph, share) for share in shares]
    files = tuple(int(one.files()) if part.on_disk else 0 for one in members)
    if part.on_disk:
        limit += "; the time is that of files in the system's cache"
    each = [graph.entries * share for share in shares]
    runs = cost.runs(vertices, k)
    usual_steps, most_steps = cost.supersteps(vertices, graph.degree, most.inner)
    if steps is not None:
        usual_steps = most_steps = steps

    def running(steps: int, shape: Shape) -> dict[str, float]:
        computing = cost.computing(
            each, rates, steps=runs * steps, runs=runs, sparse=graph.degree < SPARSE,
            continued=shape.wedges / max(graph.entries, 1),
        )  # fmt: skip
        if cost.listed and not cost.wedges:
            rows = cost.listed(vertices, shape.wedges, k, top_k)
            computing += LISTED * rows / count / min(workers.rates("labels", vertices))
        messages = 0.0
        if count > 1:
            rounds = runs * steps if cost.each else runs
            messages = rounds * MESSAGE * read / links.c + 2 * runs * steps * links.latency
        launching = runs * steps * cost.step
        return {"computing": computing, "launching": launching, "messages": messages}

    parts = _building(graph, workers, shares)
    # The algorithm makes its own rows in the first call.
    parts["building"] += cost.rows * workers.building(each, vertices)
    parts |= running(usual_steps, usual) | {"Dask": workers.calling(graph)}
    more = sum(running(most_steps, most).values()) - sum(running(usual_steps, usual).values())
    more = max(more, 0.0)
    plan = {
        "workers": count,
        "storage": "disk" if graph.on_disk else "memory",
        "supersteps": runs * usual_steps,
        "shares": shares,
        "boundary": read / max(vertices, 1) if count > 1 else 0.0,
    }
    reason = f"shares follow the rates, and {limit}{split}"
    if cost.limits:
        reason = f"{_limits(cost.limits, sum(parts.values()) + more)}; {reason}"
    sizes = tuple(_size(one) for one in members)
    result = _estimate(algorithm, graph, workers, parts, sizes, plan, reason, more)
    return replace(result, fits=fits, disk_bytes_per_worker=files)


def _part(graph: GraphSizes, workers: Workers, cost: Cost, listed: float, read: float) -> Part:
    """Return the part in memory of a member; :func:`_of` sets its share."""
    return Part(
        graph.edges, graph.vertices, graph.id_bytes, graph.weight_bytes, graph.directed,
        members=len(workers), pieces=-(-graph.partitions // len(workers)), largest=graph.chunk,
        integers=graph.ids == ("far_ids",), dense=graph.dense, kept=True, device=graph.device,
        built=graph.built, scratch=cost.scratch, copies=cost.copies, edge=cost.edge, listed=listed,
        remote=read,
    )  # fmt: skip


def _of(part: Part, graph: GraphSizes, share: float) -> Part:
    """Return the part of a member with a share of the edges and of the vertices."""
    edges = graph.edges * share
    return part._replace(edges=edges, largest=min(graph.chunk, int(edges)), share=share)


def _size(part: Part) -> int:
    """Return the bytes that a worker needs, including its process."""
    return int(part.needed()) + (0 if part.device else PROCESS)


def _shares(
    part: Part, graph: GraphSizes, rates: Sequence[float], room: Sequence[float]
) -> tuple[list[float], bool, str]:
    """Return the share of each worker, whether the shares fit, and a text about what limits them."""
    fixed, whole = (_size(_of(part, graph, share)) for share in (0.0, 1.0))
    most = [max(one - fixed, 0.0) / max(whole - fixed, 1) for one in room]
    shares = share_out(rates)
    try:
        limited = share_out(rates, most, nbytes=whole)
    except GraphMemoryError as error:
        return shares, False, str(error)
    if any(abs(a - b) > 1e-9 for a, b in zip(shares, limited, strict=True)):
        return limited, True, "the fastest workers have no room for more"
    return limited, True, "every worker has enough memory for its share"


def _building(graph: GraphSizes, workers: Workers, shares: Sequence[float]) -> dict[str, float]:
    """Return the seconds of each part of a build."""
    parts = dict.fromkeys(("reading", "numbering", "building", "dealing"), 0.0)
    if graph.built:
        return parts
    count, vertices, entries = len(workers), graph.vertices, graph.entries
    parts["reading"] = workers.reading(graph)
    ends = 2 * graph.edges
    work = ends / count if graph.dense else numbered(ends, vertices, count)
    parts["numbering"] = work * workers.numbering(graph.ids)
    # A member has every undirected edge with an end among its vertices.
    made = [entries * share * (1 if graph.directed else 2 - share) for share in shares]
    parts["building"] = workers.building(made, vertices)
    if count > 1:
        # All members sort their edges by the members that own them, and send them there.
        edge_bytes = 2 * memory_model.index_bytes(vertices) + graph.weight_bytes
        sent = edge_bytes * entries / count * (1 - 1 / count)
        parts["dealing"] = entries / count / min(workers.rates("builds", vertices))
        parts["dealing"] += sent / workers.links.c
    return parts


def _estimate(
    algorithm: str,
    graph: GraphSizes,
    workers: Workers,
    parts: dict[str, float],
    sizes: tuple[int, ...],
    plan: dict[str, Any],
    reason: str,
    more: float = 0.0,
) -> Estimate:
    """Return an estimate; `more` is the difference of the largest time and the typical one."""
    seconds = sum(parts.values())
    fits = all(size <= room for size, room in zip(sizes, workers.room, strict=True))
    longest = max(parts, key=lambda name: parts[name])
    reason = f"{longest} takes longest; {reason}; sizes {graph.origin}"
    return Estimate(
        algorithm, graph.vertices, graph.edges, seconds, parts, sizes, fits, plan, reason,
        seconds + more, (0,) * len(sizes),
    )  # fmt: skip


def _limits(limits: Sequence[str], most_seconds: float) -> str:
    """Return a text about the properties of the graph that the time depends on."""
    return f"the time depends on {' and '.join(limits)}, and is at most {duration(most_seconds)}"
