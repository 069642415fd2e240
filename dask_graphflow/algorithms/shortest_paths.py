"""Paths: follow predecessors from targets back to their sources, over the rows of a search's result.

Each member holds some rows of the result: a vertex and its predecessor. In each *round*, all members get
the current ends of the paths. The member that holds the row of a vertex follows predecessors as far as it
has their rows, and sends the new end to all members. Finally, each member collects the paths of some of the
targets.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import OptionError, UnknownColumnError, UsageError
from dask_graphflow.graph import frames, renumber, vertex_ids
from dask_graphflow.graph.edgelist import vertex_names
from dask_graphflow.graph.numbering import swap
from dask_graphflow.graph.vertex_ids import brought
from dask_graphflow.kernels import kernels_for, kernels_of
from dask_graphflow.showing.suggestions import nearest


class ResultRows(NamedTuple):
    """Some rows of a result, in host memory.

    Attributes
    ----------
    vertices : DataFrame
        Ids of the vertices.
    predecessors : DataFrame
        Ids of their predecessors, with the same columns and dtypes; arbitrary for sources.
    sources : array of bool
        Which vertices have no predecessor.
    """

    vertices: Any
    predecessors: Any
    sources: np.ndarray


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
                f"result does not have the column {column!r}{nearest(column, list(frame.columns))}; give "
                "what bfs or sssp returned"
            )
    sources = [name for name in vertex_names("source", width) if name in frame.columns]
    if sources:
        raise OptionError(
            f"result has paths from several sources, in the column {sources[0]!r}; a path needs the rows "
            "of one source. Select them, and leave out the column, for example by "
            f"result[result[{sources[0]!r}] == ...].drop(columns={sources})"
        )
    return columns


def sorted_targets(targets: Any, ids: Any) -> Any:
    """Return the targets, each once and in order, with the columns of an empty frame of ids."""
    frame = vertex_ids.named(targets, ids, "targets")
    host = kernels_for(frame).to_pandas(frame)
    ordered, _ = renumber.sort(host.drop_duplicates(ignore_index=True))
    return ordered.reset_index(drop=True)


def read(frame: Any, partition: int, width: int) -> ResultRows:
    """Return the rows of a partition of a result whose ids have `width` parts."""
    frame = kernels_for(frame).to_pandas(frame).reset_index(drop=True)
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


class _Followed(NamedTuple):
    """Parts of paths that a member followed in a round: one entry per path."""

    paths: np.ndarray  # numbers of the paths
    before: np.ndarray  # number of vertices of the path from its target to this part
    counts: np.ndarray  # number of vertices of the part
    starts: np.ndarray  # the row of the part's first vertex


class _Step(NamedTuple):
    """The outcome of a round: one entry per path that a member followed."""

    paths: np.ndarray  # numbers of the paths
    lengths: np.ndarray  # number of vertices added to each path
    ended: np.ndarray  # whether the path reached its source
    following: Any  # ids of the vertices from which to continue


def walk(channel: Channel, pieces: Sequence[ResultRows], rank: int, targets: Any, like: Any) -> Any:
    """Return the paths to this member's part of the targets: the loop of a gang.

    Parameters
    ----------
    channel : Channel
    pieces : list of ResultRows
        The rows of the result that this member reads.
    rank : int
        The rank of the channel.
    targets : DataFrame
        Ids of the targets, each once, in ascending order.
    like : DataFrame
        An empty frame of the result.

    Raises
    ------
    UsageError
        The result has no row for a vertex of a path, or predecessors form a cycle. All members raise it.
    """
    exchange = Exchange(channel)
    rows = [piece for piece in pieces if len(piece.vertices)] or list(pieces[:1])
    vertices = frames.stack([piece.vertices for piece in rows]) if rows else targets.iloc[:0]
    index = _index(vertices)
    ahead, sources, predecessors = np.zeros(0, np.int64), np.zeros(0, bool), vertices
    if rows:
        predecessors = frames.stack([piece.predecessors for piece in rows])
        sources = np.concatenate([piece.sources for piece in rows])
        ahead = index.get_indexer(_index(predecessors))
    count = exchange.all_sum(len(vertices))

    ahead[sources] = -1
    kernels = kernels_of("paths", ahead)
    lengths = np.zeros(len(targets), np.int64)
    followed: list[_Followed] = []
    paths, at = np.arange(len(targets)), targets
    while len(paths):
        rows_at = index.get_indexer(_index(at))
        own = np.flatnonzero(rows_at >= 0)
        path = paths[own]
        steps, last = kernels.follow(ahead, rows_at[own], count)
        followed.append(_Followed(path, lengths[path], steps, rows_at[own]))
        step = _Step(path, steps, sources[last], predecessors.iloc[last])
        steps_of_all = swap(exchange, [step] * exchange.size)
        if sum(len(each.paths) for each in steps_of_all) < len(paths) and lengths[paths].any():
            raise _broken("has no row for a predecessor in it")
        for each in steps_of_all:
            lengths[each.paths] += each.lengths
        if lengths.max(initial=0) > count:
            raise _broken("has predecessors that lead in a circle")
        paths = np.concatenate([each.paths[~each.ended] for each in steps_of_all])
        at = frames.stack([each.following[~each.ended] for each in steps_of_all])
    cuts = [len(targets) * part // exchange.size for part in range(exchange.size + 1)]
    columns = [np.concatenate(parts) for parts in zip(*followed, strict=True)]
    sent = []
    for low, high in itertools.pairwise(cuts):
        in_part = (columns[0] >= low) & (columns[0] < high)
        part = _Followed(*(column[in_part] for column in columns))
        along = kernels.rows_along(ahead, part.starts, part.counts)
        sent.append((part, _taken(vertices, along)))
    del ahead, index, vertices, predecessors, along  # before memory for the result is allocated
    parts = swap(exchange, sent)
    sent.clear()
    mine = slice(*cuts[rank : rank + 2])
    return frame_of_paths(targets.iloc[mine], lengths[mine], _in_order(parts), like)


def _in_order(parts: list[tuple[_Followed, Any]]) -> Any:
    """Return the vertices of paths, one path after another, from parts of them that members followed.

    The list is emptied, so that its frames are freed as soon as possible.
    """
    followed = [part for part, _ in parts]
    path, before, counts, _ = (np.concatenate(column) for column in zip(*followed, strict=True))
    ids = [vertices for _, vertices in parts if len(vertices)] or [parts[0][1]]
    parts.clear()
    stacked = frames.stack(ids)
    ids.clear()
    # The part of a path that is nearest to the source comes first.
    sorting = np.lexsort((-before, path))
    starts, counts = (np.cumsum(counts) - counts)[sorting], counts[sorting]
    order = np.arange(len(stacked))
    order += np.repeat(starts - (np.cumsum(counts) - counts), counts)
    return _taken(stacked, order)


def no_paths(targets: Any, like: Any) -> Any:
    """Return an empty frame of paths, for some targets and an empty frame of the result."""
    none = targets.iloc[:0]
    return frame_of_paths(none, np.zeros(0, np.int64), none, like)


def frame_of_paths(targets: Any, lengths: np.ndarray, vertices: Any, like: Any) -> Any:
    """Return the frame of some paths, with the backend and dtypes of the result."""
    names = list(vertices.columns)
    total = int(lengths.sum())
    steps = np.arange(total, dtype="int32")
    steps -= np.repeat((np.cumsum(lengths) - lengths).astype("int32"), lengths)
    ids = zip(vertex_names("target", len(names)), targets.columns, strict=True)
    columns = {name: targets[column].array.repeat(lengths) for name, column in ids}
    columns |= {"step": steps, **{name: vertices[name].array for name in names}}
    return brought(frames.build(pd.DataFrame, columns), like)


def _taken(frame: Any, rows: np.ndarray) -> Any:
    """Return some rows of a frame, with a new index from 0."""
    columns = {name: frame[name].array.take(rows) for name in frame.columns}
    return frames.build(pd.DataFrame, columns)


def _index(ids: Any) -> pd.Index:
    """Return ids as an index for look-ups."""
    columns = list(ids.columns)
    return pd.Index(ids[columns[0]]) if len(columns) == 1 else pd.MultiIndex.from_frame(ids)


def _broken(problem: str) -> UsageError:
    return UsageError(
        f"the path to a target cannot be followed, because the result {problem}. Give all rows of a result "
        "of bfs or sssp, called without targets="
    )
