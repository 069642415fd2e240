"""Alignment of the rows of a frame, such as an earlier result, with the vertices of a member."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.kernels import all_true, kernels_for

from . import frames
from .numbering import numbers_of, occurs
from .search_ids import merge_ids
from .shard import Shard
from .vertex_ids import named, to_frame


class Aligned(NamedTuple):
    """Which rows of some ids name which vertices of this member."""

    rows: Any  # slice, or array of int64
    at: Any  # slice, or array of int64. The position of the vertex that each of these rows names.
    known: bool  # whether all rows name a vertex, of this member or another one
    once: bool  # whether no two rows name the same vertex


def align(shard: Shard, exchange: Exchange, ids: Any) -> Aligned:
    """Return which rows of some ids name vertices of this member, and the positions of these.

    All members call it, with the same ids: a frame, or an array of integers. Ids that ascend are merged
    with those of the graph; others need a join.
    """
    merged = _merge(shard, exchange, ids)
    # No row is merged by two members, and no member merges two rows with one vertex.
    if exchange.all_sum(merged[0].stop - merged[0].start) == len(ids):
        return Aligned(*merged, known=True, once=True)
    at = numbers_of(shard, exchange, ids, unique=False, known=False)
    rows = np.flatnonzero(at >= 0)
    marks = np.zeros_like(at, bool, shape=shard.owned)
    marks[at[rows]] = True
    found, distinct = exchange.all_sum(len(rows)), exchange.all_sum(int(marks.sum()))
    return Aligned(rows, at[rows], known=found == len(ids), once=found == distinct)


def first_ids(frame: Any, like: Any, option: str) -> Any:
    """Return the ids in the first columns of an option, like the ids of a graph.

    The result is an array if they are integers of NumPy, otherwise a frame.
    """
    first, types = frame.iloc[:, 0], list(like.dtypes)
    if types == [first.dtype] and frames.are_integers(types) and frames.is_pandas(type(frame)):
        return first.to_numpy()
    ids = frame.iloc[:, : len(types)]
    return named(ids, like, option) if len(ids) and list(ids.dtypes) != types else ids


def _merge(shard: Shard, exchange: Exchange, ids: Any) -> tuple[slice, Any]:
    """Return this member's rows and positions, as :func:`align` does, if all ids ascend; else no rows."""
    none = slice(0, 0), np.empty(0, np.int64)
    if shard.placed is not None:  # positions are not in the order of the ids
        return none
    if shard.ids is not None:
        return merge_ids(shard.ids, to_frame(ids, shard.like)) or none
    has, start = occurs(shard, exchange), shard.base + shard.low
    given = ids if isinstance(ids, np.ndarray) else frames.values(ids.iloc[:, 0])
    given = kernels_for(has).namespace.asarray(given).astype("int64", copy=False)
    if not all_true(given[1:] > given[:-1]):
        return none
    ends = np.array([start, start + shard.owned], like=given)
    first, stop = np.searchsorted(given, ends).tolist()
    inside = slice(first, stop)
    if stop - first == shard.owned:  # all of them: no array of positions is needed
        return (inside, slice(shard.owned)) if all_true(has) else none
    at = given[inside] - start
    return (inside, at) if all_true(has[at]) else none
