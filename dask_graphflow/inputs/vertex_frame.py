"""Vertices and earlier results that a caller gives, read as edges."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dask_graphflow.exceptions import EdgeListError, UnknownColumnError
from dask_graphflow.graph import dtypes, edgelist, vertex_ids
from dask_graphflow.graph.advice import library_of
from dask_graphflow.graph.arrow import as_frame
from dask_graphflow.graph.edgelist import EdgeColumns, vertex_names
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.tables import counted

from .hold_frame import as_dask, hold


def vertex_frame(vertices: Any, edges: EdgeColumns, like: Any) -> tuple[Any, EdgeColumns]:
    """Return the vertices, a frame or a list, as edges from each vertex to itself, and how to read them.

    Vertices in a pandas object or in a list are converted to the backend of `like`.
    """
    width, library = len(edges.names), library_of(vertices)
    vertices = as_frame(vertices, "vertices")
    if vertex_ids.is_listed(vertices):
        parts = vertex_ids.listed(vertices, width, "vertices=")
        made = {}
        for name, own, dtype in zip(edges.names, parts, edges.dtypes, strict=True):
            if not len(own):  # its dtype says nothing
                made[name] = own.astype(dtype)
                continue
            made[name] = vertex_ids.typed(own, "vertices=")
            dtypes.vertex_dtype(made[name], "vertices=")
        vertices = pd.DataFrame(made)
    if isinstance(vertices, pd.MultiIndex):
        vertices = vertices.to_frame(name=vertex_names("vertex", vertices.nlevels))
    elif hasattr(vertices, "to_frame"):
        vertices = vertices.to_frame(name=edges.names[0])
    if isinstance(vertices, pd.DataFrame):
        vertices = vertex_ids.brought(vertices, like)
    columns = list(getattr(vertices, "columns", ()))[:width]
    frame = hold(vertices, "vertices", columns, library)
    if len(frame.columns) < width:
        raise EdgeListError(
            f"vertices has {counted(len(frame.columns), 'column')} and an id has {width}; give one "
            "column per part of an id, before all other columns"
        )
    columns = list(frame.columns[:width])
    edgelist.check_columns(frame, columns, "vertices")
    return frame, _like(edges, frame, columns, columns, "vertices", library, level=0)


def seed_frames(
    seed: Any, edges: EdgeColumns, labels: Sequence[Sequence[str]]
) -> list[tuple[Any, EdgeColumns]]:
    """Return an earlier result as edges from each vertex to its component, threshold by threshold."""
    needed, library = [*edges.names, *itertools.chain(*labels)], library_of(seed)
    frame = as_dask(seed, "seed", *needed, library=library)
    have = list(frame.columns)
    if missing := [name for name in needed if name not in have]:
        raise UnknownColumnError(
            f"seed has {', '.join(map(repr, have)) or 'no column'}, and lacks "
            f"{', '.join(map(repr, missing))}; give the result of an earlier call, with the columns "
            f"{', '.join(map(repr, needed))}{nearest(missing[0], have)}"
        )
    edgelist.check_columns(frame, needed, "seed")
    return [
        (frame, _like(edges, frame, edges.names, columns, "seed", library, level=level))
        for level, columns in enumerate(labels, start=1)
    ]


def _like(
    edges: EdgeColumns,
    frame: Any,
    source: Sequence[Any],
    target: Sequence[Any],
    role: str,
    library: str,
    level: int,
) -> EdgeColumns:
    common = list(edges.dtypes)
    for columns in (source, target):
        for part, column in enumerate(columns):
            common[part] = dtypes.common_dtype(
                common[part],
                dtypes.vertex_dtype(frame._meta[column], role, library),
                "the edges' id",
                f"{role} {column!r}",
            )
    return replace(
        edges,
        source=tuple(source),
        target=tuple(target),
        dtypes=tuple(common),
        weight=None,
        weight_dtype=None,
        level=level,
        role=role,
        library=library,
    )
