"""``frame.gf``: the library's functions as methods of Dask DataFrames."""

from __future__ import annotations

from typing import Any

from dask.dataframe.extensions import register_dataframe_accessor

from dask_graphflow.algorithms.cc import connected_components

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
