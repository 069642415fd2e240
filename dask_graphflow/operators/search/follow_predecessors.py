"""Follow the predecessors of a search's result from targets back to their sources.

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
from dask_graphflow.exceptions import UsageError
from dask_graphflow.graph import frames
from dask_graphflow.graph.numbering import swap
from dask_graphflow.kernels import paths as paths_kernels


class ResultRows(NamedTuple):
    """Some rows of a result, in host memory."""

    vertices: Any  # DataFrame. Ids of the vertices.
    # DataFrame. Ids of their predecessors, with the same columns and dtypes; arbitrary for sources.
    predecessors: Any
    sources: np.ndarray  # array of bool. Which vertices have no predecessor.


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


class FoundPaths(NamedTuple):
    """The paths to some targets: the vertices of one path after another."""

    targets: Any  # DataFrame. Ids of the targets.
    lengths: np.ndarray  # array of int64. Number of vertices of each path.
    vertices: Any  # DataFrame. Ids of the vertices, each path from its source to its target.


def follow_predecessors(
    channel: Channel, pieces: Sequence[ResultRows], rank: int, targets: Any
) -> FoundPaths:
    """Return the paths to this member's part of the targets. All members of a gang call it at once.

    The pieces are the rows of the result that this member reads. The targets are a frame of ids, each once,
    in ascending order. All members raise :class:`.UsageError` if the result has no row for a vertex of a
    path, or if predecessors form a cycle.
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
    kernels = paths_kernels.of(ahead)
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
        sent.append((part, _take_rows(vertices, along)))
    del ahead, index, vertices, predecessors, along  # before memory for the result is allocated
    parts = swap(exchange, sent)
    sent.clear()
    mine = slice(*cuts[rank : rank + 2])
    return FoundPaths(targets.iloc[mine], lengths[mine], _in_order(parts))


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
    return _take_rows(stacked, order)


def _take_rows(frame: Any, rows: np.ndarray) -> Any:
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
