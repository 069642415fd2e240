"""Searches from many sources at once: 64 of them share the reads of each edge.

A vertex has one bit per source [1]_. The bits of newly reached vertices are or-ed into their neighbors,
which ignore the bits that they already had.

A small level takes as long as its kernels, so a single member does not process a deep search level by
level. Each thread, or team of a device's blocks, then searches from a source by itself.

.. [1] M. Then, M. Kaufmann, F. Chirigati, T. Hoang-Vu, K. Pham, A. Kemper, T. Neumann, H. T. Vo, "The More
   the Merrier: Efficient Multi-Source Graph Traversal", PVLDB 8(4), 2014.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dask_graphflow.kernels import kernels_for, kernels_of
from dask_graphflow.kernels.memory import free_bytes
from dask_graphflow.programs.edge_op import EdgeOp

from .advance import Advance
from .direction import Direction
from .view import GraphView

WORD = 64  # number of sources per batch
ALL = 2**WORD - 1
DEEP = 8  # number of small levels after which a single member searches from each source by itself
EACH = 16  # bytes per vertex and source: levels, and copies of them while they are sorted
REACH = EdgeOp(
    "reach", target="visit_next", signal="visit[src]", slot="or", cond=f"seen[dst] != {ALL}"
)


def multi_search(g: GraphView, places: Any, count: int) -> Iterator[tuple[Any, Any, Any]]:
    """Search from many sources along the edges; yield the vertices that each level of a batch reaches.

    All members iterate over it at once.

    Parameters
    ----------
    g : GraphView
    places : array of int64, shape (V_p,)
        Index of each source among all sources, and -1 for other vertices.
    count : int
        Number of sources.

    Yields
    ------
    distance : int, or array of int32
        Number of edges from the sources, at least 1; one for all vertices, or one for each. The distances
        of a vertex ascend. They restart for each batch of 64 sources.
    vertices : array of integers
        Positions of the vertices that some sources of the batch reach at this distance, each once.
    sources : array of int64
        For each of these vertices, the number of sources that reach it at this distance.
    """
    whole, edges = False, len(g.shard.out.ends)
    seen, visit, visit_next = (g.column(0, "uint64") for _ in range(3))
    step = Advance(g, REACH, {"seen": seen, "visit": visit, "visit_next": visit_next})
    for first in range(0, count, WORD):
        own = ((places >= first) & (places < first + WORD)).nonzero()[0]
        if whole:
            yield from _by_source(g, own, beyond=0)
            continue
        bits = np.uint64(1) << (places[own] - first).astype("uint64")
        # Bits without a source are marked as seen.
        seen[:] = ALL - (ALL >> (WORD - min(WORD, count - first)))
        seen[own] |= bits
        visit[own] = bits
        frontier, rule, distance, followed = g.frontier(own), Direction("beamer", g), 0, 0
        while frontier:
            followed += frontier.leaving
            if g.alone and distance == DEEP and followed < edges and _has_room(g, len(own)):
                whole = True
                yield from _by_source(g, own, beyond=distance)
                break
            distance += 1
            pushes = rule.choose(frontier) == "push"
            reached = (step.push(frontier) if pushes else step.pull(frontier)).vertices
            bits = visit_next[reached] & ~seen[reached]
            visit_next[reached] = 0
            visit[frontier.vertices] = 0
            reached, bits = reached[bits != 0], bits[bits != 0]
            seen[reached] |= bits
            visit[reached] = bits
            frontier = g.frontier(reached)
            yield distance, reached, _ones(bits)


def _has_room(g: GraphView, count: int) -> bool:
    """Return whether the levels of `count` searches fit in half of the free memory."""
    free = free_bytes(kernels_for(g.column(0, "int8", 0)))
    return free is None or EACH * count * g.owned < free // 2


def _by_source(g: GraphView, own: Any, beyond: int) -> Iterator[tuple[Any, Any, Any]]:
    """Search from each source of a batch by itself; yield what lies beyond a distance.

    For each vertex, it yields the smallest distance first, then the next one, and so on.
    """
    rows = g.local("out").rows._replace(first=0)
    with g.superstep("push", len(own), len(own) * len(rows.ends)):
        levels = kernels_of("searches", rows.ends).levels(rows, own, threads=g.threads)
    levels.sort(axis=0)
    sources = g.column(0, "int64")
    for rank, here in enumerate(levels):
        sources += 1
        ends = here > beyond
        if rank + 1 < len(levels):
            ends &= here != levels[rank + 1]
        vertices = np.flatnonzero(ends)
        yield here[vertices], vertices, sources[vertices]
        sources[(here <= beyond) | ends] = 0


def _ones(words: Any) -> Any:
    """Return the number of set bits in each word, by adding up pairs, groups of four, and bytes."""
    pairs, fours, bytes_, each = (
        np.uint64(mask)
        for mask in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
    )
    words = words - ((words >> np.uint64(1)) & pairs)
    words = (words & fours) + ((words >> np.uint64(2)) & fours)
    words = (words + (words >> np.uint64(4))) & bytes_
    return ((words * each) >> np.uint64(56)).astype("int64")
