"""Passes: what Louvain and Leiden do several times, each time from the communities of the last pass.

Their single vertices correct these communities. The passes end when they raise the quality too little.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from dask_graphflow.declarations.answer import Answer
from dask_graphflow.operators.labels import Groups
from dask_graphflow.operators.view import GraphView

from .level import Level, first_levels, name_groups
from .moves import refine, split
from .resolution import columns
from .sizes import limit_size

PASSES = 2  # maximum number of passes


def best_communities(
    g: GraphView,
    improve: Callable[[Level, Any, Iterator[int]], Groups],
    resolution: Any,
    *,
    connected: bool,
    potts: bool = False,
    tol: float,
    levels: int,
    seed: int,
    most: int | None = None,
) -> Answer:
    """Return the communities of a graph. All members call it.

    `improve` is one pass. It takes a graph, the community of each vertex (None for one community per
    vertex), and the seeds of the draws, and returns the improved communities. The last pass raises the
    quality, modularity or that of the constant Potts model, by at most `tol` of the sum of all weights. If
    communities are to be `connected`, they are split into their connected parts at the end; so are those of
    all levels but the last. Communities with more than `most` vertices are split; see :func:`.limit_size`.
    """
    columns_of_all: list[Any] = []
    resolutions = resolution if isinstance(resolution, tuple) else (resolution,)
    graphs, total = first_levels(g, resolutions, potts=potts)
    for graph in graphs:
        if not total:  # each vertex is a community
            columns_of_all += [g.numbers] * levels
            continue
        seeds = itertools.count(seed << 32)

        def communities_of(graph: Level, seeds: Iterator[int] = seeds) -> Any:
            labels = _improve_labels(graph, improve, total, tol, seeds)
            return split(graph, labels) if connected else name_groups(graph.g, graph.g, labels)

        labels, finer = communities_of(graph), []
        if most is not None:
            labels = limit_size(graph, labels, most, communities_of)
        if levels > 1:
            finer = _find_finer(graph, labels, seeds)[1 - levels :]
        hierarchy = [*finer, labels]
        columns_of_all += hierarchy[:1] * (levels - len(hierarchy)) + hierarchy
    names = columns(g, {"resolution": resolution, "levels": levels})
    return Answer(dict(zip(names, columns_of_all, strict=True)))


def _improve_labels(
    graph: Level, improve: Callable[..., Groups], total: int, tol: float, seeds: Iterator[int]
) -> Any:
    """Return the label of each vertex after all passes."""
    labels, reached = None, -float("inf")
    for _ in range(PASSES):
        communities = improve(graph, labels, seeds)
        quality = communities.quality(total)
        if quality > reached:
            labels = communities.own
        if quality <= reached + tol * total:
            break
        reached = quality
    return labels


def _find_finer(graph: Level, labels: Any, seeds: Iterator[int]) -> list[Any]:
    """Return ever larger connected parts of communities, as the smallest numbers in them."""
    finer: list[Any] = []
    level, communities = graph, graph.groups(labels)
    count = communities.count
    while True:
        coarser = level.aggregate(refine(level, communities, next(seeds)))
        if coarser.g.size == level.vertices:
            return finer
        communities, level = coarser.groups(coarser.from_finer(communities.own)), coarser
        if level.g.size > count:
            finer.append(level.to_first(level.g.numbers))
