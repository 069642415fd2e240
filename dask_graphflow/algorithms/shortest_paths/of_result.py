"""Shortest paths: the vertices on the way from the sources of a search to targets.

The rows of a result of breadth-first search or of single-source shortest paths are read, not a graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.exceptions import OptionError, UnknownColumnError
from dask_graphflow.graph import frames, renumber, vertex_ids
from dask_graphflow.graph.edgelist import vertex_names
from dask_graphflow.graph.vertex_ids import brought
from dask_graphflow.operators.search.follow_predecessors import (
    FoundPaths,
    ResultRows,
    follow_predecessors,
)
from dask_graphflow.showing.suggestions import nearest


def id_columns(frame: Any) -> list[str]:
    """Return the columns of a result with the vertices, then those with the predecessors.

    Raises
    ------
    UnknownColumnError, OptionError
        The frame lacks some of them, or has paths from several sources.
    """
    width = sum(str(column).partition("_")[0] == "predecessor" for column in frame.columns) or 1
    columns = vertex_names("vertex", width) + vertex_names("predecessor", width)
    for column in columns:
        if column not in frame.columns:
            raise UnknownColumnError(
                f"result does not have the column {column!r}; give what bfs or sssp returned"
                f"{nearest(column, list(frame.columns))}"
            )
    sources = [name for name in vertex_names("source", width) if name in frame.columns]
    if sources:
        raise OptionError(
            f"result has paths from several sources, in the column {sources[0]!r}; a path needs the rows "
            "of one source. Select them, and leave out the column, for example by "
            f"result[result[{sources[0]!r}] == ...].drop(columns={sources})"
        )
    return columns


def sort_targets(targets: Any, ids: Any) -> Any:
    """Return the targets, each once and in order, with the columns of an empty frame of ids."""
    frame = vertex_ids.named(targets, ids, "targets")
    ordered, _ = renumber.sort(frames.to_pandas(frame).drop_duplicates(ignore_index=True))
    return ordered.reset_index(drop=True)


def read(frame: Any, partition: int, width: int) -> ResultRows:
    """Return the rows of a partition of a result whose ids have `width` parts."""
    frame = frames.to_pandas(frame).reset_index(drop=True)
    vertices = frame[vertex_names("vertex", width)]
    names = vertex_names("predecessor", width)
    sources = frame[names[0]].isna().to_numpy(bool)
    predecessors = pd.DataFrame(
        {
            column: frame[name].where(~sources, vertices[column]).astype(vertices[column].dtype)
            for name, column in zip(names, vertices.columns, strict=True)
        }
    )
    return ResultRows(vertices, predecessors, sources)


def walk(channel: Any, pieces: list[ResultRows], rank: int, targets: Any, like: Any) -> Any:
    """Return the frame of the paths to this member's part of the targets: the loop of a gang."""
    return frame_of_paths(follow_predecessors(channel, pieces, rank, targets), like)


def no_paths(targets: Any, like: Any) -> Any:
    """Return an empty frame of paths, for some targets and an empty frame of the result."""
    none = targets.iloc[:0]
    return frame_of_paths(FoundPaths(none, np.zeros(0, np.int64), none), like)


def frame_of_paths(found: FoundPaths, like: Any) -> Any:
    """Return the frame of some paths, with the backend and dtypes of the result."""
    targets, lengths, vertices = found
    names = list(vertices.columns)
    total = int(lengths.sum())
    steps = np.arange(total, dtype="int32")
    steps -= np.repeat((np.cumsum(lengths) - lengths).astype("int32"), lengths)
    ids = zip(vertex_names("target", len(names)), targets.columns, strict=True)
    columns = {name: targets[column].array.repeat(lengths) for name, column in ids}
    columns |= {"step": steps, **{name: vertices[name].array for name in names}}
    return brought(frames.build(pd.DataFrame, columns), like)
