"""``frame.gf``: the library's functions as methods of Dask DataFrames."""

from __future__ import annotations

from typing import Any

from dask.dataframe.extensions import register_dataframe_accessor

from dask_graphflow.algorithms.bfs import bfs
from dask_graphflow.algorithms.cc import connected_components
from dask_graphflow.algorithms.label_propagation import label_propagation
from dask_graphflow.algorithms.pagerank import pagerank
from dask_graphflow.algorithms.sssp import sssp

__all__ = ["GraphflowAccessor"]


@register_dataframe_accessor("gf")
class GraphflowAccessor:
    """Graph algorithms on the edge list that a Dask DataFrame holds.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import dask_graphflow
    >>> import pandas as pd
    >>> pairs = dd.from_pandas(pd.DataFrame({"a": [1, 5, 8], "b": [5, 2, 9]}), npartitions=2)
    >>> labels = pairs.gf.connected_components(source="a", target="b")
    >>> labels.component.unique().compute().tolist()
    [1, 8]
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def connected_components(self, *, source: Any, target: Any, **options: Any) -> Any:
        """Find the connected components: see :func:`dask_graphflow.connected_components`."""
        return connected_components(self._frame, source=source, target=target, **options)

    def bfs(self, *, source: Any, target: Any, **options: Any) -> Any:
        """Search breadth first: see :func:`dask_graphflow.bfs`."""
        return bfs(self._frame, source=source, target=target, **options)

    def sssp(self, *, source: Any, target: Any, **options: Any) -> Any:
        """Find shortest paths: see :func:`dask_graphflow.sssp`."""
        return sssp(self._frame, source=source, target=target, **options)

    def pagerank(self, *, source: Any, target: Any, **options: Any) -> Any:
        """Rank the vertices: see :func:`dask_graphflow.pagerank`."""
        return pagerank(self._frame, source=source, target=target, **options)

    def label_propagation(self, *, source: Any, target: Any, **options: Any) -> Any:
        """Find communities: see :func:`dask_graphflow.label_propagation`."""
        return label_propagation(self._frame, source=source, target=target, **options)
