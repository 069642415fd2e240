"""Moves of vertices between communities, and connected parts of communities.

In a *sweep*, vertices move to the communities that raise the quality most. Neighbors that move at once
could swap their communities forever. So vertices are drawn into classes by a hash, anew for each sweep, and
one class moves at a time. The next sweep looks at vertices with a neighbor that moved. The draws depend on
the seed and on the order of the ids, and scores are exact, so the communities are the same for every
partitioning and number of threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from dask_graphflow.operators.access import combine, fetch, gather
from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.fixpoint import fixpoint
from dask_graphflow.operators.priorities import priorities
from dask_graphflow.programs.edge_op import EdgeOp

from .groups import Groups
from .level import NONE, Level

CLASSES = 8  # of vertices, one of which moves at a time
SWEEPS = 5  # at most, on each level
WAKE = EdgeOp("wake", target="awake", signal="1", slot="max")
CONNECT = EdgeOp(
    "connect",
    target="part",
    signal=f"part[src] if label[src] == label[dst] else {NONE}",
    slot="min",
)


def move_nodes(level: Level, communities: Groups, seeds: Iterator[int]) -> None:
    """Move vertices to better communities, until none moves or all sweeps are done."""
    g = level.g
    awake = (level.mass > 0).astype("int32")
    wake = Advance(g, WAKE, {"awake": awake})
    for _ in range(SWEEPS):
        movers, count = [], 0
        for vertices in _classes(level, np.flatnonzero(awake), next(seeds)):
            moved, moved_by_all = communities.move(vertices)
            movers.append(moved)
            count += moved_by_all
        if not count:
            break
        awake[:] = 0
        wake.push(g.frontier(np.concatenate(movers).astype(g.index)))


def refine(level: Level, communities: Groups, seed: int) -> Groups:
    """Return parts of communities, each of which is connected.

    A vertex joins another part only while it is alone in its own. Nobody joins a vertex that may move
    at the same time. So no part loses the vertex that connects it.
    """
    parts, numbers = level.groups(), level.g.numbers
    for vertices in _classes(level, np.flatnonzero(level.mass > 0), seed):
        own = numbers[vertices]
        alone = (parts.own[vertices] == own) & (parts.load[own] == level.mass[vertices])
        closed = np.zeros_like(parts.load, "bool")
        closed[gather(level.g, own[alone])] = True
        parts.move(vertices[alone], (communities.labels, closed))
    return parts


def split(level: Level, communities: Groups) -> Groups:
    """Return the connected components of the communities."""
    part = level.g.numbers.astype("int64")
    fixpoint(level.g, CONNECT, {"part": part, "label": communities.own})
    return level.groups(part)


def carry(level: Level, communities: Groups, coarser: Level, numbers: Any) -> Groups:
    """Return the communities of a level as groups of the coarser level.

    `numbers` are the numbers of the vertices in the coarser level, which are parts of the communities. The
    label of a community is one of its vertices.
    """
    has = numbers >= 0
    labels, first = coarser.g.column(NONE, "int64"), level.g.column(NONE, "int64")
    combine(coarser.g, labels, numbers[has], communities.own[has].astype("int64"), "min")
    combine(level.g, first, labels, coarser.g.numbers.astype("int64"), "min")
    return coarser.groups(fetch(level.g, first, labels))


def _classes(level: Level, vertices: Any, seed: int) -> Iterator[Any]:
    """Draw vertices into classes; yield the vertices of each class, ascending."""
    drawn = (priorities(level.ranks[vertices], seed) & (CLASSES - 1)).astype("uint8")
    order = np.argsort(drawn, kind="stable")
    cuts = np.cumsum(np.bincount(drawn, minlength=CLASSES)).tolist()
    for low, high in itertools.pairwise([0, *cuts]):
        yield vertices[order[low:high]]
