"""The accessor ``frame.gf``: the library's functions as methods of Dask and pandas DataFrames."""

from __future__ import annotations

from typing import Any

import pandas as pd
from dask.dataframe.extensions import register_dataframe_accessor

from dask_graphflow.algorithms.bfs import bfs
from dask_graphflow.algorithms.label_propagation import label_propagation
from dask_graphflow.algorithms.pagerank import pagerank
from dask_graphflow.algorithms.sssp import sssp

from .components import connected_components

__all__ = ["GraphflowAccessor"]


@register_dataframe_accessor("gf")
@pd.api.extensions.register_dataframe_accessor("gf")
class GraphflowAccessor:
    """The accessor ``frame.gf``: graph algorithms on the edges in a Dask or pandas DataFrame.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame or pandas.DataFrame
        The edge list, one row per edge. A Dask DataFrame can be backed by pandas or cuDF. A cuDF DataFrame
        itself has no accessor: call the functions of the package instead.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import dask_graphflow
    >>> import pandas as pd
    >>> pairs = dd.from_pandas(pd.DataFrame({"a": [1, 5, 8], "b": [5, 2, 9]}), npartitions=2)
    >>> labels = pairs.gf.connected_components(source="a", target="b")
    >>> labels.component.unique().compute().tolist()
    [1, 8]

    The result is lazy for a pandas DataFrame too:

    >>> links = pd.DataFrame({"a": [1, 2], "b": [2, 3]})
    >>> links.gf.bfs(source="a", target="b", sources=[1]).compute().distance.tolist()
    [0, 1, 2]
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def connected_components(self, *, source: Any, target: Any, **options: Any) -> Any:
        """Return the connected component of each vertex; see :func:`dask_graphflow.connected_components`.

        Parameters
        ----------
        source, target : column name, or list of column names
            Columns with the ids at the two ends of each edge.
        **options
            All options of that function.

        Returns
        -------
        dask.dataframe.DataFrame
            Columns ``vertex`` and ``component``. Lazy.

        Raises
        ------
        GraphflowError
            The same errors as that function.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> edges = gf.generate.path(3)
        >>> edges.gf.connected_components(source="src", target="dst").compute().component.tolist()
        [0, 0, 0]
        """
        return connected_components(self._frame, source=source, target=target, **options)

    def bfs(self, *, source: Any, target: Any, **options: Any) -> Any:
        """Return the distance in edges from the nearest source; see :func:`dask_graphflow.bfs`.

        Parameters
        ----------
        source, target : column name, or list of column names
            Columns with the ids at the two ends of each edge.
        **options
            `sources` and all other options of that function.

        Returns
        -------
        dask.dataframe.DataFrame
            Columns ``vertex``, ``distance`` and ``predecessor``. Lazy.

        Raises
        ------
        GraphflowError
            The same errors as that function.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> edges = gf.generate.path(3)
        >>> edges.gf.bfs(source="src", target="dst", sources=[0]).compute().distance.tolist()
        [0, 1, 2]
        """
        return bfs(self._frame, source=source, target=target, **options)

    def sssp(self, *, source: Any, target: Any, **options: Any) -> Any:
        """Return the weighted distance from the nearest source; see :func:`dask_graphflow.sssp`.

        Parameters
        ----------
        source, target : column name, or list of column names
            Columns with the ids at the two ends of each edge.
        **options
            `sources`, `weight` and all other options of that function.

        Returns
        -------
        dask.dataframe.DataFrame
            Columns ``vertex``, ``distance`` and ``predecessor``. Lazy.

        Raises
        ------
        GraphflowError
            The same errors as that function.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> edges = gf.generate.path(3).assign(km=0.5)
        >>> paths = edges.gf.sssp(source="src", target="dst", weight="km", sources=[0])
        >>> paths.compute().distance.tolist()
        [0.0, 0.5, 1.0]
        """
        return sssp(self._frame, source=source, target=target, **options)

    def pagerank(self, *, source: Any, target: Any, **options: Any) -> Any:
        """Return the PageRank of each vertex; see :func:`dask_graphflow.pagerank`.

        Parameters
        ----------
        source, target : column name, or list of column names
            Columns with the ids at the two ends of each edge.
        **options
            All options of that function.

        Returns
        -------
        dask.dataframe.DataFrame
            Columns ``vertex`` and ``pagerank``. Lazy.

        Raises
        ------
        GraphflowError
            The same errors as that function.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> edges = gf.generate.path(3)
        >>> edges.gf.pagerank(source="src", target="dst").compute().pagerank.round(2).tolist()
        [0.18, 0.34, 0.47]
        """
        return pagerank(self._frame, source=source, target=target, **options)

    def label_propagation(self, *, source: Any, target: Any, **options: Any) -> Any:
        """Return the community of each vertex; see :func:`dask_graphflow.label_propagation`.

        Parameters
        ----------
        source, target : column name, or list of column names
            Columns with the ids at the two ends of each edge.
        **options
            All options of that function.

        Returns
        -------
        dask.dataframe.DataFrame
            Columns ``vertex`` and ``label``. Lazy.

        Raises
        ------
        GraphflowError
            The same errors as that function.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> edges = gf.generate.path(3)
        >>> edges.gf.label_propagation(source="src", target="dst").compute().label.tolist()
        [0, 1, 0]
        """
        return label_propagation(self._frame, source=source, target=target, **options)
