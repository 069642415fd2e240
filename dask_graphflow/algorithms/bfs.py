"""Breadth-first search: the distance in edges from the nearest source, and a predecessor.

The result has a row for every vertex that was reached, with its distance in edges and its predecessor.
The predecessor is the neighbor with the smallest id among those that are one edge nearer, and null for a
source. The predecessors form a forest of shortest paths.

The search proceeds level by level, in one of two ways. In a *push*, the frontier's edges are followed, and
each new vertex takes the smallest vertex that reaches it. In a *pull*, every vertex that has not been
reached looks at its neighbors in ascending order, and the first one in the frontier becomes its
predecessor. Pulling is faster while the frontier is large, because a vertex then finds a neighbor in the
frontier after a few attempts [1]_. Both ways give bit-identical results.

.. [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphflow.graph.shards import Shards
from dask_graphflow.kernels import index_dtype, kernels_of
from dask_graphflow.operators.advance import ALPHA, BETA, DENSE, RULES, WAYS, Step, superstep
from dask_graphflow.operators.advance import direction as choose
from dask_graphflow.operators.frontier import Frontier

from .algorithm import Answer, OrNull, View, algorithm
from .bfs_many import levels_many
from .options import Choice, Count, VertexIds

__all__ = ["bfs"]


@algorithm(
    columns={"distance": "int32", "predecessor": "id or null"},
    checks={
        "sources": VertexIds(),
        "depth_limit": Count(least=0, optional=True),
        "direction": Choice(WAYS),
    },
)
def bfs(
    g: View, sources: Any, *, depth_limit: int | None = None, direction: str = "beamer"
) -> Answer:
    """Return the distance in edges from the nearest source to each vertex, by breadth-first search.

    Weights and parallel edges do not change the result.

    Parameters
    ----------
    sources : id, or list, Series or DataFrame of ids
        Vertices to start from. Distances are measured from the nearest source. If ids have several
        columns, write each id as a tuple; a single tuple with one part per column is one source.
    depth_limit : int, optional
        Maximum distance in edges. By default there is no limit.
    direction : {"beamer", "gemini", "push", "pull"}
        When to pull instead of push. It affects the speed, not the result. "beamer", the default, uses
        the rule of [1]_, but pushes if the edges that leave the frontier are fewer than 1/18 of the
        number of vertices. "gemini" pulls if more than 1/20 of all edges leave the frontier [2]_. "push"
        never pulls, and "pull" always does.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex that was reached, sorted by vertex, with the columns ``vertex`` (the dtype of
        the ids), ``distance`` (int32, in edges) and ``predecessor`` (the dtype of the ids, null for a
        source).

    Raises
    ------
    UnknownVertexError
        A source is not in the graph: no edge starts or ends there. Raised when the result is computed.

    References
    ----------
    .. [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.
    .. [2] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph
       Processing System", OSDI 2016.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2, 5], "b": [2, 5, 7, 7]})
    >>> gf.bfs(links, source="a", target="b", sources=[1]).compute()
       vertex  distance  predecessor
    0       1         0         <NA>
    1       2         1            1
    2       5         1            1
    3       7         2            2
    """
    how: dict[str, Any] = {"depth_limit": depth_limit, "rule": direction}
    level, predecessor, g.steps = g.call(levels, levels_many, sources, **how)
    columns = {"distance": level, "predecessor": OrNull(predecessor, level <= 0)}
    return Answer(columns, level >= 0)


def levels(
    shards: Shards, sources: Any, *, depth_limit: int | None, rule: str, threads: int
) -> tuple[Any, Any, list[dict[str, Any]]]:
    """Return each vertex's level, -1 where it was not reached, its predecessor, and the supersteps."""
    size, kernels = shards.size, kernels_of("search", sources)
    dtype = np.dtype(index_dtype(size))
    level = np.full_like(sources, kernels.UNSEEN, "int32", shape=size)
    predecessor = np.full_like(sources, np.iinfo(dtype).max, dtype, shape=size)
    level[sources], predecessor[sources] = 0, -1
    degrees = shards.out_degrees(threads)
    unexplored = total = int(degrees.sum())
    seen = shards.isolated().copy()
    frontier = Frontier(size, vertices=sources.astype(dtype))
    kernels.mark_seen(seen, frontier.vertices)
    # "beamer" pulls from more than V / BETA edges only: as if at least so many were unexplored.
    least = size // BETA * ALPHA
    out, steps = shards.out(threads), []
    last, depth = None, 0

    def note(way: str, sizes: Any, edges: Any, began: float) -> Step:
        seconds = (time.perf_counter() - began) / len(sizes)
        for count, leaving in zip(sizes, edges, strict=True):
            steps.append(superstep(way, int(count), int(leaving), seconds))
        return Step(way, int(sizes[-1]), int(edges[-1]), 0, 0, 0)

    while len(frontier) and depth != depth_limit:
        began = time.perf_counter()
        way = rule
        if rule in RULES:
            how: dict[str, Any] = {"last": last, "unexplored": unexplored}
            way = choose(frontier, degrees, total=total, rule=rule, **how)
        leaving, state = frontier.edges(degrees), (seen, predecessor, level, depth + 1)
        if way == "push" and len(out) == 1 and leaving <= kernels.FEW:
            beamer = ALPHA, max(unexplored, least), unexplored > least
            dense = {"gemini": (DENSE, total, False), "beamer": beamer}
            left = (size if depth_limit is None else depth_limit) - depth
            found, sizes, edges = kernels.bfs_near(
                out[0], frontier.vertices, *state, levels=left, dense=dense.get(rule, (0, 0, False))
            )
            frontier = Frontier(size, vertices=found)
            last = note("push", sizes, edges, began)
            depth, unexplored = depth + len(sizes), unexplored - int(edges.sum())
            continue
        count, depth, unexplored = len(frontier), depth + 1, unexplored - leaving
        if way == "pull":
            following = np.zeros_like(seen)
            for rows in shards.into(threads):
                kernels.bfs_pull(rows, frontier.words, following, *state, threads=threads)
            frontier = Frontier(size, words=following)
        else:
            parts = [
                kernels.bfs_push(rows, mine, *state, threads=threads)
                for rows, mine in zip(out, shards.own(frontier.vertices), strict=True)
            ]
            found = parts[0] if len(parts) == 1 else np.concatenate(parts)
            frontier = Frontier(size, vertices=found)
            kernels.mark_seen(seen, found)
        last = note(way, [count], [leaving], began)
    return level, predecessor, steps
