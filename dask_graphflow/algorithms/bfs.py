"""Breadth-first search: how many edges away each vertex is from the nearest source, and on which way.

Returns a frame of every vertex that was reached, its distance in edges, and its predecessor: of the
neighbours that are one edge nearer the one with the smallest id, null for a source. The predecessors are a
forest of shortest paths.

Level by level, either the frontier's edges are *pushed* along, each new vertex taking the smallest of
those that reach it; or every vertex not yet seen *pulls*: it asks its neighbours in ascending order, and
the first one in the frontier is its predecessor. Pulling pays while the frontier is large, since then
a few questions find one [1]_. Both give the same bits.

.. [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphflow.dataflow.exchange import Exchange
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.shards import Shards
from dask_graphflow.kernels import index_dtype, twin
from dask_graphflow.operators.advance import ALPHA, BETA, DENSE, RULES, Step, check_way, superstep
from dask_graphflow.operators.advance import direction as choose
from dask_graphflow.operators.frontier import Frontier

from . import naming
from .answers import Answer, OrNull
from .bfs_many import levels_many
from .graph import Graph
from .inputs import check_count
from .named import numbers_of

__all__ = ["bfs", "search"]


def bfs(
    edges: Any,
    *,
    source: Any,
    target: Any,
    sources: Any,
    directed: bool = True,
    depth_limit: int | None = None,
    direction: str = "beamer",
    dropna: bool = False,
    trace: bool = False,
    progress: Any = False,
) -> Any:
    """Search a graph breadth first.

    Parameters
    ----------
    edges, source, target, directed, dropna
        The graph; see :class:`~dask_graphflow.Graph`. Weights and repeated edges change nothing.
    sources : id, or list, Series or DataFrame of ids
        Where to begin: distances are to the nearest. An id of several columns is a tuple,
        and a single tuple of as many parts is one source.
    depth_limit : int, optional
        Go no further than this many edges.
    direction : {"beamer", "gemini", "push", "pull"}
        When to pull: by the rule of [1]_, but not from frontiers that few edges leave, 1/18 of the
        number of vertices; where more than 1/20 of all edges leave the frontier [2]_; never; always.
    trace : bool
        Return the supersteps too.
    progress : bool or callable
        Tell of each superstep as it ends: True shows a progress bar in a terminal; or a function that is
        given a dict of ``superstep``, ``direction``, ``frontier``, ``edges``, and of the first member
        ``bytes`` (that it sent) and ``seconds``. On a cluster the client calls it, in the thread of its
        event loop, ten times a second at most and for the last superstep.

    Returns
    -------
    dask.dataframe.DataFrame
        Columns ``vertex``, ``distance`` (int32) and ``predecessor``, of the vertices that were reached,
        sorted by vertex. A source has no predecessor. Lazy, and the same bits for every partitioning,
        number of threads and direction. The index counts from 0 in each partition.
    dask.dataframe.DataFrame
        With `trace`, a row a superstep: ``superstep``, ``direction``, ``frontier`` (vertices it began
        from), ``edges`` (that leave those), ``seconds``. Of a graph of several shards a row for each of
        these, by column ``member`` and a partition each, with its own seconds and how it spent them:
        ``compute``, ``communicate``, ``wait``; the ``bytes`` that it sent; and whether its GPU, having no
        room for the graph's edges, reads them over the link (``linked``).

    Raises
    ------
    UnknownVertexError
        When it is computed: a source that no edge begins or ends at.
    OptionError, UnknownColumnError, VertexTypeError, EdgeListError
        What is wrong with the call.

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
    graph = Graph(edges, source=source, target=target, directed=directed, dropna=dropna)
    how: dict[str, Any] = {"direction": direction, "trace": trace, "progress": progress}
    return search(graph, sources, depth_limit=depth_limit, **how)


def search(
    graph: Graph,
    sources: Any,
    *,
    depth_limit: int | None,
    direction: str,
    trace: bool,
    progress: Any,
) -> Any:
    """Search a graph breadth first: see :func:`bfs`."""
    check_way(direction)
    check_count("depth_limit", depth_limit, least=0, optional=True)
    dtypes = {"distance": "int32", "predecessor": "id or null"}
    given = graph.sources(sources), depth_limit, direction
    shown: dict[str, Any] = {"trace": trace, "progress": progress}
    return graph.ask("bfs", _search, dtypes, *given, many=_search_many, **shown)


def _search(
    shards: Shards, threads: int, sources: Any, depth_limit: int | None, rule: str
) -> Answer:
    level, predecessor, steps = levels(
        shards, numbers_of(shards, sources), depth_limit=depth_limit, rule=rule, threads=threads
    )
    columns = {"distance": level, "predecessor": OrNull(predecessor, level <= 0)}
    return Answer(columns, level >= 0, steps)


def _search_many(
    shard: Shard,
    exchange: Exchange,
    threads: int,
    sources: Any,
    depth_limit: int | None,
    rule: str,
) -> Answer:
    own = naming.numbers_of(shard, exchange, sources)
    level, predecessor, steps = levels_many(
        shard, exchange, own, depth_limit=depth_limit, rule=rule, threads=threads
    )
    columns = {"distance": level, "predecessor": OrNull(predecessor, level <= 0)}
    return Answer(columns, level >= 0, steps)


def levels(
    shards: Shards, sources: Any, *, depth_limit: int | None, rule: str, threads: int
) -> tuple[Any, Any, list[dict[str, Any]]]:
    """Return each vertex's level, -1 where it was not reached, its predecessor, and the supersteps."""
    size, kernels = shards.size, twin("bfs", sources)
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
