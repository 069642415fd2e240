"""Simulation of components, PageRank and breadth-first search on more GPUs than are available.

It uses the measured rates of one GPU, the published speeds of links, and the times of a Dask call and of a
round of messages, measured on two GPUs. The result shows which of these constants is the bottleneck. It is
not a prediction for a real cluster: it assumes that links are as fast as published, that shares are equal,
and that nothing overlaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dask_graphflow.components import merging
from dask_graphflow.costs import Rates, model
from dask_graphflow.costs.table import COSTS
from dask_graphflow.exceptions import OptionError
from dask_graphflow.graph import memory
from dask_graphflow.scheduling import trees

__all__ = ["H200", "GPUs", "GraphStats", "simulate"]

GPUS = (8, 16, 32, 64, 128, 256, 512, 1024)
TASKS = 4  # tasks per member: its shard, itself, its end, its part
RANK = 4  # bytes of a rank in float32
PULLS = 3  # supersteps of a search that pull from a dense frontier


@dataclass(frozen=True)
class GraphStats:
    """The properties of a graph that a simulation uses.

    Attributes
    ----------
    vertices, edges : int
    iterations : int
        Number of iterations of PageRank.
    depth : int
        Number of supersteps of a search.
    """

    vertices: int
    edges: int
    iterations: int = 20
    depth: int = 8


@dataclass(frozen=True)
class GPUs:
    """GPUs of one kind, and the links between them.

    Attributes
    ----------
    rates : Rates
        Rates of one GPU.
    memory : float
        Memory of one GPU, in bytes.
    inside, between : float
        Bytes per second that a GPU sends in one direction, to a GPU of its node and to one of another node.
    node : int
        Number of GPUs per node.
    message : float
        Seconds per message. In a round, a member sends one message to each other member, in sequence.
    call : float
        Seconds of a Dask call with a gang that does nothing.
    task : float
        Seconds that the scheduler takes per task.
    """

    rates: Rates
    memory: float
    inside: float
    between: float
    node: int = 8
    message: float = 38e-6
    call: float = 39e-3
    task: float = 0.2e-3


# Rates: R-MAT scale 26, 2^30 edges, from docs/internals/kernels.md and the medians in benchmarks/results,
# device-algorithms-scale26 and device-components-scale22-24-26: hooking 14.8 ms, building an undirected
# graph 220 ms, an iteration of PageRank 9.7 ms, a search 8.7 ms, shortest paths 80 ms, an iteration of
# label propagation 400 ms, merging 2^26 vertices 0.85 ms, copying 512 MiB from pinned memory 9.7 ms. The
# message is an all-reduce of two members, and the call is a gang of two that does nothing, from
# device-members-2-tcp-scale26. The scheduler's 0.2 ms per task is the minimum that was seen. NVLink 4:
# 900 GB/s in both directions together (NVIDIA, datasheet of the H200). InfiniBand NDR: 400 Gb/s, one
# adapter per GPU (NVIDIA, DGX H200 user guide).
EDGES = 1 << 30
H200 = GPUs(
    Rates(
        sizes=(1 << 26,),
        hooks=(EDGES / 14.8e-3,),
        builds=(2 * EDGES / 220e-3,),
        pulls=(EDGES / 9.7e-3,),
        searches=(2 * EDGES / 8.7e-3,),
        paths=(2 * EDGES / 80e-3,),
        labels=(2 * EDGES / 400e-3,),
        merges=((1 << 26) / 0.85e-3,),
        copies=(1 << 29) / 9.7e-3,
    ),
    memory=141e9,
    inside=450e9,
    between=50e9,
)


def simulate(
    graph: GraphStats, cluster: GPUs = H200, *, gpus: Sequence[int] = GPUS, merge: str = "tree"
) -> Any:
    """Simulate the algorithms for several numbers of GPUs.

    Parameters
    ----------
    graph : GraphStats
    cluster : GPUs
    gpus : sequence of int
        Numbers of GPUs.
    merge : {"tree", "one-way", "ring"}
        Order in which the forests of components are merged.

    Returns
    -------
    pandas.DataFrame
        One row per algorithm and number of GPUs: ``algorithm``, ``gpus`` and ``seconds``. The parts of the
        seconds are ``kernels``, ``merging``, ``NVLink``, ``network``, ``messages`` (the fixed time of each
        message) and ``Dask``; ``binding`` is the largest part. ``bytes`` is the memory that each GPU needs,
        and ``fits`` says whether it has that much. GPUs hold the edges, and for PageRank and the search the
        rows.

    Raises
    ------
    OptionError
        A number is below 1, or there is no such policy.
    """
    numbers = graph.vertices, graph.edges, graph.iterations, graph.depth, *gpus
    if not all(number >= 1 for number in numbers):
        raise OptionError(f"{graph!r}, gpus={list(gpus)!r}; give whole numbers, 1 or more")
    merging.merge_policy(merge)
    rows = []
    for count in gpus:
        rows.append(_row("components", count, cluster, *_components(graph, cluster, count, merge)))
        rows.append(_row("pagerank", count, cluster, *_ranks(graph, cluster, count)))
        rows.append(_row("bfs", count, cluster, *_search(graph, cluster, count)))
    frame = pd.DataFrame(rows)
    order = {name: at for at, name in enumerate(("components", "pagerank", "bfs"))}
    return frame.sort_values(
        "algorithm", key=lambda names: names.map(order), kind="stable"
    ).reset_index(drop=True)


def _row(
    algorithm: str, count: int, cluster: GPUs, parts: dict[str, float], size: int
) -> dict[str, Any]:
    parts = {name: parts.get(name, 0.0) for name in PARTS} | {
        "Dask": cluster.call + TASKS * count * cluster.task
    }
    binding = max(parts, key=lambda name: parts[name])
    return {
        "algorithm": algorithm,
        "gpus": count,
        "seconds": sum(parts.values()),
        **parts,
        "binding": binding,
        "bytes": size,
        "fits": size <= cluster.memory,
    }


PARTS = ("kernels", "merging", "NVLink", "network", "messages")


def _components(
    graph: GraphStats, cluster: GPUs, count: int, merge: str
) -> tuple[dict[str, float], int]:
    vertices, share = graph.vertices, -(-graph.edges // count)
    merges = merging.merges_of(merge, count)
    depth = trees.depth(merges)
    # A tree first merges neighboring members, which are on the same node.
    near = trees.depth([one for one in merges if len({end // cluster.node for end in one}) == 1])
    forest = vertices * (memory.index_bytes(vertices) + 1)
    parts = {
        "kernels": share / cluster.rates.rate("hooks", vertices),
        "merging": depth * vertices / cluster.rates.rate("merges", vertices),
        "NVLink": near * forest / cluster.inside,
        "network": (depth - near) * forest / cluster.between,
    }
    size = memory.components_bytes(vertices, share, members=count, device=True, id_bytes=4)
    return parts, size


def _ranks(graph: GraphStats, cluster: GPUs, count: int) -> tuple[dict[str, float], int]:
    steps, degree = graph.iterations, graph.edges / graph.vertices
    read = model.remote(graph.vertices, degree, count)
    parts = _told(cluster, count, steps, steps * read * RANK)
    parts["kernels"] = steps * graph.edges / count / cluster.rates.rate("pulls", graph.vertices)
    return parts, _rows(graph, "pagerank", count, read, directed=True)


def _search(graph: GraphStats, cluster: GPUs, count: int) -> tuple[dict[str, float], int]:
    entries = 2 * graph.edges
    # A pull needs a bitmap of all vertices; a push only sends a few vertices.
    told = PULLS * graph.vertices / 8 * (1 - 1 / count)
    parts = _told(cluster, count, graph.depth, told)
    parts["kernels"] = entries / count / cluster.rates.rate("searches", graph.vertices)
    read = model.remote(graph.vertices, entries / graph.vertices, count)
    return parts, _rows(graph, "bfs", count, read, directed=False)


def _told(cluster: GPUs, count: int, rounds: int, received: float) -> dict[str, float]:
    """Return the seconds in which a member receives this number of bytes, evenly from all other members."""
    others = max(count - 1, 1)
    beside = min(count, cluster.node) - 1
    return {
        "NVLink": received * beside / others / cluster.inside,
        "network": received * (count - 1 - beside) / others / cluster.between,
        "messages": rounds * (count - 1) * cluster.message,
    }


def _rows(graph: GraphStats, algorithm: str, count: int, read: float, *, directed: bool) -> int:
    cost = COSTS[algorithm]
    return memory.graph_bytes(
        graph.vertices,
        graph.edges,
        cost.scratch,
        cost.copies,
        share=1 / count,
        remote=read,
        directed=directed,
        id_bytes=4,
        device=True,
    )
