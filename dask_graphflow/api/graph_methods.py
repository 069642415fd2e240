"""The algorithms as methods of a graph.

``python3 dev.py generate`` wrote this file from the declarations in ``dask_graphflow/algorithms``. Change
those, and run it again.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import dask.dataframe as dd

from dask_graphflow.algorithms import (
    bfs,
    components_by_label,
    degrees,
    label_propagation,
    pagerank,
    sssp,
)
from dask_graphflow.algorithms.algorithm import ask

from .inputs import Listener

__all__ = ["GraphMethods"]


class GraphMethods:
    """The algorithms as methods."""

    # fmt: off
    @overload
    def bfs(self, sources: Any, *, depth_limit: int | None = None, direction: str = "beamer",
        trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def bfs(self, sources: Any, *, depth_limit: int | None = None, direction: str = "beamer",
        trace: Literal[True], progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def bfs(self, sources: Any, *, depth_limit: int | None = None, direction: str = "beamer",
        trace: bool = False, progress: Listener = False) -> Any: ...
    # fmt: on
    def bfs(
        self,
        sources: Any,
        *,
        depth_limit: int | None = None,
        direction: str = "beamer",
        trace: bool = False,
        progress: Listener = False,
    ) -> Any:
        """Return the distance in edges from the nearest source to each vertex, by breadth-first search.

        See :func:`dask_graphflow.bfs`.

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
        trace : bool
            Also return a frame with one row per superstep. False by default.
        progress : bool or callable
            Report each superstep when it ends.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex that was reached, sorted by vertex, with the columns ``vertex`` (the dtype
            of the ids), ``distance`` (int32, in edges) and ``predecessor`` (the dtype of the ids, null for
            a source). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep.
        """
        return ask(
            self,
            bfs.bfs,
            sources=sources,
            depth_limit=depth_limit,
            direction=direction,
            trace=trace,
            progress=progress,
        )

    # fmt: off
    @overload
    def connected_components(self, *, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def connected_components(self, *, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def connected_components(self, *, trace: bool = False, progress: Listener = False) -> Any: ...
    # fmt: on
    def connected_components(
        self,
        *,
        trace: bool = False,
        progress: Listener = False,
    ) -> Any:
        """Return the connected component of each vertex.

        See :func:`dask_graphflow.connected_components`.

        Parameters
        ----------
        trace : bool
            Also return a frame with one row per superstep. False by default.
        progress : bool or callable
            Report each superstep when it ends.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` and ``component``, the
            smallest id of the component (both the dtype of the ids). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep.
        """
        return ask(
            self,
            components_by_label.connected_components,
            trace=trace,
            progress=progress,
        )

    def degrees(self) -> dd.DataFrame:
        """Return the number of edges that enter and leave each vertex.

        See :func:`dask_graphflow.degrees`.


        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex. The columns are ``vertex`` (the dtype of the ids),
            ``in_degree`` and ``out_degree`` (int64) for a directed graph, or ``vertex`` and ``degree``
            (int64) for an undirected one. The result is lazy.
        """
        return ask(
            self,
            degrees.degrees,
        )

    # fmt: off
    @overload
    def label_propagation(self, *, max_iter: int = 10, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def label_propagation(self, *, max_iter: int = 10, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def label_propagation(self, *, max_iter: int = 10, trace: bool = False,
        progress: Listener = False) -> Any: ...
    # fmt: on
    def label_propagation(
        self,
        *,
        max_iter: int = 10,
        trace: bool = False,
        progress: Listener = False,
    ) -> Any:
        """Return the community of each vertex, by label propagation.

        See :func:`dask_graphflow.label_propagation`.

        Parameters
        ----------
        max_iter : int
            Maximum number of iterations; 10 by default. The algorithm stops earlier if no label changes.
        trace : bool
            Also return a frame with one row per superstep. False by default.
        progress : bool or callable
            Report each superstep when it ends.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` and ``label`` (both the dtype
            of the ids). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep.
        """
        return ask(
            self,
            label_propagation.label_propagation,
            max_iter=max_iter,
            trace=trace,
            progress=progress,
        )

    # fmt: off
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
    # fmt: on
    def pagerank(
        self,
        *,
        alpha: float = 0.85,
        tol: float | None = 1e-06,
        max_iter: int = 100,
        personalization: Any = None,
        precision: str = "float64",
        fail_on_nonconvergence: bool = True,
        trace: bool = False,
        progress: Listener = False,
    ) -> Any:
        """Return the PageRank of each vertex.

        See :func:`dask_graphflow.pagerank`.

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
            Report each superstep when it ends.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
            ``pagerank`` (float64). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep.
        """
        return ask(
            self,
            pagerank.pagerank,
            alpha=alpha,
            tol=tol,
            max_iter=max_iter,
            personalization=personalization,
            precision=precision,
            fail_on_nonconvergence=fail_on_nonconvergence,
            trace=trace,
            progress=progress,
        )

    # fmt: off
    @overload
    def sssp(self, sources: Any, *, cutoff: float | None = None, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def sssp(self, sources: Any, *, cutoff: float | None = None, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def sssp(self, sources: Any, *, cutoff: float | None = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    # fmt: on
    def sssp(
        self,
        sources: Any,
        *,
        cutoff: float | None = None,
        trace: bool = False,
        progress: Listener = False,
    ) -> Any:
        """Return the weighted distance from the nearest source to each vertex, by delta-stepping.

        See :func:`dask_graphflow.sssp`.

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
            Report each superstep when it ends.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex that was reached, sorted by vertex, with the columns ``vertex`` (the dtype
            of the ids), ``distance`` (float64, in the unit of the weights) and ``predecessor`` (the dtype
            of the ids, null for a source). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep.
        """
        return ask(
            self,
            sssp.sssp,
            sources=sources,
            cutoff=cutoff,
            trace=trace,
            progress=progress,
        )
