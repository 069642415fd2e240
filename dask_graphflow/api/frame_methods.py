"""The algorithms as methods of a frame's accessor.

``python3 dev.py generate`` wrote this file from the declarations in ``dask_graphflow/algorithms``. Change
them, and run it again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from . import functions
from .inputs import ColumnNames, Listener

__all__ = ["FrameMethods"]

# fmt: off


class FrameMethods:
    """The algorithms as methods."""

    _frame: Any

    def bfs(self, *, source: ColumnNames, target: ColumnNames, sources: Any,
        directed: bool = True, vertices: Any = None, dropna: bool = False,
        depth_limit: int | None = None, direction: str = "beamer", trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the distance in edges from the nearest source to each vertex, by breadth-first search.

        See :func:`dask_graphflow.bfs`.

        Parameters
        ----------
        source, target, directed, vertices, dropna
            How the frame is read; see :class:`~dask_graphflow.Graph`.
        sources, depth_limit, direction, trace, progress
            The options of the algorithm.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex that was reached, sorted by vertex, with the columns ``vertex`` (the dtype of
            the ids), ``distance`` (int32, in edges) and ``predecessor`` (the dtype of the ids, null for a
            source). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return functions.bfs(self._frame, source=source, target=target, sources=sources, directed=directed,
            vertices=vertices, dropna=dropna, depth_limit=depth_limit, direction=direction,
            trace=trace, progress=progress)

    def core_number(self, *, source: ColumnNames, target: ColumnNames, directed: bool = False,
        vertices: Any = None, dropna: bool = False, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the core number of each vertex.

        See :func:`dask_graphflow.core_number`.

        Parameters
        ----------
        source, target, directed, vertices, dropna
            How the frame is read; see :class:`~dask_graphflow.Graph`.
        trace, progress
            The options of the algorithm.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
            ``core`` (int32). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return functions.core_number(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna, trace=trace, progress=progress)

    def degrees(self, *, source: ColumnNames, target: ColumnNames, directed: bool = True,
        vertices: Any = None, dropna: bool = False) -> Any:
        """Return the number of edges that enter and leave each vertex.

        See :func:`dask_graphflow.degrees`.

        Parameters
        ----------
        source, target, directed, vertices, dropna
            How the frame is read; see :class:`~dask_graphflow.Graph`.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex. The columns are ``vertex`` (the dtype of the ids),
            ``in_degree`` and ``out_degree`` (int64) for a directed graph, or ``vertex`` and ``degree``
            (int64) for an undirected one. The result is lazy.
        """
        return functions.degrees(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna)

    def hits(self, *, source: ColumnNames, target: ColumnNames, weight: Hashable | None = None,
        directed: bool = True, multi: str = "keep", vertices: Any = None, dropna: bool = False,
        max_iter: int = 100, tol: float = 1e-08, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the hub score and the authority score of each vertex.

        See :func:`dask_graphflow.hits`.

        Parameters
        ----------
        source, target, weight, directed, multi, vertices, dropna
            How the frame is read; see :class:`~dask_graphflow.Graph`.
        max_iter, tol, trace, progress
            The options of the algorithm.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids),
            ``hub`` and ``authority`` (both float64). Each of the two sums to 1. The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return functions.hits(self._frame, source=source, target=target, weight=weight, directed=directed,
            multi=multi, vertices=vertices, dropna=dropna, max_iter=max_iter, tol=tol, trace=trace,
            progress=progress)

    def label_propagation(self, *, source: ColumnNames, target: ColumnNames,
        directed: bool = False, vertices: Any = None, dropna: bool = False, max_iter: int = 10,
        trace: bool = False, progress: Listener = False) -> Any:
        """Return the community of each vertex, by label propagation.

        See :func:`dask_graphflow.label_propagation`.

        Parameters
        ----------
        source, target, directed, vertices, dropna
            How the frame is read; see :class:`~dask_graphflow.Graph`.
        max_iter, trace, progress
            The options of the algorithm.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` and ``label`` (both the dtype
            of the ids). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return functions.label_propagation(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna, max_iter=max_iter, trace=trace, progress=progress)

    def maximal_independent_set(self, *, source: ColumnNames, target: ColumnNames,
        directed: bool = False, vertices: Any = None, dropna: bool = False, seed: int = 0,
        trace: bool = False, progress: Listener = False) -> Any:
        """Return a maximal independent set of the vertices.

        See :func:`dask_graphflow.maximal_independent_set`.

        Parameters
        ----------
        source, target, directed, vertices, dropna
            How the frame is read; see :class:`~dask_graphflow.Graph`.
        seed, trace, progress
            The options of the algorithm.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
            ``selected`` (bool). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return functions.maximal_independent_set(self._frame, source=source, target=target,
            directed=directed, vertices=vertices, dropna=dropna, seed=seed, trace=trace,
            progress=progress)

    def pagerank(self, *, source: ColumnNames, target: ColumnNames,
        weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
        vertices: Any = None, dropna: bool = False, alpha: float = 0.85,
        tol: float | None = 1e-06, max_iter: int = 100, personalization: Any = None,
        precision: str = "float64", fail_on_nonconvergence: bool = True, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the PageRank of each vertex.

        See :func:`dask_graphflow.pagerank`.

        Parameters
        ----------
        source, target, weight, directed, multi, vertices, dropna
            How the frame is read; see :class:`~dask_graphflow.Graph`.
        alpha, tol, max_iter, personalization, precision, fail_on_nonconvergence, trace, progress
            The options of the algorithm.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` (the dtype of the ids) and
            ``pagerank`` (float64). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return functions.pagerank(self._frame, source=source, target=target, weight=weight,
            directed=directed, multi=multi, vertices=vertices, dropna=dropna, alpha=alpha, tol=tol,
            max_iter=max_iter, personalization=personalization, precision=precision,
            fail_on_nonconvergence=fail_on_nonconvergence, trace=trace, progress=progress)

    def sssp(self, *, source: ColumnNames, target: ColumnNames, sources: Any, weight: Hashable,
        directed: bool = True, multi: str = "keep", vertices: Any = None, dropna: bool = False,
        cutoff: float | None = None, trace: bool = False, progress: Listener = False) -> Any:
        """Return the weighted distance from the nearest source to each vertex, by delta-stepping.

        See :func:`dask_graphflow.sssp`.

        Parameters
        ----------
        source, target, weight, directed, multi, vertices, dropna
            How the frame is read; see :class:`~dask_graphflow.Graph`.
        sources, cutoff, trace, progress
            The options of the algorithm.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex that was reached, sorted by vertex, with the columns ``vertex`` (the dtype of
            the ids), ``distance`` (float64, in the unit of the weights) and ``predecessor`` (the dtype of
            the ids, null for a source). The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`.
        """
        return functions.sssp(self._frame, source=source, target=target, sources=sources, weight=weight,
            directed=directed, multi=multi, vertices=vertices, dropna=dropna, cutoff=cutoff,
            trace=trace, progress=progress)
