"""What Louvain and Leiden share: passes over coarser and coarser graphs, in which vertices move.

A *pass* moves vertices, makes one vertex of each community, and goes on with that graph, until no vertex
moves. The next pass begins with the communities of the last one. Its single vertices correct them.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np

from dask_graphflow.operators.access import combine, fetch
from dask_graphflow.operators.groups import Groups
from dask_graphflow.operators.level import Level, first_levels
from dask_graphflow.operators.view import GraphView

from .algorithm import Answer
from .local_moving import NONE, carried, components, connected_parts, move
from .resolution import columns

__all__ = ["communities"]

PASSES = 3  # at most

_Step = tuple[Level, Groups, Any]


def communities(
    g: GraphView,
    resolution: Any,
    *,
    refined: bool,
    potts: bool = False,
    tol: float,
    levels: int,
    seed: int,
) -> Answer:
    """Return the communities of a graph. All members call it.

    Parameters
    ----------
    g : GraphView
    resolution : float, or tuple of float
    refined : bool
        Whether the vertices of a coarser graph are connected parts of communities (Leiden), instead of
        whole communities (Louvain). Then all communities are connected.
    potts : bool
        Whether the quality is that of the constant Potts model instead of modularity.
    tol : float
        The last pass raises the quality by at most this part of the sum of all weights.
    levels : int
        Number of levels. All but the last have connected parts of the communities.
    seed : int
        Chooses the draws.
    """
    g, found = g.undirected, []
    resolutions = resolution if isinstance(resolution, tuple) else (resolution,)
    firsts, total = first_levels(g, resolutions, potts=potts)
    for first in firsts:
        if total:
            how: dict[str, Any] = {"refined": refined, "levels": levels, "seed": seed}
            found += _hierarchy(first, tol=tol * total, **how)
        else:
            found += [g.numbers] * levels
    names = columns(g, {"resolution": resolution, "levels": levels})
    return Answer(dict(zip(names, found, strict=True)))


def _hierarchy(level: Level, *, refined: bool, tol: float, seed: int, levels: int) -> list[Any]:
    """Return the community of each vertex on each level, finer ones first, as the smallest numbers."""
    draws = itertools.count(seed << 32)
    found, reached = _pass(level, None, refined, draws)
    for _ in range(PASSES - 1):
        labels, quality = _pass(level, found, refined, draws)
        if quality > reached:
            found = labels
        if quality <= reached + tol:
            break
        reached = quality
    finer = []
    if levels > 1:
        count = level.contracted(level.groups(found))[0].g.size
        steps = itertools.islice(_climb(level, found, draws, refined=True, moving=False), 1, None)
        finer = [_smallest(level, part, top) for part, _, top in steps if part.g.size > count]
    parts = [*finer[1 - levels :], found] if finer else [found]
    return parts[:1] * (levels - len(parts)) + parts


def _pass(first: Level, labels: Any, refined: bool, draws: Iterator[int]) -> tuple[Any, float]:
    """Improve communities; return them as the smallest numbers in them, and their quality."""
    level, groups, top = _last(_climb(first, labels, draws, refined=refined))
    if refined:
        groups = level.groups(components(level, groups))
    last, numbers = level.contracted(groups)
    top = _followed(level, numbers, top)
    del level, groups, numbers
    return _smallest(first, last, top), last.quality()


def _last(steps: Generator[Any, None, _Step]) -> _Step:
    """Return what a generator returns at its end, and keep nothing that it yields before."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def _climb(
    first: Level, labels: Any, draws: Iterator[int], *, refined: bool, moving: bool = True
) -> Generator[_Step, None, _Step]:
    """Yield each level, its communities, and the number in it of each vertex of the first level.

    The last of them are also returned. Without moving, the communities stay as they are, and levels have
    ever larger parts of them.
    """
    level, groups, top = first, first.groups(labels), None
    while True:
        if moving:
            move(level, groups, draws)
        yield level, groups, top
        parts = connected_parts(level, groups, next(draws)) if refined else groups
        coarser, numbers = level.contracted(parts)
        del parts  # no level but the first and the current one is kept in memory
        if coarser.g.size == level.vertices:
            return level, groups, top
        top = _followed(level, numbers, top)
        labels = carried(level, groups, coarser, numbers) if refined else None
        level = coarser
        del groups, coarser, numbers
        groups = level.groups(labels)


def _followed(level: Level, numbers: Any, top: Any) -> Any:
    """Return the number in a coarser level of each vertex of the first level, below 0 if it has none."""
    if top is None:
        return numbers
    return np.where(top >= 0, fetch(level.g, numbers, np.maximum(top, 0)), -1)


def _smallest(first: Level, last: Level, top: Any) -> Any:
    """Return the smallest number in each vertex's community, a vertex of the last graph; or its own."""
    found, has = first.g.numbers.copy(), top >= 0
    smallest = last.g.column(NONE, "int64")
    combine(last.g, smallest, top[has], found[has].astype("int64"), "min")
    found[has] = fetch(last.g, smallest, top[has])
    return found
