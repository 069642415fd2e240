"""Sizes of a graph that are known before any edge is read."""

from __future__ import annotations

from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.typing import no_default

from dask_graphflow.costs.prediction import GraphSizes
from dask_graphflow.declarations.cost import Shape
from dask_graphflow.declarations.number_options import check_count
from dask_graphflow.declarations.option import Flag
from dask_graphflow.exceptions import OptionError
from dask_graphflow.graph import dtypes
from dask_graphflow.graph.frames import is_pandas
from dask_graphflow.graph.vertices import base_of
from dask_graphflow.inputs.edges import check_edges
from dask_graphflow.tasks.expr import find_held
from dask_graphflow.tasks.parquet import find_source, pieces_of

from .graph import Graph


def sizes_of(
    edges: Any,
    *,
    source: Any = None,
    target: Any = None,
    weight: Any = no_default,
    directed: bool | None = None,
    num_edges: int | None = None,
    num_vertices: int | None = None,
    dense_ids: bool | None = None,
    count_degrees: bool = False,
) -> GraphSizes:
    """Return the sizes of a graph from its frame's length, from Parquet's metadata, or from a built graph.

    Sizes that the caller gives take precedence, and so does `dense_ids`. `count_degrees` asks for the edges
    of each vertex, if the frame is in memory and ids are integers close together. This reads all edges. It
    raises :class:`.OptionError` if a size is neither given nor known.
    """
    check_count("num_edges", num_edges, least=0, optional=True)
    check_count("num_vertices", num_vertices, least=0, optional=True)
    if dense_ids is not None:
        Flag().check("dense_ids", dense_ids, None)
    if isinstance(edges, Graph):
        return _of_graph(edges, num_edges, num_vertices, dense_ids)
    checked = check_edges(edges, source, target, weight=weight, directed=directed)
    (frame, columns), rows = checked.frames[0], checked.rows
    if rows.vertices is not None and num_vertices is None:
        num_vertices = len(rows.vertices)
    weight, meta = columns.weight, frame._meta
    ids = [*columns.source, *columns.target]
    single = len(ids) == 2 and all(dtypes.is_integer(meta[column].dtype) for column in ids)
    data, origin = (
        find_source(frame) if isinstance(rows.frame, dd.DataFrame) else rows.frame,
        "as given",
    )
    shape = None
    # A frame whose size the caller gives may stand in for a larger one.
    count_degrees &= num_edges is None and num_vertices is None
    files = isinstance(data, list)
    if data is not None and (None in (num_edges, num_vertices) or (single and dense_ids is None)):
        count, low, high = _count_rows(data, ids if single else [])
        if None in (num_edges, num_vertices):
            origin = "from the Parquet metadata" if files else "from the frame in memory"
        num_edges = count if num_edges is None else num_edges
        if single and low is not None and high is not None:
            base = base_of(low, high, count, np.dtype(_plain(columns.dtypes[0])))
            dense_ids = base is not None if dense_ids is None else dense_ids
            if num_vertices is None and base is not None:
                num_vertices = high - base + 1
                if count_degrees and not files:
                    shape = _shape(data, ids, base, num_vertices)
    if num_edges is None or num_vertices is None:
        missing = "edges" if num_edges is None else "vertices"
        raise OptionError(
            f"the number of {missing} is not known before the edges are read; give num_{missing}=. It "
            "is known for a frame in memory and for Parquet files that are read as they are, if the ids "
            "are integers close together, and for a persisted Graph"
        )
    id_bytes = sum(_bytes(meta[column]) for column in columns.source)
    weight_bytes = 0 if weight is None else _bytes(meta[weight])
    held = bool(find_held(getattr(frame, "expr", frame))[1])
    pieces = pieces_of(frame, columns.columns) if files else None
    read_bytes = 0 if pieces is None else pieces.partition * frame.npartitions
    here = data is not None and not files
    return GraphSizes(
        num_vertices,
        num_edges,
        -(-num_edges // max(frame.npartitions, 1)),
        id_bytes,
        weight_bytes,
        rows.directed,
        built=False,
        device=not is_pandas(type(meta)),
        held=held,
        origin=origin,
        ids=_kinds(list(columns.dtypes), dense_ids),
        partitions=frame.npartitions,
        read_bytes=read_bytes,
        sent_bytes=(2 * id_bytes + weight_bytes) * len(data) if here else 0,
        shape=shape,
    )


def _shape(data: Any, ends: list[Any], low: int, vertices: int) -> Shape:
    """Count the edges of each vertex of a frame in memory, whose ids are dense."""
    degrees = np.zeros(vertices, np.int64)
    for column in ends:
        degrees += np.bincount(data[column].to_numpy("int64") - low, minlength=vertices)
    return Shape(int((degrees > 1).sum()), float((degrees.astype(float) ** 2).sum()))


def _of_graph(
    graph: Graph, num_edges: int | None, num_vertices: int | None, dense_ids: bool | None
) -> GraphSizes:
    spec, saved = graph._shards.spec, graph._shards.folder is not None
    built = saved or graph._shards.persisted
    if not built and (num_edges is None or num_vertices is None):
        raise OptionError(
            "the graph is not built yet, so its size is not known; give num_edges= and num_vertices=, or "
            "persist the graph first"
        )
    edges = graph.num_edges if num_edges is None else num_edges
    vertices = graph.num_vertices if num_vertices is None else num_vertices
    ids = sum(_bytes(spec.ids[column]) for column in spec.ids.columns)
    return GraphSizes(
        vertices,
        edges,
        edges,
        ids,
        8 * spec.weighted,
        graph.directed,
        built=built,
        device=graph.on_device,
        held=built,
        origin=f"from the {'saved' if saved else 'persisted'} graph" if built else "as given",
        ids=_kinds(list(spec.ids.dtypes), dense_ids),
        partitions=spec.partitions,
    )


def _kinds(parts: list[Any], dense: bool | None) -> tuple[str, ...]:
    """Return the kind of each part of an id. Integers whose range is not known count as dense."""
    if len(parts) == 1 and dtypes.is_integer(parts[0]) and dense is not False:
        return ("dense_ids",)
    return tuple("text_ids" if dtypes.kind(dtype) == "string" else "far_ids" for dtype in parts)


def _count_rows(data: Any, ids: list[Any]) -> tuple[int, int | None, int | None]:
    """Return the number of rows, and the smallest and the largest id if they are known."""
    if not isinstance(data, list):
        if not ids or not len(data):
            return len(data), None, None
        sides = [data[column] for column in ids]
        if any(side.isna().any() for side in sides):
            return len(data), None, None
        return (
            len(data),
            min(int(side.min()) for side in sides),
            max(int(side.max()) for side in sides),
        )
    rows, lows, highs, certain = 0, [], [], bool(ids)
    for fragment in data:
        fragment.ensure_complete_metadata()
        for group in fragment.row_groups:
            rows += group.num_rows
            ranges = group.statistics or {}
            for column in ids:
                if column not in ranges:
                    certain = certain and not group.num_rows
                    continue
                lows.append(int(ranges[column]["min"]))
                highs.append(int(ranges[column]["max"]))
    if not certain or not lows:
        return rows, None, None
    return rows, min(lows), max(highs)


def _plain(dtype: Any) -> Any:
    return getattr(dtype, "numpy_dtype", dtype)


def _bytes(column: Any) -> int:
    """Return the bytes of a value; 8 for text and similar types, which are replaced by numbers."""
    dtype = _plain(column.dtype)
    if isinstance(column.dtype, pd.CategoricalDtype) or not hasattr(dtype, "itemsize"):
        return 8
    return int(dtype.itemsize)
