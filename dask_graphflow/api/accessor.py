"""The accessor ``frame.gf``: the library's functions as methods of Dask and pandas DataFrames."""

from __future__ import annotations

from typing import Any

import pandas as pd
from dask.dataframe.extensions import register_dataframe_accessor

from .components import connected_components
from .frame_methods import FrameMethods

__all__ = ["GraphflowAccessor"]


@register_dataframe_accessor("gf")
@pd.api.extensions.register_dataframe_accessor("gf")
class GraphflowAccessor(FrameMethods):
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
