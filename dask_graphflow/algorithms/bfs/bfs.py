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

from functools import partial
from typing import Annotated, Any

from dask_graphflow.algorithms.by_source import SearchResult
from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Count
from dask_graphflow.declarations.option import DirectionRule
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.operators.view import GraphView

from .breadth_first import breadth_first, read_search
from .each_source import search_each


@algorithm(
    SearchResult.declare("int32"),
    cost=Cost(
        "searches", Cost.levels(), passes=1, step=Cost.FUSED, sparse=25, scratch=75,
        by_source=Cost(
            "searches", Cost.levels(), passes=6, step=1e-4, sources=64, scratch=600,
            listed=Cost.rows_by_source,
        ),
    ),
)  # fmt: skip
def bfs(
    g: GraphView,
    sources: Annotated[Any, VertexIds()],
    *,
    targets: Annotated[Any | None, VertexIds()] = None,
    depth_limit: Annotated[int | None, Count(least=0)] = None,
    direction: DirectionRule = "beamer",
    by_source: bool = False,
    previous: Annotated[Any | None, SearchResult.earlier("int32")] = None,
) -> Answer:
    """Return the distance in edges from the nearest source to each vertex, by breadth-first search.

    Weights and parallel edges do not change the result.

    Parameters
    ----------
    sources : id, or list, Series or DataFrame of ids
        Vertices to start from. Distances are measured from the nearest source.
    targets : id, or list, Series or DataFrame of ids, optional
        Vertices to find. The search stops once it has reached all of them, and the result has only their
        rows. A target that cannot be reached has no row. By default, the result has every vertex that was
        reached.
    depth_limit : int, optional
        Maximum distance in edges. By default there is no limit.
    direction : {"beamer", "gemini", "push", "pull"}
        When to pull instead of push. It affects the speed, not the result. "beamer", the default, uses
        the rule of Beamer et al. [1]_, but pushes if fewer edges leave the frontier than 1/18 of the
        number of vertices. "gemini" pulls if more than 1/20 of all edges leave the frontier [2]_. "push"
        never pulls, and "pull" always does.
    by_source : bool
        Whether to search from each source by itself, instead of from all of them at once. False by
        default. The targets and the limit then apply to each source. Up to 64 sources share the reads of
        an edge. The result can be large: it has up to one row per source and vertex, and a row takes about
        64 bytes while the result is made.
    previous : DataFrame, optional
        The result of the same call on the graph from which :meth:`~dask_graphflow.Graph.update` made this
        one, in memory, lazy, or read from Parquet. It only changes the time. If few distances change, they
        are found again from it, which reads few edges. Otherwise everything is computed from scratch: if
        the result has fewer than 65,536 rows, if more than about one edge per 1,000 vertices was changed,
        if a repair would read more than 1/16 of the edges, with `targets` or `by_source`, and on several
        shards, on disk or on GPUs.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex that was reached, or per target that was reached, sorted by vertex, with the
        columns ``vertex`` (the dtype of the ids), ``distance`` (int32, in edges) and ``predecessor`` (the
        dtype of the ids, null for a source). With `by_source`, each source has such rows, sorted by source,
        then by vertex, and the first column is ``source`` (the dtype of the ids).

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
    options: dict[str, Any] = {"targets": targets, "depth_limit": depth_limit}
    options["direction"] = direction
    if by_source:
        return SearchResult.answer_by_source(g, sources, partial(search_each, g, **options))
    if repaired := SearchResult.answer_repaired(g, previous, sources, depth_limit):
        return repaired
    return read_search(breadth_first(g, sources, **options)).answer(targets)
