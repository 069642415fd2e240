"""The accessor ``frame.gf``: the library's functions as methods of Dask and pandas DataFrames."""

from __future__ import annotations

import importlib
from functools import partial
from typing import TYPE_CHECKING, Any

from .after_import import after_import
from .functions import FrameMethods


class GraphflowAccessor(FrameMethods):
    """The accessor ``frame.gf``: graph algorithms on the edges in a Dask or pandas DataFrame.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame or pandas.DataFrame
        The edge list, one row per edge. A Dask DataFrame can be backed by pandas or cuDF. A cuDF DataFrame
        itself has no accessor: call the functions of the package instead.

    Notes
    -----
    The package, Dask and pandas can be imported in any order.

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

    if not TYPE_CHECKING:  # for mypy, every name would be an attribute

        def __getattr__(self, name: str) -> Any:
            from dask_graphflow.showing.suggestions import attribute_error

            raise attribute_error("frame.gf", name, dir(type(self)))


def _register(extensions: str) -> None:
    """Register the accessor for the frames of a library, in its module for extensions."""
    importlib.import_module(extensions).register_dataframe_accessor("gf")(GraphflowAccessor)


# Importing the package imports neither library, but both can be imported later.
after_import("pandas", partial(_register, "pandas.api.extensions"))
after_import("dask.dataframe", partial(_register, "dask.dataframe.extensions"))
