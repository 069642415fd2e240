"""The graph of a picture: built from what the caller gave, and brought to this process as row numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dask_graphflow.api.calls import refuse_options
from dask_graphflow.api.graph import Graph
from dask_graphflow.declarations.number_options import check_count
from dask_graphflow.exceptions import EdgeListError, OptionError, UnknownVertexError
from dask_graphflow.graph.frames import to_pandas
from dask_graphflow.showing.tables import counted
from dask_graphflow.tasks.clients import check_waiting, compute

from .subgraph import rows_of

LIMIT = 100_000  # vertices of a graph that is drawn whole


class Drawing(NamedTuple):
    """The vertices of a graph, and which of them are adjacent."""

    ids: pd.DataFrame  # one row per vertex, and one column per part of an id
    # Array of int, shape (m, 2). Row numbers of the two ends of each edge, the smaller one first. Pairs are
    # sorted and distinct, and self-loops are left out.
    edges: np.ndarray


def built(function: Callable[..., Any], edges: Any, **read: Any) -> Graph:
    """Return the given graph, or build one from given edges; `function` is the caller, for errors."""
    check_waiting(f"gf.plot.{function.__name__}", f"gf.plot.{function.__name__}(...)")
    if isinstance(edges, Graph):
        refuse_options(function.__name__, read, inspect.unwrap(function).__kwdefaults__)
        return edges.persist()
    return Graph(edges, weight=None, **read).persist()


def whole(graph: Graph, limit: int) -> Drawing:
    """Return all vertices and edges of a graph, or raise if it has more than `limit` vertices."""
    check_count("limit", limit)
    if graph.num_vertices > limit:
        raise OptionError(
            f"the graph has {graph.num_vertices:,} vertices, and limit={limit:,}; a larger limit is "
            "allowed, but slow. Draw a part of the graph, which gf.k_core or gf.ego_graph returns, or its "
            "communities with gf.plot.communities"
        )
    ids, edges = (on_host(frame) for frame in compute(graph.vertices(), graph.edges()))
    return Drawing(ids, pairs_of(edges, ids))


def pairs_of(edges: pd.DataFrame, ids: pd.DataFrame) -> np.ndarray:
    """Return edges as row numbers of `ids`; see :class:`Drawing`."""
    width = len(ids.columns)
    ends = [edges.iloc[:, :width], edges.iloc[:, width : 2 * width]]
    pairs = np.column_stack([rows_of(ids, end.set_axis(ids.columns, axis=1)) for end in ends])
    inside = (pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])
    distinct: np.ndarray = np.unique(np.sort(pairs[inside], axis=1), axis=0)
    return distinct


def column_for(frame: Any, ids: pd.DataFrame, name: str) -> pd.Series:
    """Return the first column after the ids of a result, which may be lazy, with one row per row of `ids`.

    Vertices that have no row in the result get a null. The result may have further vertices. `name` is the
    option that the caller gave, for errors.
    """
    width = len(ids.columns)
    if not hasattr(frame, "columns") or len(frame.columns) <= width:
        raise EdgeListError(
            f"{name} has the type {type(frame).__name__} and no column after the ids; it has to be a frame "
            f"with the id of each vertex in the first {counted(width, 'column')}, and then one more. Give "
            "the result of an algorithm on this graph"
        )
    found = computed(frame.iloc[:, : width + 1])
    rows = rows_of(found.iloc[:, :width].set_axis(ids.columns, axis=1), ids)
    if len(ids) and (rows < 0).all():
        raise UnknownVertexError(
            f"no vertex of the graph is in {name}, whose first id is "
            f"{found.iloc[:1, :width].to_numpy().ravel().tolist()}; its ids have to be those of the graph. "
            "Give the result of an algorithm on this graph"
        )
    values: pd.Series = found.iloc[:, width].convert_dtypes()  # types that can have nulls
    return values.reindex(rows).reset_index(drop=True)


def computed(frame: Any) -> pd.DataFrame:
    """Return a frame, lazy or not, as a pandas frame."""
    return on_host(compute(frame)[0])


def on_host(frame: Any) -> pd.DataFrame:
    """Return a frame as a pandas frame whose rows are numbered."""
    host: pd.DataFrame = to_pandas(frame)
    return host.reset_index(drop=True)
