"""What a graph is, without its edges: how they are read, and the types of its ids and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.frames import empty_like, is_pandas
from dask_graphflow.kernels import summable
from dask_graphflow.scheduling.expr import Empty
from dask_graphflow.scheduling.reading import weight_dtype

from .results import empty_frame


@dataclass(frozen=True, eq=False)
class GraphSpec:
    """What is known about a graph before any edge is read.

    Attributes
    ----------
    columns : EdgeColumns
        How the edges are read.
    partitions : int
        Number of partitions of the edges.
    ids : DataFrame
        Empty frame with the columns and dtypes of the ids.
    weight_dtype : dtype or None
        Dtype of the stored weights; None if the edges have none.
    directed : bool
        Whether an edge leads only from its source to its target.
    multi : {"keep", "sum", "min", "first"}
        How parallel edges are treated.
    """

    columns: EdgeColumns
    partitions: int
    ids: Any
    weight_dtype: Any
    directed: bool
    multi: str
    # Empty results by their columns, because cuDF takes milliseconds to make one.
    _empty: dict[Any, Empty] = field(default_factory=dict, init=False, repr=False)

    @property
    def weighted(self) -> bool:
        """Whether the edges have weights."""
        return self.weight_dtype is not None

    @property
    def on_device(self) -> bool:
        """Whether the edges are in GPU memory."""
        return not is_pandas(type(self.ids))

    @property
    def id_width(self) -> int:
        """Number of columns of an id."""
        return len(self.ids.columns)

    def row_columns(self, rows: str, *, weighted: bool = False) -> dict[str, Any]:
        """Return the first columns of a result, with their dtypes: the vertex or the edge of each row.

        Parameters
        ----------
        rows : {"vertices", "edges", "listed"}
            See :class:`.Algorithm`. Listed rows do not have such columns.
        weighted : bool
            Whether an edge also has the column ``weight``, if the graph is weighted.
        """
        ids = {"vertices": ["vertex"], "edges": ["source", "target"], "listed": []}[rows]
        weight = {"weight": self.weight_dtype} if weighted and self.weighted else {}
        return dict.fromkeys(ids, "id") | weight

    def empty_result(self, columns: Mapping[str, Any]) -> Empty:
        """Return the empty frame of a result; see :func:`.empty_frame`."""
        key = tuple(columns.items())
        if key not in self._empty:
            self._empty[key] = Empty(empty_frame(self.ids, columns))
        return self._empty[key]


def graph_spec(edges: Any, columns: EdgeColumns, *, directed: bool, multi: str) -> GraphSpec:
    """Return the specification of the graph of a frame; the arguments must have been checked.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame or Held
    columns, directed, multi
        See :class:`GraphSpec`.
    """
    weights = None
    if columns.weight is not None:
        weights = weight_dtype(columns.weight_dtype)
        if multi == "sum":
            weights = summable(np.empty(0, weights)).dtype
    ids = ids_like(edges._meta, columns)
    return GraphSpec(columns, int(edges.npartitions), ids, weights, directed, multi)


def components_like(meta: Any, columns: EdgeColumns, names: Sequence[str]) -> Empty:
    """Return the empty frame of components: the columns of the ids, and `names` with the same dtypes.

    Parameters
    ----------
    meta : DataFrame
        An empty frame like the edges.
    columns : EdgeColumns
    names : sequence of str
        As many for each component as an id has columns.
    """
    ids = len(columns.dtypes)
    dtypes = columns.dtypes * (1 + len(names) // ids)
    every = *columns.names, *names
    if all(isinstance(dtype, np.dtype) and dtype.kind in "iu" for dtype in dtypes):
        kind: Any = type(meta)
        return _integers(kind, every, dtypes)
    like = ids_like(meta, columns)
    parts = [like[column] for column in like.columns]
    return Empty(type(like)({name: parts[i % ids] for i, name in enumerate(every)}))


@lru_cache(maxsize=64)  # because cuDF takes a millisecond to make a frame, and as long to pickle it
def _integers(kind: Any, names: tuple[str, ...], dtypes: tuple[Any, ...]) -> Empty:
    columns = zip(names, dtypes, strict=True)
    return Empty(kind({name: np.empty(0, dtype) for name, dtype in columns}))


def ids_like(meta: Any, columns: EdgeColumns) -> Any:
    """Return an empty frame with the columns and dtypes of the ids."""
    ids = {}
    for name, column, dtype in zip(columns.names, columns.source, columns.dtypes, strict=True):
        part = meta[column]
        if part.dtype == dtype:
            ids[name] = empty_like(meta[[column]]).reset_index(drop=True)[column]
        else:  # pandas cannot take rows of all dtypes
            ids[name] = type(part)([], dtype=dtype)
    return type(meta)(ids)
