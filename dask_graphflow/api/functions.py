"""The algorithms as functions of a frame or a graph.

``python3 dev.py generate`` wrote this file from the declarations in ``dask_graphflow/algorithms``. Change
them, and run it again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, overload

import dask.dataframe as dd

from .calls import as_graph
from .graph import Graph
from .inputs import ColumnNames, Listener

__all__ = [
    "bfs",
    "core_number",
    "degrees",
    "hits",
    "label_propagation",
    "maximal_independent_set",
    "pagerank",
    "sssp",
]

# fmt: off


@overload
def bfs(edges: Any, *, source: ColumnNames, target: ColumnNames, sources: Any,
    directed: bool = True, vertices: Any = None, dropna: bool = False,
    depth_limit: int | None = None, direction: str = "beamer",
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def bfs(edges: Any, *, source: ColumnNames, target: ColumnNames, sources: Any,
    directed: bool = True, vertices: Any = None, dropna: bool = False,
    depth_limit: int | None = None, direction: str = "beamer", trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def bfs(edges: Any, *, source: ColumnNames, target: ColumnNames, sources: Any,
    directed: bool = True, vertices: Any = None, dropna: bool = False,
    depth_limit: int | None = None, direction: str = "beamer", trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def bfs(edges: Graph, *, sources: Any, depth_limit: int | None = None,
    direction: str = "beamer", trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def bfs(edges: Graph, *, sources: Any, depth_limit: int | None = None,
    direction: str = "beamer", trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def bfs(edges: Graph, *, sources: Any, depth_limit: int | None = None,
    direction: str = "beamer", trace: bool = False, progress: Listener = False) -> Any: ...
def bfs(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, directed: bool = True, vertices: Any = None, dropna: bool = False,
    depth_limit: int | None = None, direction: str = "beamer", trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the distance in edges from the nearest source to each vertex, by breadth-first search.

    Weights and parallel edges do not change the result.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame, pandas.DataFrame, cudf.DataFrame or Graph
        The edge list, one row per edge. Or a :class:`~dask_graphflow.Graph`, without `source`, `target`,
        `directed`, `vertices` and `dropna`.
    source, target, directed, vertices, dropna
        How the edges of a frame become a graph; see :class:`~dask_graphflow.Graph`.
    sources : id, or list, Series or DataFrame of ids
        Vertices to start from. Distances are measured from the nearest source. If ids have several columns,
        write each id as a tuple; a single tuple with one part per column is one source.
    depth_limit : int, optional
        Maximum distance in edges. By default there is no limit.
    direction : {"beamer", "gemini", "push", "pull"}
        When to pull instead of push. It affects the speed, not the result. "beamer", the default, uses the
        rule of [1]_, but pushes if the edges that leave the frontier are fewer than 1/18 of the number of
        vertices. "gemini" pulls if more than 1/20 of all edges leave the frontier [2]_. "push" never pulls,
        and "pull" always does.
    trace : bool
        Also return a frame with one row per superstep. False by default.
    progress : bool or callable
        Report each superstep when it ends, in a progress bar or to a function. False by default. The notes
        of :class:`~dask_graphflow.Graph` describe both.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex that was reached, sorted by vertex, with the columns ``vertex`` (the dtype of the
        ids), ``distance`` (int32, in edges) and ``predecessor`` (the dtype of the ids, null for a source).
        The result is lazy, and bit-identical for every partitioning and number of threads. The index
        restarts at 0 in each partition.
    dask.dataframe.DataFrame
        Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.

    Raises
    ------
    UnknownVertexError
        A source is not in the graph: no edge starts or ends there. Raised when the result is computed.
    NullVertexError
        An id is null, and `dropna` is False. Raised when the result is computed.
    OptionError, UnknownColumnError, VertexTypeError, EdgeListError
        An argument is invalid; raised at the call.

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
    graph = as_graph(bfs, edges, source=source, target=target, directed=directed, vertices=vertices,
        dropna=dropna)
    return graph.bfs(sources, depth_limit=depth_limit, direction=direction, trace=trace,
        progress=progress)


@overload
def core_number(edges: Any, *, source: ColumnNames, target: ColumnNames,
    directed: bool = False, vertices: Any = None, dropna: bool = False,
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def core_number(edges: Any, *, source: ColumnNames, target: ColumnNames,
    directed: bool = False, vertices: Any = None, dropna: bool = False,
    trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def core_number(edges: Any, *, source: ColumnNames, target: ColumnNames,
    directed: bool = False, vertices: Any = None, dropna: bool = False, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def core_number(edges: Graph, *, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def core_number(edges: Graph, *, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def core_number(edges: Graph, *, trace: bool = False,
    progress: Listener = False) -> Any: ...
def core_number(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, trace: bool = False, progress: Listener = False) -> Any:
    """Return the core number of each vertex.

    The k-core is the largest subgraph in which every vertex has at least k edges. The core number of a
    vertex is the largest k such that the k-core contains it. Self-loops and parallel edges are ignored. In
    a directed graph, the edges that enter a vertex and the edges that leave it count together, so a pair of
    opposite edges counts twice.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame, pandas.DataFrame, cudf.DataFrame or Graph
        The edge list, one row per edge. Or a :class:`~dask_graphflow.Graph`, without `source`, `target`,
        `directed`, `vertices` and `dropna`.
    source, target, directed, vertices, dropna
        How the edges of a frame become a graph; see :class:`~dask_graphflow.Graph`.
    trace : bool
        Also return a frame with one row per superstep. False by default.
    progress : bool or callable
        Report each superstep when it ends, in a progress bar or to a function. False by default. The notes
        of :class:`~dask_graphflow.Graph` describe both.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
        ``core`` (int32). The result is lazy, and bit-identical for every partitioning and number of
        threads. The index restarts at 0 in each partition.
    dask.dataframe.DataFrame
        Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.

    Raises
    ------
    NullVertexError
        An id is null, and `dropna` is False. Raised when the result is computed.
    OptionError, UnknownColumnError, VertexTypeError, EdgeListError
        An argument is invalid; raised at the call.

    References
    ----------
    .. [1] V. Batagelj, M. Zaversnik, "An O(m) Algorithm for Cores Decomposition of Networks", 2003.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3], "b": [2, 3, 3, 4]})
    >>> gf.core_number(ties, source="a", target="b").compute().core.tolist()
    [2, 2, 2, 1]
    """
    graph = as_graph(core_number, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.core_number(trace=trace, progress=progress)


@overload
def degrees(edges: Any, *, source: ColumnNames, target: ColumnNames, directed: bool = True,
    vertices: Any = None, dropna: bool = False) -> dd.DataFrame: ...
@overload
def degrees(edges: Graph) -> dd.DataFrame: ...
def degrees(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False) -> Any:
    """Return the number of edges that enter and leave each vertex.

    A self-loop counts once. Parallel edges count separately, unless the graph merges them; see `multi` of
    :class:`~dask_graphflow.Graph`.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame, pandas.DataFrame, cudf.DataFrame or Graph
        The edge list, one row per edge. Or a :class:`~dask_graphflow.Graph`, without `source`, `target`,
        `directed`, `vertices` and `dropna`.
    source, target, directed, vertices, dropna
        How the edges of a frame become a graph; see :class:`~dask_graphflow.Graph`.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex. The columns are ``vertex`` (the dtype of the ids),
        ``in_degree`` and ``out_degree`` (int64) for a directed graph, or ``vertex`` and ``degree`` (int64)
        for an undirected one. The result is lazy, and bit-identical for every partitioning and number of
        threads. The index restarts at 0 in each partition.

    Raises
    ------
    NullVertexError
        An id is null, and `dropna` is False. Raised when the result is computed.
    OptionError, UnknownColumnError, VertexTypeError, EdgeListError
        An argument is invalid; raised at the call.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2], "b": [2, 5, 5]})
    >>> gf.degrees(links, source="a", target="b").compute()
       vertex  in_degree  out_degree
    0       1          0           2
    1       2          1           1
    2       5          2           0
    """
    graph = as_graph(degrees, edges, source=source, target=target, directed=directed, vertices=vertices,
        dropna=dropna)
    return graph.degrees()


@overload
def hits(edges: Any, *, source: ColumnNames, target: ColumnNames,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, max_iter: int = 100, tol: float = 1e-08,
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def hits(edges: Any, *, source: ColumnNames, target: ColumnNames,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, max_iter: int = 100, tol: float = 1e-08,
    trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def hits(edges: Any, *, source: ColumnNames, target: ColumnNames,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, max_iter: int = 100, tol: float = 1e-08,
    trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def hits(edges: Graph, *, max_iter: int = 100, tol: float = 1e-08,
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def hits(edges: Graph, *, max_iter: int = 100, tol: float = 1e-08, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def hits(edges: Graph, *, max_iter: int = 100, tol: float = 1e-08, trace: bool = False,
    progress: Listener = False) -> Any: ...
def hits(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: Hashable | None = None,
    directed: bool = True, multi: str = "keep", vertices: Any = None, dropna: bool = False,
    max_iter: int = 100, tol: float = 1e-08, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the hub score and the authority score of each vertex.

    Good hubs have edges to good authorities, and good authorities have edges from good hubs. Weights
    multiply what an edge carries. If no edge has a weight above 0, all scores are the same.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame, pandas.DataFrame, cudf.DataFrame or Graph
        The edge list, one row per edge. Or a :class:`~dask_graphflow.Graph`, without `source`, `target`,
        `weight`, `directed`, `multi`, `vertices` and `dropna`.
    source, target, weight, directed, multi, vertices, dropna
        How the edges of a frame become a graph; see :class:`~dask_graphflow.Graph`.
    max_iter : int
        Maximum number of iterations; 100 by default.
    tol : float
        Stop when the sum of the absolute changes of all hub scores is less than this; 1e-8 by default.
    trace : bool
        Also return a frame with one row per superstep. False by default.
    progress : bool or callable
        Report each superstep when it ends, in a progress bar or to a function. False by default. The notes
        of :class:`~dask_graphflow.Graph` describe both.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids), ``hub``
        and ``authority`` (both float64). Each of the two sums to 1. The result is lazy, and bit-identical
        for every partitioning and number of threads. The index restarts at 0 in each partition.
    dask.dataframe.DataFrame
        Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.

    Raises
    ------
    ConvergenceError
        `max_iter` iterations did not reach `tol`. Raised when the result is computed.
    WeightError
        A weight is negative, infinite, NaN, or far too large or small. Raised when the result is computed.
    NullVertexError
        An id is null, and `dropna` is False. Raised when the result is computed.
    OptionError, UnknownColumnError, VertexTypeError, EdgeListError
        An argument is invalid; raised at the call.

    References
    ----------
    .. [1] J. M. Kleinberg, "Authoritative Sources in a Hyperlinked Environment", JACM 46, 1999.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2], "b": [3, 4, 4]})
    >>> gf.hits(links, source="a", target="b").compute().round(3)
       vertex    hub  authority
    0       1  0.618      0.000
    1       2  0.382      0.000
    2       3  0.000      0.382
    3       4  0.000      0.618
    """
    graph = as_graph(hits, edges, source=source, target=target, weight=weight, directed=directed,
        multi=multi, vertices=vertices, dropna=dropna)
    return graph.hits(max_iter=max_iter, tol=tol, trace=trace, progress=progress)


@overload
def label_propagation(edges: Any, *, source: ColumnNames, target: ColumnNames,
    directed: bool = False, vertices: Any = None, dropna: bool = False, max_iter: int = 10,
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def label_propagation(edges: Any, *, source: ColumnNames, target: ColumnNames,
    directed: bool = False, vertices: Any = None, dropna: bool = False, max_iter: int = 10,
    trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def label_propagation(edges: Any, *, source: ColumnNames, target: ColumnNames,
    directed: bool = False, vertices: Any = None, dropna: bool = False, max_iter: int = 10,
    trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def label_propagation(edges: Graph, *, max_iter: int = 10, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def label_propagation(edges: Graph, *, max_iter: int = 10, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def label_propagation(edges: Graph, *, max_iter: int = 10, trace: bool = False,
    progress: Listener = False) -> Any: ...
def label_propagation(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, max_iter: int = 10, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the community of each vertex, by label propagation.

    Every vertex starts with its own id as its label. In each iteration, all vertices at once adopt the most
    frequent label of their neighbors, and the smallest one if there is a tie.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame, pandas.DataFrame, cudf.DataFrame or Graph
        The edge list, one row per edge. Or a :class:`~dask_graphflow.Graph`, without `source`, `target`,
        `directed`, `vertices` and `dropna`.
    source, target, vertices, dropna
        How the edges of a frame become a graph; see :class:`~dask_graphflow.Graph`.
    directed : bool
        Whether an edge leads only from its source to its target. False by default. If True, a neighbor
        counts once for each edge to it and once for each edge from it.
    max_iter : int
        Maximum number of iterations; 10 by default. The algorithm stops earlier if no label changes.
    trace : bool
        Also return a frame with one row per superstep. False by default.
    progress : bool or callable
        Report each superstep when it ends, in a progress bar or to a function. False by default. The notes
        of :class:`~dask_graphflow.Graph` describe both.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` and ``label`` (both the dtype of
        the ids). The result is lazy, and bit-identical for every partitioning and number of threads. The
        index restarts at 0 in each partition.
    dask.dataframe.DataFrame
        Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.

    Raises
    ------
    NullVertexError
        An id is null, and `dropna` is False. Raised when the result is computed.
    OptionError, UnknownColumnError, VertexTypeError, EdgeListError
        An argument is invalid; raised at the call.

    References
    ----------
    .. [1] U. N. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community structures
       in large-scale networks", Physical Review E 76, 2007.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3, 4, 4, 5], "b": [2, 3, 3, 4, 5, 6, 6]})
    >>> gf.label_propagation(ties, source="a", target="b").compute().label.tolist()
    [1, 1, 1, 3, 3, 3]
    """
    graph = as_graph(label_propagation, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.label_propagation(max_iter=max_iter, trace=trace, progress=progress)


@overload
def maximal_independent_set(edges: Any, *, source: ColumnNames, target: ColumnNames,
    directed: bool = False, vertices: Any = None, dropna: bool = False, seed: int = 0,
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def maximal_independent_set(edges: Any, *, source: ColumnNames, target: ColumnNames,
    directed: bool = False, vertices: Any = None, dropna: bool = False, seed: int = 0,
    trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def maximal_independent_set(edges: Any, *, source: ColumnNames, target: ColumnNames,
    directed: bool = False, vertices: Any = None, dropna: bool = False, seed: int = 0,
    trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def maximal_independent_set(edges: Graph, *, seed: int = 0, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def maximal_independent_set(edges: Graph, *, seed: int = 0, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def maximal_independent_set(edges: Graph, *, seed: int = 0, trace: bool = False,
    progress: Listener = False) -> Any: ...
def maximal_independent_set(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, seed: int = 0, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return a maximal independent set of the vertices.

    No edge connects two selected vertices, and every vertex that is not selected has a selected neighbor.
    The directions of edges and self-loops are ignored, so a vertex without other edges is always selected.
    The set is the one that a greedy search finds if it visits the vertices in a random order.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame, pandas.DataFrame, cudf.DataFrame or Graph
        The edge list, one row per edge. Or a :class:`~dask_graphflow.Graph`, without `source`, `target`,
        `directed`, `vertices` and `dropna`.
    source, target, directed, vertices, dropna
        How the edges of a frame become a graph; see :class:`~dask_graphflow.Graph`.
    seed : int
        Chooses the random order; 0 by default. The order depends only on the seed and on the order of the
        ids.
    trace : bool
        Also return a frame with one row per superstep. False by default.
    progress : bool or callable
        Report each superstep when it ends, in a progress bar or to a function. False by default. The notes
        of :class:`~dask_graphflow.Graph` describe both.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
        ``selected`` (bool). The result is lazy, and bit-identical for every partitioning and number of
        threads. The index restarts at 0 in each partition.
    dask.dataframe.DataFrame
        Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.

    Raises
    ------
    NullVertexError
        An id is null, and `dropna` is False. Raised when the result is computed.
    OptionError, UnknownColumnError, VertexTypeError, EdgeListError
        An argument is invalid; raised at the call.

    References
    ----------
    .. [1] G. E. Blelloch, J. T. Fineman, J. Shun, "Greedy Sequential Maximal Independent Set and Matching
       are Parallel on Average", SPAA 2012.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 1, 1], "b": [2, 3, 4, 5]})
    >>> gf.maximal_independent_set(ties, source="a", target="b").compute().selected.tolist()
    [False, True, True, True, True]
    """
    graph = as_graph(maximal_independent_set, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.maximal_independent_set(seed=seed, trace=trace, progress=progress)


@overload
def pagerank(edges: Any, *, source: ColumnNames, target: ColumnNames,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, alpha: float = 0.85,
    tol: float | None = 1e-06, max_iter: int = 100, personalization: Any = None,
    precision: str = "float64", fail_on_nonconvergence: bool = True,
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def pagerank(edges: Any, *, source: ColumnNames, target: ColumnNames,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, alpha: float = 0.85,
    tol: float | None = 1e-06, max_iter: int = 100, personalization: Any = None,
    precision: str = "float64", fail_on_nonconvergence: bool = True, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def pagerank(edges: Any, *, source: ColumnNames, target: ColumnNames,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, alpha: float = 0.85,
    tol: float | None = 1e-06, max_iter: int = 100, personalization: Any = None,
    precision: str = "float64", fail_on_nonconvergence: bool = True, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def pagerank(edges: Graph, *, alpha: float = 0.85, tol: float | None = 1e-06,
    max_iter: int = 100, personalization: Any = None, precision: str = "float64",
    fail_on_nonconvergence: bool = True, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def pagerank(edges: Graph, *, alpha: float = 0.85, tol: float | None = 1e-06,
    max_iter: int = 100, personalization: Any = None, precision: str = "float64",
    fail_on_nonconvergence: bool = True, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def pagerank(edges: Graph, *, alpha: float = 0.85, tol: float | None = 1e-06,
    max_iter: int = 100, personalization: Any = None, precision: str = "float64",
    fail_on_nonconvergence: bool = True, trace: bool = False,
    progress: Listener = False) -> Any: ...
def pagerank(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: Hashable | None = None,
    directed: bool = True, multi: str = "keep", vertices: Any = None, dropna: bool = False,
    alpha: float = 0.85, tol: float | None = 1e-06, max_iter: int = 100,
    personalization: Any = None, precision: str = "float64",
    fail_on_nonconvergence: bool = True, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the PageRank of each vertex.

    A vertex ranks high if vertices that rank high have edges to it. The rank of a vertex is divided over
    the edges that leave it, in proportion to their weights, or evenly if there are none. Ranks sum to 1.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame, pandas.DataFrame, cudf.DataFrame or Graph
        The edge list, one row per edge. Or a :class:`~dask_graphflow.Graph`, without `source`, `target`,
        `weight`, `directed`, `multi`, `vertices` and `dropna`.
    source, target, weight, directed, multi, vertices, dropna
        How the edges of a frame become a graph; see :class:`~dask_graphflow.Graph`.
    alpha : float
        Damping factor: the probability of following an edge, from 0 to 1. 0.85 by default.
    tol : float or None
        Stop when the mean absolute change per vertex is less than this; 1e-6 by default. None runs exactly
        `max_iter` iterations.
    max_iter : int
        Maximum number of iterations; 100 by default.
    personalization : dict, Series or DataFrame, optional
        Restart weights: a dict or Series indexed by vertex id, or a frame with id columns followed by one
        weight column. Uniform by default.
    precision : {"float64", "float32"}
        Precision of the ranks during the computation. With "float32" an iteration reads half as much
        memory, and ranks are accurate to about 5 digits. "float64" by default.
    fail_on_nonconvergence : bool
        If `max_iter` iterations do not reach `tol`: True, the default, raises an error; False returns the
        ranks so far.
    trace : bool
        Also return a frame with one row per superstep. False by default.
    progress : bool or callable
        Report each superstep when it ends, in a progress bar or to a function. False by default. The notes
        of :class:`~dask_graphflow.Graph` describe both.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
        ``pagerank`` (float64). The result is lazy, and bit-identical for every partitioning and number of
        threads. The index restarts at 0 in each partition.
    dask.dataframe.DataFrame
        Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.

    Raises
    ------
    ConvergenceError
        `max_iter` iterations did not reach `tol`. Raised when the result is computed.
    WeightError
        A weight is negative, infinite or NaN. Raised when the result is computed.
    UnknownVertexError
        An id in `personalization` is not in the graph: no edge starts or ends there. Raised when the result
        is computed.
    NullVertexError
        An id is null, and `dropna` is False. Raised when the result is computed.
    OptionError, UnknownColumnError, VertexTypeError, EdgeListError
        An argument is invalid; raised at the call.

    References
    ----------
    .. [1] L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank Citation Ranking: Bringing Order to the
       Web", Stanford, 1999.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2, 5], "b": [2, 5, 7, 7]})
    >>> gf.pagerank(links, source="a", target="b").compute().round(3)
       vertex  pagerank
    0       1     0.138
    1       2     0.196
    2       5     0.196
    3       7     0.471
    """
    graph = as_graph(pagerank, edges, source=source, target=target, weight=weight, directed=directed,
        multi=multi, vertices=vertices, dropna=dropna)
    return graph.pagerank(alpha=alpha, tol=tol, max_iter=max_iter, personalization=personalization,
        precision=precision, fail_on_nonconvergence=fail_on_nonconvergence, trace=trace,
        progress=progress)


@overload
def sssp(edges: Any, *, source: ColumnNames, target: ColumnNames, sources: Any,
    weight: Hashable, directed: bool = True, multi: str = "keep", vertices: Any = None,
    dropna: bool = False, cutoff: float | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def sssp(edges: Any, *, source: ColumnNames, target: ColumnNames, sources: Any,
    weight: Hashable, directed: bool = True, multi: str = "keep", vertices: Any = None,
    dropna: bool = False, cutoff: float | None = None, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def sssp(edges: Any, *, source: ColumnNames, target: ColumnNames, sources: Any,
    weight: Hashable, directed: bool = True, multi: str = "keep", vertices: Any = None,
    dropna: bool = False, cutoff: float | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def sssp(edges: Graph, *, sources: Any, cutoff: float | None = None,
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def sssp(edges: Graph, *, sources: Any, cutoff: float | None = None, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def sssp(edges: Graph, *, sources: Any, cutoff: float | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
def sssp(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, weight: Hashable | None = None,
    directed: bool = True, multi: str = "keep", vertices: Any = None, dropna: bool = False,
    cutoff: float | None = None, trace: bool = False, progress: Listener = False) -> Any:
    """Return the weighted distance from the nearest source to each vertex, by delta-stepping.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame, pandas.DataFrame, cudf.DataFrame or Graph
        The edge list, one row per edge. Or a :class:`~dask_graphflow.Graph`, without `source`, `target`,
        `weight`, `directed`, `multi`, `vertices` and `dropna`.
    source, target, directed, multi, vertices, dropna
        How the edges of a frame become a graph; see :class:`~dask_graphflow.Graph`.
    sources : id, or list, Series or DataFrame of ids
        Vertices to start from. Distances are measured from the nearest source. If ids have several columns,
        write each id as a tuple; a single tuple with one part per column is one source.
    weight : column name
        Column with the weights of the edges: numbers that are at least 0. It is required. To count edges
        instead, use :func:`dask_graphflow.bfs`.
    cutoff : float, optional
        Maximum distance, in the unit of the weights. By default there is no limit.
    trace : bool
        Also return a frame with one row per superstep. False by default.
    progress : bool or callable
        Report each superstep when it ends, in a progress bar or to a function. False by default. The notes
        of :class:`~dask_graphflow.Graph` describe both.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex that was reached, sorted by vertex, with the columns ``vertex`` (the dtype of the
        ids), ``distance`` (float64, in the unit of the weights) and ``predecessor`` (the dtype of the ids,
        null for a source). The result is lazy, and bit-identical for every partitioning and number of
        threads. The index restarts at 0 in each partition.
    dask.dataframe.DataFrame
        Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.

    Raises
    ------
    WeightError
        There are no weights; raised at the call. Or a weight is negative, null or NaN; raised when the
        result is computed.
    UnknownVertexError
        A source is not in the graph: no edge starts or ends there. Raised when the result is computed.
    NullVertexError
        An id is null, and `dropna` is False. Raised when the result is computed.
    OptionError, UnknownColumnError, VertexTypeError, EdgeListError
        An argument is invalid; raised at the call.

    References
    ----------
    .. [1] U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", Journal of
       Algorithms 49 (1), 2003.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> roads = pd.DataFrame({"a": [1, 1, 2, 5], "b": [2, 5, 7, 7], "km": [1.0, 4.0, 5.0, 1.0]})
    >>> gf.sssp(roads, source="a", target="b", sources=[1], weight="km").compute()
       vertex  distance  predecessor
    0       1       0.0         <NA>
    1       2       1.0            1
    2       5       4.0            1
    3       7       5.0            5
    """
    graph = as_graph(sssp, edges, source=source, target=target, weight=weight, directed=directed,
        multi=multi, vertices=vertices, dropna=dropna)
    return graph.sssp(sources, cutoff=cutoff, trace=trace, progress=progress)
