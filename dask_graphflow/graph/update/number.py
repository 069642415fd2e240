"""The numbers of the ids of a batch in the next version of a graph, and the new numbers of its vertices.

Numbers follow the order of the ids. So the new number of a vertex is its number plus that of the new ids
before it, and rows stay in order. All members call these functions.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph import frames, renumber
from dask_graphflow.graph.numbering import numbers_of, occurs
from dask_graphflow.graph.search_ids import places_of
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.vertex_ids import brought, to_frame
from dask_graphflow.graph.vertices import base_of
from dask_graphflow.kernels import index_dtype, kernels_for, move_to


class Numbered(NamedTuple):
    """The vertices after an update, and the ids of the batch among them."""

    base: int
    ids: Any  # frame or None. The ids of this member's range; see :class:`.Shard`.
    # Where the ranges begin, followed by where the last one ends. They are not yet whole grains.
    bounds: list[int]
    # Array of int32 or int64, or None. The new number of each old number, ascending; None if none changed.
    names: np.ndarray | None
    batch: Any  # array of int64. The new number of each id of the batch; -1 if it is not a vertex.
    fresh: np.ndarray  # array of int64. The rows in the batch of the ids that are new vertices.


def number(shard: Shard, exchange: Exchange, ids: Any, added: Any) -> Numbered:
    """Number the distinct, sorted ids of a batch, a frame or an array; those `added` become vertices."""
    found = np.zeros_like(added, np.int64)
    if len(ids):
        found = numbers_of(shard, exchange, ids, unique=False, known=False)
        found = np.where(found < 0, -1, found + shard.low)
        found = functools.reduce(np.maximum, exchange.all_gather(found))
    fresh = np.flatnonzero(move_to(found, added) & (found < 0))
    fresh = kernels_for(fresh).to_host(fresh)
    same = Numbered(shard.base, shard.ids, shard.bounds, None, found, fresh)
    if not len(fresh):
        return same
    own, new = shard.ids, to_frame(ids, shard.like).iloc[fresh].reset_index(drop=True)
    if own is None:
        wider = _in_range(shard, exchange, same, new.iloc[:, 0])
        if wider is not None:
            return wider
    same = same._replace(batch=kernels_for(found).to_host(found))
    if own is None:
        own, same = _with_ids(shard, exchange, same)
    return _in_order(exchange, own, same, brought(new, own))


def _in_range(shard: Shard, exchange: Exchange, same: Numbered, new: Any) -> Numbered | None:
    """Return the numbers if integers stay close together, and None otherwise. `new` has the new ids."""
    values = kernels_for(new).to_host(frames.values(new))
    # They are sorted. Not all of them need fit in 64 bits with a sign.
    low, high = min(shard.base, int(values[0])), max(shard.base + shard.size - 1, int(values[-1]))
    edges = exchange.all_sum(len(shard.out.ends))
    base = base_of(low, high, edges, new.dtype)
    if base is None:
        return None
    shift, inner = shard.base - base, shard.bounds[1:-1]
    batch = np.where(same.batch < 0, -1, same.batch + shift)
    batch[move_to(batch, same.fresh)] = move_to(batch, values.astype("int64") - base)
    names = None
    if shift:
        names = np.arange(shift, shift + shard.size, dtype=index_dtype(high - base + 1))
    bounds = [0, *(bound + shift for bound in inner), high - base + 1]
    return same._replace(base=base, bounds=bounds, names=names, batch=batch)


def _with_ids(shard: Shard, exchange: Exchange, same: Numbered) -> tuple[Any, Numbered]:
    """Return the ids of vertices that had none, as integers close together, and their numbers."""
    exists = occurs(shard, exchange)
    exists = kernels_for(exists).to_host(exists)
    every = np.concatenate(exchange.all_gather(exists))
    # The row of an integer that is not a vertex is empty, and merges with the next one.
    before = np.concatenate([[0], np.cumsum(every)])
    own = np.flatnonzero(exists) + (shard.base + shard.low)
    own = frames.one_column(kernels_for(shard.like).namespace.asarray(own), shard.like)
    batch = np.where(same.batch < 0, -1, before[same.batch])
    names = before[:-1].astype(index_dtype(int(before[-1])))
    bounds = before[shard.bounds].tolist()
    return own, same._replace(base=0, bounds=bounds, names=names, batch=batch)


def _in_order(exchange: Exchange, own: Any, same: Numbered, new: Any) -> Numbered:
    """Insert new ids, which are sorted, into the sorted ids of the members."""
    rank, size = exchange.rank, same.bounds[-1]
    # How many of all old ids are before each new one.
    at = np.sum(exchange.all_gather(_places(own, new)), axis=0)
    numbers = at + np.arange(len(at))
    moved = np.arange(size + 1) + np.cumsum(np.bincount(at, minlength=size + 1))
    inner = same.bounds[1:-1]
    bounds = [0, *(inner + np.searchsorted(at, inner)).tolist(), size + len(at)]
    mine = (numbers >= bounds[rank]) & (numbers < bounds[rank + 1])
    ids = _inserted(own, new.iloc[np.flatnonzero(mine)], at[mine] - same.bounds[rank])
    batch = np.where(same.batch < 0, -1, moved[same.batch])
    batch[same.fresh] = numbers
    names = same.names
    if names is not None:
        names = moved[names]
    elif at[0] < size:  # not all of them are behind the old ones
        names = moved[:-1]
    if names is not None:
        names = names.astype(index_dtype(size + len(at)))
    return same._replace(ids=ids, bounds=bounds, names=names, batch=batch)


def _places(own: Any, new: Any) -> np.ndarray:
    """Return how many of a member's ids are before each new id."""
    if (found := places_of(own, new)) is not None:
        return found[0]
    _, (_, rows) = renumber.merge([own, new])
    places: np.ndarray = kernels_for(rows).to_host(rows).astype("int64") - np.arange(len(new))
    return places


def _inserted(own: Any, new: Any, places: np.ndarray) -> Any:
    """Return ids with new ones before some rows."""
    if not len(new):
        return own
    columns = {name: _insert_values(own[name], new[name], places) for name in own.columns}
    return frames.build(type(own), columns)


def _insert_values(own: Any, new: Any, places: np.ndarray) -> Any:
    """Return a column with new values before some rows."""
    if isinstance(own, pd.Series) and isinstance(own.dtype, pd.ArrowDtype | pd.StringDtype):
        return _splice(own, new, places)
    count, name = len(own), own.name
    both = frames.stack([own.to_frame(), new.to_frame()]) if count else new.to_frame()
    order = np.insert(np.arange(count), places, np.arange(count, count + len(new)))
    return frames.take(both[name], order)


def _splice(own: pd.Series, new: pd.Series, places: np.ndarray) -> pd.Series:
    """Do the same for values that Arrow stores: the others are copied in long pieces, in their order."""
    old, more, dtype = _stored(own), _stored(new), cast(Any, own.dtype)
    more = more.cast(old.type)
    first = np.flatnonzero(np.diff(places, prepend=-1))  # of the new values before a row
    cuts = [0, *places[first].tolist(), len(old)]
    pieces = [old[low:high] for low, high in itertools.pairwise(cuts)]
    runs = itertools.pairwise([*first.tolist(), len(more)])
    added = [more[low:high] for low, high in runs]
    every = [piece for pair in zip(pieces, added, strict=False) for piece in pair]
    joined = pa.concat_arrays([*every, pieces[-1]])
    return pd.Series(dtype.__from_arrow__(joined), copy=False)


def _stored(column: pd.Series) -> pa.Array:
    values = pa.array(column.array)
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
