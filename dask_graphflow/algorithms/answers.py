"""Answers: what an algorithm found, by vertex, as frames of ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dask_graphflow.dataflow import placement
from dask_graphflow.graph import edgelist, frames
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.shards import Shards
from dask_graphflow.graph.vertices import Vertices

__all__ = ["Answer", "OrNull", "answered", "empty_values", "framed", "ids_like", "steps_frame"]


class OrNull(NamedTuple):
    """Numbers of vertices, and which of them are none."""

    numbers: Any
    none: Any


@dataclass
class Answer:
    """What an algorithm found.

    Attributes
    ----------
    columns : dict of str to array
        By vertex; those that name vertices are numbers, or :class:`OrNull` where some have none.
    among : array of bool, shape (V,), or None
        The vertices that it is about; None for all that have an edge.
    steps : list of dict
        What each superstep did.
    """

    columns: dict[str, Any]
    among: Any = None
    steps: Sequence[dict[str, Any]] = ()


def answered(
    shards: Shards,
    *arguments: Any,
    work: Callable[..., Answer],
    dtypes: dict[str, Any],
    parts: int,
    trace: bool,
) -> list[Any]:
    """Run an algorithm; return its frames, and then its steps, if they are asked for."""
    answer = work(shards, placement.task_threads(1), *arguments)
    among = shards.occurs() if answer.among is None else answer.among
    chosen = np.flatnonzero(among)
    found = []
    for part in range(parts):
        mine = chosen[len(chosen) * part // parts : len(chosen) * (part + 1) // parts]
        ids = shards.vertices.named(mine)
        columns = {
            name: _value(shards.vertices, answer.columns[name], mine, dtype)
            for name, dtype in dtypes.items()
        }
        kind, names = type(shards.vertices.like), shards.vertices.like.columns
        found.append(framed(frames.build(kind, dict(zip(names, ids, strict=True))), columns))
    return [*found, steps_frame(answer.steps)] if trace else found


def _value(vertices: Vertices, values: Any, chosen: Any, dtype: Any) -> Any:
    """Return a column of the chosen vertices as it is, or the series of ids that it names."""
    if dtype == "id":
        return vertices.named(values[chosen])
    if dtype != "id or null":
        return values[chosen]
    none = values.none[chosen]
    return [
        _with_nulls(part, none)
        for part in vertices.named(np.where(none, 0, values.numbers[chosen]))
    ]


def _with_nulls(series: Any, mask: Any) -> Any:
    """Return a series of ids in which those that `mask` says are null."""
    if not isinstance(series, pd.Series):
        return series.mask(type(series)(mask))  # cuDF's columns all have room for nulls
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iu":
        return pd.Series(pd.arrays.IntegerArray(series.to_numpy(copy=True), mask.copy()))
    if series.dtype == np.dtype(bool):
        return pd.Series(pd.arrays.BooleanArray(series.to_numpy(copy=True), mask.copy()))
    return series.mask(mask)


def ids_like(meta: Any, columns: EdgeColumns) -> Any:
    """Return an empty frame of the ids' columns and dtypes."""
    like = frames.empty_like(meta[list(dict.fromkeys(columns.source))]).reset_index(drop=True)
    parts = zip(columns.names, columns.source, columns.dtypes, strict=True)
    ids = {}
    for name, column, dtype in parts:
        part = like[column]
        ids[name] = (
            part if part.dtype == dtype else part.astype(dtype)
        )  # slow in cuDF, if not needed
    return type(like)(ids)


def empty_values(ids: Any, dtype: Any) -> Any:
    """Return an empty column, or for ids one for each part of them."""
    if dtype == "id":
        return [ids[column] for column in ids.columns]
    if dtype == "id or null":
        return [_with_nulls(ids[column], np.zeros(0, bool)) for column in ids.columns]
    return np.zeros(0, dtype)


def framed(ids: Any, columns: dict[str, Any]) -> Any:
    """Return ids, and columns beside them; of those that are lists, a column for each part."""
    found = {column: ids[column] for column in ids.columns}
    for name, values in columns.items():
        if isinstance(values, list):
            found |= dict(zip(edgelist.vertex_names(name, len(values)), values, strict=True))
        else:
            found[name] = values
    return frames.build(type(ids), found)


def steps_frame(steps: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return supersteps as a frame."""
    dtypes = {"direction": "str", "frontier": "int64", "edges": "int64", "seconds": "float64"}
    frame = pd.DataFrame(list(steps), columns=list(dtypes)).astype(dtypes)
    frame.insert(0, "superstep", np.arange(len(frame)))
    return frame
