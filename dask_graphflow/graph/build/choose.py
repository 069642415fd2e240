"""The second step of a build: choose how many members get a part of the graph, and cut the vertices."""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph import partition
from dask_graphflow.graph.hubs import is_even
from dask_graphflow.kernels import kernels_for
from dask_graphflow.kernels import partition as partition_kernels

logger = logging.getLogger(__name__)

# Ends of edges that tell whether degrees are even: 10 times the root of 10^8 vertices.
SAMPLE = 1 << 17

Numbers = Sequence[tuple[Any, Any]]
"""The numbers of the sources and the targets of a member's edges, part by part."""


class Size(NamedTuple):
    """The size of a graph, known once its vertices are numbered."""

    # An undirected edge counts once.
    vertices: int
    edges: int
    directed: bool
    weight_bytes: int  # bytes per weight, 0 without weights
    device: bool  # whether the edges are in GPU memory
    # Whether degrees are known to differ little. Such a graph can have a large diameter.
    even: bool = False
    shared: bool = False  # whether the GPUs of the members use each other's memory


Choose = Callable[[Size, int, int, float], tuple[int, str]]
"""Chooses how many members get a part of a graph; returns the number and the reason in words.

Its arguments are the size of the graph, the number of all members, and the threads and bytes that each
member may use. All members call it, and call it again if shards are lost, so its result must depend only on
its arguments.
"""


class Chosen(NamedTuple):
    """The members that get a part of a graph."""

    members: int  # number of members with a part: the first ones
    why: str  # the reason, if there was a choice
    # Where the ranges of all members begin, followed by where the last one ends. Those of members without a
    # part are empty.
    bounds: list[int]


def choose_members(
    exchange: Exchange,
    numbers: Numbers,
    size: Size,
    choose: Choose | None,
    able: tuple[int, float],
) -> Chosen:
    """Choose the members that get a part of a graph, and cut its vertices into their ranges.

    All members call it. `size` does not include the edges, which are counted here. By default, all members
    get a part. `able` has the fewest threads, and the fewest bytes, that a member may use.
    """
    if exchange.size == 1:
        return Chosen(1, "", [0, size.vertices])
    count, why, grains = exchange.size, "", count_ends(exchange, numbers, size.vertices)
    if choose is not None:
        even = is_even(_sample(exchange, numbers), size.vertices)
        shared = size.device and exchange.shares_memory()
        size = size._replace(edges=int(grains.sum()) // 2, even=even, shared=shared)
        count, why = choose(size, exchange.size, *able)
        if exchange.rank == 0:
            logger.info(
                "A graph of %d vertices and %d edges gets %d of %d possible shards: %s",
                size.vertices, size.edges, count, exchange.size, why,
            )  # fmt: skip
    bounds = partition.chunk_grains(grains, size.vertices, count)
    return Chosen(count, why, bounds + bounds[-1:] * (exchange.size - count))


def count_ends(exchange: Exchange, numbers: Numbers, vertices: int) -> np.ndarray:
    """Return the number of edge ends in each grain of vertices, summed over all members."""
    grains, shift = -(-vertices // partition.GRAIN), partition.GRAIN.bit_length() - 1
    threads, edges = exchange.resources.threads, np.zeros(grains, np.int64)
    for side in itertools.chain.from_iterable(numbers):
        count = partition_kernels.of(side).count_grains
        edges += count(side, grains, shift=shift, threads=threads)
    total: np.ndarray = np.sum(exchange.all_gather(edges), axis=0)
    return total


def _sample(exchange: Exchange, numbers: Numbers) -> np.ndarray:
    """Return a sample of the ends of the edges of all members."""
    sides = list(itertools.chain.from_iterable(numbers))
    part = SAMPLE / exchange.size / max(1, sum(map(len, sides)))
    rng, own = np.random.default_rng(0), [np.empty(0, "int64")]
    for side in sides:
        at = rng.integers(0, len(side), math.ceil(part * len(side))) if len(side) else own[0]
        at = np.sort(at)  # in order, because the side can be on disk
        kernels = kernels_for(side)
        own.append(kernels.to_host(side[kernels.namespace.asarray(at)]).astype("int64"))
    return np.concatenate(exchange.all_gather(np.concatenate(own)))
