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

from dask_graphflow.operators.access import combine, fetch
from dask_graphflow.operators.fixpoint import fixpoint
from dask_graphflow.programs.edge_op import EdgeOp

from .groups import Groups
from .level import NONE, Level

SWEEPS = 5  # at most, on each level
CONNECT = EdgeOp(
    "connect",
    target="part",
    signal=f"part[src] if label[src] == label[dst] else {NONE}",
    slot="min",
)


def move_nodes(level: Level, communities: Groups, seeds: Iterator[int]) -> None:
    """Move vertices to better communities, until none moves or all sweeps are done."""
    awake = (level.mass > 0).astype("int32")
    for seed in itertools.islice(seeds, SWEEPS):
        if not communities.sweep((level.ranks, seed), awake):
            break


def refine(level: Level, communities: Groups, seed: int) -> Groups:
    """Return parts of communities, each of which is connected."""
    parts = level.groups()
    parts.sweep((level.ranks, seed), (level.mass > 0).astype("int32"), communities.labels)
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
