"""Passes: what Louvain and Leiden do several times, each time from the communities of the last pass.

Their single vertices correct these communities. The passes end when they raise the quality too little.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dask_graphflow.declarations.answer import Answer
from dask_graphflow.operators.access import move_to
from dask_graphflow.operators.labels import Groups
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import own_sums

from .around import Around
from .level import Level, first_levels, name_groups
from .moves import join_alone, refine, split
from .resolution import columns
from .sizes import limit_size
from .which_community import EarlierCommunity, WhichCommunity

PASSES = 2  # maximum number of passes


def best_communities(
    g: GraphView,
    improve: Callable[..., Groups],
    resolution: Any,
    *,
    connected: bool,
    potts: bool = False,
    tol: float,
    levels: int,
    seed: int,
    most: int | None = None,
    previous: EarlierCommunity | None = None,
) -> Answer:
    """Return the communities of a graph. All members call it.

    `improve` is one pass. It takes a graph, the community of each vertex (None for one community per
    vertex), the seeds of the draws, and what an update changed, if only that is to be looked at. It returns
    the improved communities. The last pass raises the quality, modularity or that of the constant Potts
    model, by at most `tol` of the sum of the magnitudes of all weights. If communities are to be
    `connected`, they are split into their connected parts at the end; so are those of all levels but the
    last. Communities with more than `most` vertices are split; see :func:`.limit_size`.

    The first pass starts from the `previous` communities, if any. If they are those of the same call on the
    graph from which an update made this one, there is one pass, around what the update changed.
    """
    columns_of_all: list[Any] = []
    resolutions = resolution if isinstance(resolution, tuple) else (resolution,)
    graphs, total, size = first_levels(g, resolutions, potts=potts)
    start = around = None
    if previous is not None:
        which, change = previous
        start = _start(graphs[0], which)
        if change is not None and most is None and len(graphs) == levels == 1:
            around = Around.of(graphs[0], start, move_to(start, which.rows < 0), change)
    for graph in graphs:
        if not size:  # each vertex is a community
            columns_of_all += [g.numbers] * levels
            continue
        seeds = itertools.count(seed << 32)

        def communities_of(graph: Level, start: Any = None, seeds: Any = seeds) -> Any:
            labels = _improve_labels(graph, improve, (total, tol * size), seeds, start, around)
            return split(graph, labels) if connected else name_groups(graph.g, graph.g, labels)

        finer: list[Any] = []
        if start is None or most is None:
            labels = communities_of(graph, start)
        else:  # better ones would have to be split anew, so hardly any would keep its members
            labels = split(graph, join_alone(graph, start, next(seeds)))
        if most is not None:
            labels = limit_size(graph, labels, most, communities_of)
        if levels > 1:
            finer = _find_finer(graph, labels, seeds)[1 - levels :]
        hierarchy = [*finer, labels]
        columns_of_all += hierarchy[:1] * (levels - len(hierarchy)) + hierarchy
    names = columns(g, {"resolution": resolution, "levels": levels})
    columns_of_all = [move_to(g.numbers, labels) for labels in columns_of_all]
    return Answer(dict(zip(names, columns_of_all, strict=True)))


def _start(graph: Level, previous: WhichCommunity) -> Any:
    """Return labels of previous communities. A vertex without one, or without mass, is alone."""
    g, (community, names) = graph.g, previous
    community = move_to(g.numbers, community)
    # Only communities that have a vertex here get a number, because a label is the number of a vertex.
    used = g.elementwise_sum(own_sums(community[community >= 0], None, len(names))) > 0
    numbers = np.cumsum(used) - 1
    inside = (community >= 0) & (graph.mass > 0)
    labels = np.where(inside, numbers[np.maximum(community, 0)], -1) if len(names) else community
    return name_groups(g, g, labels.astype(g.index))


def _improve_labels(
    graph: Level,
    improve: Callable[..., Groups],
    limits: tuple[int, float],
    seeds: Iterator[int],
    start: Any,
    around: Around | None,
) -> Any:
    """Return the label of each vertex after all passes, or after one pass around changes.

    `limits` are the sum of the weights at both ends of all edges, and by how much the last pass may raise
    the quality.
    """
    total, least = limits
    if around is not None:
        return improve(graph, start, seeds, around).own
    labels, reached = start, -float("inf")
    if start is not None:
        reached = graph.groups(start).quality(total)
    for _ in range(PASSES):
        communities = improve(graph, labels, seeds, None)
        quality = communities.quality(total)
        if quality > reached:
            labels = communities.own
        if quality <= reached + least:
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
        above = coarser.lift(communities.own)
        communities, level = coarser.groups(coarser.from_finer(above)), coarser
        if level.g.size > count:
            finer.append(level.to_first(level.g.numbers))
