"""The empty frames by which Dask knows the columns of graphs and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.frames import are_integers, empty_like, no_integers
from dask_graphflow.kernels import summable
from dask_graphflow.tasks.expr import Empty
from dask_graphflow.tasks.reading import weight_dtype

from .results import empty_frame


def empty_result(spec: GraphSpec, columns: Mapping[str, Any]) -> Empty:
    """Return the empty frame of a result; see :func:`.empty_frame`.

    The specification keeps it, because cuDF takes milliseconds to make one. Graphs whose ids are integers
    share it, because each call on a frame makes a graph.
    """
    key, ids = tuple(columns.items()), spec.columns
    kind: Any = type(spec.ids)
    if key not in spec.empty:
        spec.empty[key] = (
            _result_of_integers(kind, ids.names, ids.dtypes, key)
            if are_integers(ids.dtypes)
            else Empty(empty_frame(spec.ids, columns))
        )
    found: Empty = spec.empty[key]
    return found


def graph_spec(edges: Any, columns: EdgeColumns, *, directed: bool, multi: str) -> GraphSpec:
    """Return the specification of the graph of a frame; the arguments must have been checked."""
    weights = None
    if columns.weight is not None:
        weights = weight_dtype(columns.weight_dtype)
        if multi == "sum":
            weights = summable(np.empty(0, weights)).dtype
    ids = ids_like(edges._meta, columns)
    return GraphSpec(columns, int(edges.npartitions), ids, weights, directed, multi)


def components_like(meta: Any, columns: EdgeColumns, names: Sequence[str]) -> Empty:
    """Return the empty frame of components: `names` with the dtypes of the ids in `meta`."""
    ids = len(columns.dtypes)
    dtypes = columns.dtypes * (1 + len(names) // ids)
    every = *columns.names, *names
    if are_integers(dtypes):
        kind: Any = type(meta)
        return _integers(kind, every, dtypes)
    like = ids_like(meta, columns)
    parts = [like[column] for column in like.columns]
    return Empty(type(like)({name: parts[i % ids] for i, name in enumerate(every)}))


@lru_cache(maxsize=256)
def _result_of_integers(kind: Any, names: Any, dtypes: Any, columns: Any) -> Empty:
    return Empty(empty_frame(no_integers(kind, names, dtypes), dict(columns)))


@lru_cache(maxsize=64)  # because cuDF takes a millisecond to pickle a frame
def _integers(kind: Any, names: tuple[str, ...], dtypes: tuple[Any, ...]) -> Empty:
    return Empty(no_integers(kind, names, dtypes))


def ids_like(meta: Any, columns: EdgeColumns) -> Any:
    """Return an empty frame with the columns and dtypes of the ids."""
    if are_integers(columns.dtypes):
        kind: Any = type(meta)
        return no_integers(kind, columns.names, columns.dtypes)
    ids = {}
    for name, column, dtype in zip(columns.names, columns.source, columns.dtypes, strict=True):
        part = meta[column]
        if part.dtype == dtype:
            ids[name] = empty_like(part).reset_index(drop=True)
        else:  # pandas cannot take rows of all dtypes
            ids[name] = type(part)([], dtype=dtype)
    return type(meta)(ids)
