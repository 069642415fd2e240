"""Moves of vertices between communities, and connected parts of communities.

In a *sweep*, vertices move to the communities that raise the quality most. Neighbors that move at once
could swap their communities forever. So vertices are drawn into classes by a hash, anew for each sweep, and
one class moves at a time. The next sweep looks at vertices with a neighbor that moved to another community
than theirs. The draws depend on the seed and on the order of the ids, and scores are exact, so the
communities are the same for every partitioning and number of threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from dask_graphflow.operators.access import wide_column
from dask_graphflow.operators.forests.connected import find_components
from dask_graphflow.operators.labels import Groups, count_labels
from dask_graphflow.operators.whole_weights import own_sums, sums_inside

from .around import Around
from .level import Level

SWEEPS = 5  # maximum number of sweeps on each level
SPREADING = 20  # the same if few vertices are awake at first, and activity has to spread


def move_nodes(
    level: Level, communities: Groups, seeds: Iterator[int], around: Around | None = None
) -> None:
    """Move vertices to better communities, until none moves or all sweeps are done.

    At first, all vertices are awake, or only those `around` changes.
    """
    awake, sweeps, before = (level.mass > 0).astype("int32"), SWEEPS, None
    if around is not None:
        awake, sweeps, before = around.awake, SPREADING, communities.own.copy()
    for seed in itertools.islice(seeds, sweeps):
        if not communities.sweep((level.ranks, seed), awake):
            break
    if around is not None:
        around.touch(before, communities.own)


def refine(level: Level, communities: Groups, seed: int, around: Around | None = None) -> Groups:
    """Return parts of communities, each of which is connected; only of those touched `around` changes."""
    can, labels = level.mass > 0, None
    if around is not None:
        inside = around.touched[communities.own]
        # A community that is not touched has lost no vertex, so its label is the number of one of its own.
        labels = np.where(inside, level.g.numbers, communities.own)
        can &= inside
    parts = level.groups(labels)
    parts.sweep((level.ranks, seed), can.astype("int32"), communities.labels)
    return parts


def fall_apart(level: Level, communities: Groups, parts: Groups) -> Groups:
    """Return communities, of which those fall into their parts whose quality this raises.

    Vertices only move to communities next to them. So with negative weights, one that is better off alone
    cannot leave its community otherwise. Without negative weights, no community falls apart.
    """
    if not level.signed:
        return communities
    g, own = level.g, communities.own
    inside = sums_inside(g, level.weights, parts.own) - sums_inside(g, level.weights, own)
    load = level.mass * (parts.load[parts.own] - communities.load[own])
    count = len(communities.load)
    gain = g.elementwise_sum(own_sums(own, inside, count)) - level.factor * g.elementwise_sum(
        own_sums(own, load, count)
    )
    better = gain > 0
    return level.groups(np.where(better[own], parts.own, own)) if better.any() else communities


def join_alone(level: Level, labels: Any, seed: int) -> Any:
    """Return labels after vertices that were alone joined communities next to them; no others move."""
    communities = level.groups(labels)
    alone = (count_labels(level.g, labels)[labels] == 1) & (level.mass > 0)
    communities.sweep((level.ranks, seed), alone.astype("int32"))
    return communities.own


def move_back(
    level: Level, communities: Groups, seeds: Iterator[int], around: Around | None
) -> tuple[Level, Groups]:
    """Return the next finer level and the communities there, after its vertices moved once more.

    If only those `around` changes are to move, it is the first level, and no vertex moves.
    """
    assert level.finer is not None
    if around is not None:
        first = level.finer
        while first.finer is not None:
            first = first.finer
        return first, first.groups(level.to_first(communities.own))
    labels = level.to_finer(communities.own)
    communities = level.finer.groups(labels)
    move_nodes(level.finer, communities, seeds)
    return level.finer, communities


def split(level: Level, labels: Any) -> Any:
    """Return the connected parts of communities in the first level, as their smallest numbers."""
    return find_components(level.g, wide_column(level.g, labels))
