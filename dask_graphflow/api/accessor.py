"""The accessor ``frame.gf``: the library's functions as methods of Dask and pandas DataFrames."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import pandas as pd
from dask.dataframe.extensions import register_dataframe_accessor

from .components import connected_components
from .frame_methods import FrameMethods
from .inputs import ColumnNames, Listener

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

    def connected_components(
        self,
        *,
        source: ColumnNames,
        target: ColumnNames,
        vertices: Any = None,
        weight: Hashable | None = None,
        threshold: float | None = None,
        thresholds: Sequence[float] | None = None,
        seed: Any = None,
        merge: str = "tree",
        merge_chunks: int = 1,
        inputs: str | Sequence[str] = "availability",
        chunk_size: int | None = None,
        dropna: bool = False,
        device: str | None = None,
        renumber: bool = True,
        progress: Listener = False,
    ) -> Any:
        """Return the connected component of each vertex of an undirected graph.

        Parameters
        ----------
        source, target, vertices, weight, threshold, thresholds, seed, merge, merge_chunks, inputs, \
chunk_size, dropna, device, renumber, progress
            The same as for :func:`dask_graphflow.connected_components`.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the columns ``vertex`` and ``component``, the
            smallest id of the component. The result is lazy.
        """
        return connected_components(
            self._frame,
            source=source,
            target=target,
            vertices=vertices,
            weight=weight,
            threshold=threshold,
            thresholds=thresholds,
            seed=seed,
            merge=merge,
            merge_chunks=merge_chunks,
            inputs=inputs,
            chunk_size=chunk_size,
            dropna=dropna,
            device=device,
            renumber=renumber,
            progress=progress,
        )
