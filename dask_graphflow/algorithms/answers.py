"""Answers: what an algorithm found, by vertex, as frames of ids."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.graph import edgelist, frames
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.shards import Shards
from dask_graphflow.operators.advance import telling
from dask_graphflow.scheduling import placement
from dask_graphflow.scheduling.progress import Progress

from .algorithm import Answer

__all__ = [
    "answered",
    "empty_values",
    "frame_of",
    "framed",
    "ids_like",
    "steps_frame",
]


def answered(
    shards: Shards,
    *arguments: Any,
    work: Callable[..., Answer],
    dtypes: dict[str, Any],
    parts: int,
    trace: bool,
    progress: Progress,
) -> list[Any]:
    """Run an algorithm; return its frames, and then its steps, if they are asked for."""
    threads = placement.task_threads(1)
    with progress.listening() as tell, telling(tell):
        answer = work(shards, threads, *arguments)
    among = shards.occurs() if answer.among is None else answer.among
    chosen = np.flatnonzero(among)
    cuts = [len(chosen) * part // parts for part in range(parts + 1)]
    own = [chosen[low:high] for low, high in itertools.pairwise(cuts)]
    vertices = shards.vertices
    about = dtypes, vertices.named, vertices.like
    found = [frame_of(answer.of(some, threads), some, *about) for some in own]
    return [*found, steps_frame(answer.steps)] if trace else found


def frame_of(
    columns: dict[str, Any],
    vertices: Any,
    dtypes: dict[str, Any],
    named: Callable[[Any], list[Any]],
    like: Any,
) -> Any:
    """Return the frame of some vertices.

    Parameters
    ----------
    columns : dict of str to array
        As of :class:`Answer`, of these vertices alone.
    vertices : array of integers
        Their numbers, ascending.
    dtypes : dict
        The columns' dtypes; "id" and "id or null" for those that are numbers of vertices.
    named : callable
        Returns the ids of numbers of vertices, a series for each part of an id.
    like : frame
        Without rows; of the ids' columns.
    """

    def value(values: Any, dtype: Any) -> Any:
        if dtype == "id":
            return named(values)
        if dtype != "id or null":
            return values
        numbers = np.where(values.none, vertices, values.numbers)
        return [_with_nulls(part, values.none) for part in named(numbers)]

    ids = dict(zip(like.columns, named(vertices), strict=True))
    found = {name: value(columns[name], dtype) for name, dtype in dtypes.items()}
    return framed(frames.build(type(like), ids), found)


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


def steps_frame(
    steps: Sequence[dict[str, Any]], member: int | None = None, *, linked: bool = False
) -> pd.DataFrame:
    """Return supersteps as a frame; those of a member of a gang with what it did in them itself.

    And whether its device read edges of the graph over the link.
    """
    dtypes = {"direction": "str", "frontier": "int64", "edges": "int64", "seconds": "float64"}
    if member is not None:
        dtypes |= {"compute": "float64", "communicate": "float64", "wait": "float64"}
        dtypes |= {"bytes": "int64"}
    frame = pd.DataFrame(list(steps), columns=list(dtypes)).astype(dtypes)
    frame.insert(0, "superstep", np.arange(len(frame)))
    if member is not None:
        frame.insert(1, "member", member)
        frame["linked"] = linked
    return frame
