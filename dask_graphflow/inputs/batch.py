"""The edges and vertices of an update, read with the columns of the graph."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.exceptions import EdgeListError, UnknownColumnError, WeightError
from dask_graphflow.graph import dtypes
from dask_graphflow.graph.edgelist import EdgeColumns, default_ends, vertex_names
from dask_graphflow.showing.tables import counted

from .edges import Frames, check_edges
from .forms import OPTION, VALUES, as_edges, values_of
from .vertex_frame import vertex_frame


def batch_edges(given: Any, spec: GraphSpec, role: str) -> Frames:
    """Return new or deleted edges as a frame, and how to read it; then vertices without an edge, if any.

    `role` is the name of the argument, "insert" or "delete". Raise if the edges are not like the graph's.
    """
    try:
        return _batch_edges(given, spec, role)
    except EdgeListError as error:
        if str(error).startswith(role):
            raise
        width, advice = len(spec.columns.names), ""
        if width > 1 and not hasattr(given, "columns"):
            raise EdgeListError(
                f"{role} is not a frame, and the graph's ids have {width} columns. Give a frame with the "
                f"columns of the graph: {_names(spec.columns)}"
            ) from error
        if isinstance(error, UnknownColumnError):
            advice = f". Give it the columns of the graph: {_names(spec.columns)}"
        # The functions below speak of edges.
        message = str(error).removesuffix(OPTION)  # the graph knows whether it has weights
        raise type(error)(f"{role}: {message}{advice}") from error


def _batch_edges(given: Any, spec: GraphSpec, role: str) -> Frames:
    own, weight = spec.columns, None
    if spec.weighted and role == "insert":
        weight = values_of(given) or own.weight
    source, target = ([*side] for side in (own.source, own.target))
    given = _with_dtypes(given, own, weight)
    rows = as_edges(given, source, target, weight=weight, directed=spec.directed)
    have = list(rows.frame.columns)
    # Pairs, arrays, matrices and what Graph.edges returns have no columns with the graph's names.
    if not all(name in have for name in (*source, *target)):
        ends = [vertex_names(end, len(source)) for end in ("source", "target")]
        if all(name in have for side in ends for name in side):
            source, target = ends
        elif usual := default_ends(have):
            source, target = ([end] for end in usual)
        if weight is not None and weight not in have and VALUES in have:
            weight = VALUES
    if weight is not None and weight not in have:
        raise WeightError(
            f"{role} has no column {weight!r}, and the graph has weights, which its edges have in that "
            "column. Give a frame with the ids at both ends and the weight of each edge"
        )
    frame, columns = check_edges(
        rows.frame, source, target, weight=weight, dropna=own.dropna
    ).frames[0]
    read = [(frame, _alike(columns, own, role))]
    if rows.vertices is not None and role == "insert":
        read.append(batch_vertices(rows.vertices, spec))
    return read


def _with_dtypes(given: Any, own: EdgeColumns, weight: Any) -> Any:
    """Return given edges; if they are in memory and there are none, with the dtypes of the graph."""
    in_memory = isinstance(given, Sequence | Set | np.ndarray | pd.DataFrame)
    if (
        isinstance(given, str | bytes)
        or not (in_memory or hasattr(given, "is_directed"))
        or len(given)
    ):
        return given
    pairs = dict(zip((*own.source, *own.target), own.dtypes * 2, strict=True))
    if weight is not None:
        pairs[weight] = own.weight_dtype
    if not isinstance(given, pd.DataFrame):
        given = pd.DataFrame(columns=[*pairs])
    return given.astype({name: dtype for name, dtype in pairs.items() if name in given})


def batch_vertices(given: Any, spec: GraphSpec) -> tuple[Any, EdgeColumns]:
    """Return further vertices as a frame, and how to read it."""
    frame, columns = vertex_frame(given, spec.columns, spec.ids)
    return frame, _alike(columns, spec.columns, "vertices")


def _alike(columns: EdgeColumns, graph: EdgeColumns, role: str) -> EdgeColumns:
    """Return how to read ids; raise if they are of another kind than the graph's."""
    if len(columns.dtypes) != len(graph.dtypes):
        raise EdgeListError(
            f"{role} has ids of {counted(len(columns.dtypes), 'column')}, and the graph's ids have "
            f"{len(graph.dtypes)}. Give a frame with the columns of the graph: {_names(graph)}"
        )
    advice = f"Give {role} ids of the graph's type"
    for own, given in zip(graph.dtypes, columns.dtypes, strict=True):
        dtypes.common_dtype(given, own, role, "the graph's id", advice)
    return replace(columns, role=role, level=None)


def _names(columns: EdgeColumns) -> str:
    return ", ".join(map(repr, (*columns.source, *columns.target)))
