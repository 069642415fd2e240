"""The algorithms as methods of a graph.

``python3 dev.py generate`` wrote this file from the declarations in ``dask_graphflow/algorithms``. Change
them, and run it again.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import dask.dataframe as dd

from dask_graphflow.algorithms import (
    bfs,
    components_by_label,
    core_number,
    degrees,
    hits,
    label_propagation,
    maximal_independent_set,
    pagerank,
    sssp,
)
from dask_graphflow.algorithms.algorithm import ask

from .inputs import Listener

__all__ = ["GraphMethods"]

# fmt: off


class GraphMethods:
    """The algorithms as methods."""

    @overload
    def bfs(self, sources: Any, *, depth_limit: int | None = None, direction: str = "beamer",
        trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def bfs(self, sources: Any, *, depth_limit: int | None = None, direction: str = "beamer",
        trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def bfs(self, sources: Any, *, depth_limit: int | None = None, direction: str = "beamer",
        trace: bool = False, progress: Listener = False) -> Any: ...
    def bfs(self, sources: Any, *, depth_limit: int | None = None, direction: str = "beamer",
        trace: bool = False, progress: Listener = False) -> Any:
        """Return the distance in edges from the nearest source to each vertex, by breadth-first search.

        Weights and parallel edges do not change the result.

        See :func:`dask_graphflow.bfs`, which can be called on a frame, too.

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
            number of vertices. "gemini" pulls if more than 1/20 of all edges leave the frontier [2]_.
            "push" never pulls, and "pull" always does.
        trace : bool
            Also return a frame with one row per superstep. False by default.
        progress : bool or callable
            Report each superstep when it ends, in a progress bar or to a function. False by default. The
            notes of :class:`~dask_graphflow.Graph` describe both.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex that was reached, sorted by vertex, with the columns ``vertex`` (the dtype of
            the ids), ``distance`` (int32, in edges) and ``predecessor`` (the dtype of the ids, null for a
            source). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.

        References
        ----------
        .. [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.
        .. [2] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph
           Processing System", OSDI 2016.
        """
        return ask(self, bfs.bfs, sources=sources, depth_limit=depth_limit, direction=direction,
            trace=trace, progress=progress)

    @overload
    def connected_components(self, *, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def connected_components(self, *, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def connected_components(self, *, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def connected_components(self, *, trace: bool = False, progress: Listener = False) -> Any:
        """Return the connected component of each vertex.

        Use this if the graph is already built. Otherwise call :func:`dask_graphflow.connected_components`
        on the edges: it does not build a graph, and is several times faster than building one. The
        directions of the edges do not matter: in a directed graph the components are the weakly connected
        ones.

        See :func:`dask_graphflow.connected_components`, which can be called on a frame, too.

        Parameters
        ----------
        trace : bool
            Also return a frame with one row per superstep. False by default.
        progress : bool or callable
            Report each superstep when it ends, in a progress bar or to a function. False by default. The
            notes of :class:`~dask_graphflow.Graph` describe both.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` and ``component``, the
            smallest id of the component (both the dtype of the ids). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return ask(self, components_by_label.connected_components, trace=trace, progress=progress)

    @overload
    def core_number(self, *, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def core_number(self, *, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def core_number(self, *, trace: bool = False, progress: Listener = False) -> Any: ...
    def core_number(self, *, trace: bool = False, progress: Listener = False) -> Any:
        """Return the core number of each vertex.

        The k-core is the largest subgraph in which every vertex has at least k edges. The core number of a
        vertex is the largest k such that the k-core contains it. Self-loops and parallel edges are ignored.
        In a directed graph, the edges that enter a vertex and the edges that leave it count together, so a
        pair of opposite edges counts twice.

        See :func:`dask_graphflow.core_number`, which can be called on a frame, too.

        Parameters
        ----------
        trace : bool
            Also return a frame with one row per superstep. False by default.
        progress : bool or callable
            Report each superstep when it ends, in a progress bar or to a function. False by default. The
            notes of :class:`~dask_graphflow.Graph` describe both.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
            ``core`` (int32). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return ask(self, core_number.core_number, trace=trace, progress=progress)

    def degrees(self) -> dd.DataFrame:
        """Return the number of edges that enter and leave each vertex.

        A self-loop counts once. Parallel edges count separately, unless the graph merges them; see `multi`
        of :class:`~dask_graphflow.Graph`.

        See :func:`dask_graphflow.degrees`, which can be called on a frame, too.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex. The columns are ``vertex`` (the dtype of the ids),
            ``in_degree`` and ``out_degree`` (int64) for a directed graph, or ``vertex`` and ``degree``
            (int64) for an undirected one. The result is lazy.
        """
        return ask(self, degrees.degrees)

    @overload
    def hits(self, *, max_iter: int = 100, tol: float = 1e-08, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def hits(self, *, max_iter: int = 100, tol: float = 1e-08, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def hits(self, *, max_iter: int = 100, tol: float = 1e-08, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def hits(self, *, max_iter: int = 100, tol: float = 1e-08, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the hub score and the authority score of each vertex.

        Good hubs have edges to good authorities, and good authorities have edges from good hubs. Weights
        multiply what an edge carries. If no edge has a weight above 0, all scores are the same.

        See :func:`dask_graphflow.hits`, which can be called on a frame, too.

        Parameters
        ----------
        max_iter : int
            Maximum number of iterations; 100 by default.
        tol : float
            Stop when the sum of the absolute changes of all hub scores is less than this; 1e-8 by default.
        trace : bool
            Also return a frame with one row per superstep. False by default.
        progress : bool or callable
            Report each superstep when it ends, in a progress bar or to a function. False by default. The
            notes of :class:`~dask_graphflow.Graph` describe both.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids),
            ``hub`` and ``authority`` (both float64). Each of the two sums to 1. The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return ask(self, hits.hits, max_iter=max_iter, tol=tol, trace=trace, progress=progress)

    @overload
    def label_propagation(self, *, max_iter: int = 10, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def label_propagation(self, *, max_iter: int = 10, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def label_propagation(self, *, max_iter: int = 10, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def label_propagation(self, *, max_iter: int = 10, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the community of each vertex, by label propagation.

        Every vertex starts with its own id as its label. In each iteration, all vertices at once adopt the
        most frequent label of their neighbors, and the smallest one if there is a tie.

        See :func:`dask_graphflow.label_propagation`, which can be called on a frame, too.

        Parameters
        ----------
        max_iter : int
            Maximum number of iterations; 10 by default. The algorithm stops earlier if no label changes.
        trace : bool
            Also return a frame with one row per superstep. False by default.
        progress : bool or callable
            Report each superstep when it ends, in a progress bar or to a function. False by default. The
            notes of :class:`~dask_graphflow.Graph` describe both.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` and ``label`` (both the dtype
            of the ids). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return ask(self, label_propagation.label_propagation, max_iter=max_iter, trace=trace,
            progress=progress)

    @overload
    def maximal_independent_set(self, *, seed: int = 0, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def maximal_independent_set(self, *, seed: int = 0, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def maximal_independent_set(self, *, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def maximal_independent_set(self, *, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return a maximal independent set of the vertices.

        No edge connects two selected vertices, and every vertex that is not selected has a selected
        neighbor. The directions of edges and self-loops are ignored, so a vertex without other edges is
        always selected. The set is the one that a greedy search finds if it visits the vertices in a random
        order.

        See :func:`dask_graphflow.maximal_independent_set`, which can be called on a frame, too.

        Parameters
        ----------
        seed : int
            Chooses the random order; 0 by default. The order depends only on the seed and on the order of
            the ids.
        trace : bool
            Also return a frame with one row per superstep. False by default.
        progress : bool or callable
            Report each superstep when it ends, in a progress bar or to a function. False by default. The
            notes of :class:`~dask_graphflow.Graph` describe both.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
            ``selected`` (bool). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return ask(self, maximal_independent_set.maximal_independent_set, seed=seed, trace=trace,
            progress=progress)

    @overload
    def pagerank(self, *, alpha: float = 0.85, tol: float | None = 1e-06, max_iter: int = 100,
        personalization: Any = None, precision: str = "float64",
        fail_on_nonconvergence: bool = True, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def pagerank(self, *, alpha: float = 0.85, tol: float | None = 1e-06, max_iter: int = 100,
        personalization: Any = None, precision: str = "float64",
        fail_on_nonconvergence: bool = True, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def pagerank(self, *, alpha: float = 0.85, tol: float | None = 1e-06, max_iter: int = 100,
        personalization: Any = None, precision: str = "float64",
        fail_on_nonconvergence: bool = True, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def pagerank(self, *, alpha: float = 0.85, tol: float | None = 1e-06, max_iter: int = 100,
        personalization: Any = None, precision: str = "float64",
        fail_on_nonconvergence: bool = True, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the PageRank of each vertex.

        A vertex ranks high if vertices that rank high have edges to it. The rank of a vertex is divided
        over the edges that leave it, in proportion to their weights, or evenly if there are none. Ranks sum
        to 1.

        See :func:`dask_graphflow.pagerank`, which can be called on a frame, too.

        Parameters
        ----------
        alpha : float
            Damping factor: the probability of following an edge, from 0 to 1. 0.85 by default.
        tol : float or None
            Stop when the mean absolute change per vertex is less than this; 1e-6 by default. None runs
            exactly `max_iter` iterations.
        max_iter : int
            Maximum number of iterations; 100 by default.
        personalization : dict, Series or DataFrame, optional
            Restart weights: a dict or Series indexed by vertex id, or a frame with id columns followed by
            one weight column. Uniform by default.
        precision : {"float64", "float32"}
            Precision of the ranks during the computation. With "float32" an iteration reads half as much
            memory, and ranks are accurate to about 5 digits. "float64" by default.
        fail_on_nonconvergence : bool
            If `max_iter` iterations do not reach `tol`: True, the default, raises an error; False returns
            the ranks so far.
        trace : bool
            Also return a frame with one row per superstep. False by default.
        progress : bool or callable
            Report each superstep when it ends, in a progress bar or to a function. False by default. The
            notes of :class:`~dask_graphflow.Graph` describe both.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
            ``pagerank`` (float64). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return ask(self, pagerank.pagerank, alpha=alpha, tol=tol, max_iter=max_iter,
            personalization=personalization, precision=precision,
            fail_on_nonconvergence=fail_on_nonconvergence, trace=trace, progress=progress)

    @overload
    def sssp(self, sources: Any, *, cutoff: float | None = None, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def sssp(self, sources: Any, *, cutoff: float | None = None, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def sssp(self, sources: Any, *, cutoff: float | None = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def sssp(self, sources: Any, *, cutoff: float | None = None, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the weighted distance from the nearest source to each vertex, by delta-stepping.

        See :func:`dask_graphflow.sssp`, which can be called on a frame, too.

        Parameters
        ----------
        sources : id, or list, Series or DataFrame of ids
            Vertices to start from. Distances are measured from the nearest source. If ids have several
            columns, write each id as a tuple; a single tuple with one part per column is one source.
        cutoff : float, optional
            Maximum distance, in the unit of the weights. By default there is no limit.
        trace : bool
            Also return a frame with one row per superstep. False by default.
        progress : bool or callable
            Report each superstep when it ends, in a progress bar or to a function. False by default. The
            notes of :class:`~dask_graphflow.Graph` describe both.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex that was reached, sorted by vertex, with the columns ``vertex`` (the dtype of
            the ids), ``distance`` (float64, in the unit of the weights) and ``predecessor`` (the dtype of
            the ids, null for a source). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return ask(self, sssp.sssp, sources=sources, cutoff=cutoff, trace=trace, progress=progress)
