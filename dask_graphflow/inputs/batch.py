"""The edges and vertices of an update, read with the columns of the graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.exceptions import EdgeListError, WeightError
from dask_graphflow.graph import dtypes
from dask_graphflow.graph.edgelist import EdgeColumns, default_ends
from dask_graphflow.showing.tables import counted

from .edges import Frames, check_edges
from .forms import as_edges, values_of
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
        raise type(error)(f"{role}: {error}") from error  # the functions below speak of edges


def _batch_edges(given: Any, spec: GraphSpec, role: str) -> Frames:
    own, weight = spec.columns, None
    if spec.weighted and role == "insert":
        weight = values_of(given) or own.weight
    source, target = ([*side] for side in (own.source, own.target))
    rows = as_edges(given, source, target, weight=weight, directed=spec.directed)
    have = list(rows.frame.columns)
    # Pairs, arrays and matrices have no columns with the graph's names.
    if not all(name in have for name in (*source, *target)) and (usual := default_ends(have)):
        source, target = ([end] for end in usual)
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


def batch_vertices(given: Any, spec: GraphSpec) -> tuple[Any, EdgeColumns]:
    """Return further vertices as a frame, and how to read it."""
    frame, columns = vertex_frame(given, spec.columns, spec.ids)
    return frame, _alike(columns, spec.columns, "vertices")


def _alike(columns: EdgeColumns, graph: EdgeColumns, role: str) -> EdgeColumns:
    """Return how to read ids; raise if they are of another kind than the graph's."""
    if len(columns.dtypes) != len(graph.dtypes):
        raise EdgeListError(
            f"{role} has ids of {counted(len(columns.dtypes), 'column')}, and the graph's ids have "
            f"{len(graph.dtypes)}. Give a frame with the columns of the graph: "
            f"{', '.join(map(repr, (*graph.source, *graph.target)))}"
        )
    advice = f"Give {role} ids of the graph's type"
    for own, given in zip(graph.dtypes, columns.dtypes, strict=True):
        dtypes.common_dtype(given, own, role, "the graph's id", advice)
    return replace(columns, role=role)
