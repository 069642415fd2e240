"""Numbering: map ids of vertices to numbers and back, when each member of a gang has some of the ids.

Vertices are numbered in the order of their ids (:mod:`.build.number`).

Functions that take an :class:`~.exchange.Exchange` are called by all members, at the same point among its
rounds.
"""

from __future__ import annotations

import functools
import itertools
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.comm.mirrors import Mirrors
from dask_graphflow.graph import frames, renumber
from dask_graphflow.kernels import count_true, index_dtype, kernels_for, move_to, sorted_unique
from dask_graphflow.kernels import rows as rows_kernels

from . import stored
from .blocks import blocks
from .shard import Shard
from .vertex_ids import shown, to_frame, unknown
from .vertices import Vertices


def swap(exchange: Exchange, values: Sequence[Any]) -> list[Any]:
    """Send each member its own value, pickled; return the value from each member.

    This member's own value is returned without pickling.
    """
    sent = [
        b"" if rank == exchange.rank else pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        for rank, value in enumerate(values)
    ]
    received = exchange.all_to_all([np.frombuffer(raw, np.uint8) for raw in sent])
    return [
        values[rank] if rank == exchange.rank else pickle.loads(raw)
        for rank, raw in enumerate(received)
    ]


def number_sorted(exchange: Exchange, ids: Any) -> tuple[Any, list[int], Any]:
    """Number the ids of all members by their order.

    Parameters
    ----------
    exchange : Exchange
    ids : frame
        This member's ids, each once, in ascending order.

    Returns
    -------
    owned : frame
        The ids in this member's range of the order: row i has the number ``homes[rank] + i``.
    homes : list of int
        The first number of each member's range, followed by the number of ids.
    numbers : array of int32 or int64, shape (len(ids),)
        The number of each of this member's ids.
    """
    cuts = renumber.splitters(swap(exchange, [renumber.sample(ids)] * exchange.size), exchange.size)
    ranges = [renumber.piece(ids, cuts, owner) for owner in range(exchange.size)]
    owned, rows = renumber.merge(swap(exchange, ranges))
    homes = list(itertools.accumulate(swap(exchange, [len(owned)] * exchange.size), initial=0))
    first, dtype = homes[exchange.rank], index_dtype(homes[-1])
    received = exchange.all_to_all([(row.astype("int64") + first).astype(dtype) for row in rows])
    return owned, homes, np.concatenate(received)


def stacked(parts: Sequence[Any]) -> Any:
    """Return the rows of several frames, which need not have rows, one after another."""
    return frames.stack([part for part in parts if len(part)] or parts[:1])


def kept_by_all(shard: Shard, exchange: Exchange, name: str, make: Callable[[], Any]) -> Any:
    """Return the object that all members have cached under a name, or have all of them make it now.

    Several runs may need the object at once, and a shard that was lost is rebuilt without it. The members
    therefore agree on whether to make it. `make` is called without the lock, so that no run blocks another
    one that is waiting for messages.
    """
    if exchange.size == 1:
        return shard.kept(name, make)
    if not exchange.all_sum(not shard.has(name)):
        return shard.kept(name, make)
    made = make()
    return shard.kept(name, lambda: made)


def mirrors(shard: Shard, exchange: Exchange, which: str = "out", threads: int = 1) -> Mirrors:
    """Return the mirrors of a shard's rows: "out", or "into" once those rows are cached.

    Members exchange once which vertices they mirror, and cache the result.
    """
    local = shard.host.local(which, threads)
    ends = local.slots, local.slot_bounds, shard.bounds
    name = stored.mirrored(which if shard.directed else stored.OUT)
    mirrored = kept_by_all(shard.host, exchange, name, lambda: Mirrors(exchange, *ends).mirrored)
    return Mirrors(exchange, *ends, shard.here(name, mirrored))


def occurs(shard: Shard, exchange: Exchange) -> Any:
    """Return a boolean for each number of the range: whether it is a vertex. Do not change the array.

    If ids are integers close together, an integer is not a vertex if no edge uses it and the caller did not
    list it.
    """
    host = shard.host

    def make() -> Any:
        if host.ids is not None:
            if host.placed is None:
                return np.ones_like(host.degrees, bool)
            return host.numbers >= 0
        has = host.degrees > 0
        if host.directed:
            has |= own_marks(exchange, marked(host.out.ends, host.size), host.bounds)
        if host.has(stored.LISTED):
            has |= host.made(stored.LISTED)
        return has

    return shard.here(stored.OCCURS, kept_by_all(host, exchange, stored.OCCURS, make))


def marked(vertices: Any, size: int) -> Any:
    """Return which of `size` vertices an array contains: array of bool, in memory."""
    marks = np.zeros_like(vertices, bool, shape=size)
    marks[vertices] = True
    return marks


def vertex_count(shard: Shard, exchange: Exchange) -> int:
    """Return the number of vertices of all members."""

    def make() -> int:
        return exchange.all_sum(count_true(occurs(shard, exchange)))

    count: int = kept_by_all(shard.host, exchange, stored.VERTICES, make)
    return count


def num_vertices(channel: Channel, shard: Shard, rank: int) -> int:
    """Return the number of vertices of all shards: the loop of a gang (see :func:`.gang.run`)."""
    return vertex_count(shard, Exchange(channel, device=shard.on_device))


def num_edges(channel: Channel, shard: Shard, rank: int) -> int:
    """Return the number of edges of all shards: the loop of a gang (see :func:`.gang.run`).

    An undirected edge counts once, although the shards of both its ends store it.
    """
    rows, loops = shard.out, 0
    if not shard.directed:
        kernels, threads = rows_kernels.of(rows.ends), channel.resources.threads
        for _, block in blocks(rows):
            owners = kernels.owners(block, rows.ends.dtype, threads=threads)
            loops += count_true(owners == block.ends)
    entries, loops = Exchange(channel).all_reduce(sums=(len(rows.ends), loops)).sums
    return entries if shard.directed else (entries + loops) // 2


def own_marks(exchange: Exchange, marks: Any, bounds: Sequence[int]) -> Any:
    """Return which vertices of this member's range are marked by any member."""
    if exchange.size == 1:
        return marks
    low, high = bounds[exchange.rank : exchange.rank + 2]
    received = exchange.all_to_all([np.packbits(marks[a:b]) for a, b in itertools.pairwise(bounds)])
    marked = np.zeros(high - low, bool, like=marks)
    for bits in received:
        marked |= np.unpackbits(bits)[: high - low].view(bool)
    return marked


def numbers_of(
    shard: Shard, exchange: Exchange, ids: Any, *, unique: bool = True, known: bool = True
) -> Any:
    """Return the vertices of this range among some ids.

    Parameters
    ----------
    shard : Shard
    exchange : Exchange
    ids : frame, or array of integers
        The same for all members. It may contain any ids.
    unique : bool
        Whether to return each vertex once, or one entry per given id.
    known : bool
        Whether all ids have to be vertices. Otherwise, ids that are not are left out.

    Returns
    -------
    array of int64
        Numbers from 0 for the first vertex of the range. With `unique` they ascend; otherwise there is
        one per entry of `ids`, and -1 for a vertex of another member, or an id that was left out.

    Raises
    ------
    UnknownVertexError
        Some of the ids are not vertices, and have to be. All members raise it.
    """
    first, last = shard.homes[shard.rank : shard.rank + 2]
    own = Vertices(shard.like, last - first, shard.base + first, shard.ids)
    numbers = own.numbers(ids)
    # The host is faster than a device if there are few of them.
    if shard.placed is not None or len(numbers) < renumber.MANY:
        numbers = kernels_for(numbers).to_host(numbers)
    if shard.placed is not None:
        numbers = _to_places(shard, exchange, np.where(numbers < 0, -1, numbers + first))
    has = occurs(shard, exchange)
    near = numbers >= 0
    if near.any():
        is_vertex = has[move_to(has, numbers[near])]
        numbers[near] = np.where(move_to(numbers, is_vertex), numbers[near], -1)
    if known:
        recognized = functools.reduce(np.logical_or, exchange.all_gather(numbers >= 0))
        lost = np.flatnonzero(~recognized)
        if len(lost):
            raise unknown(to_frame(ids, shard.like), kernels_for(lost).to_host(lost))
    return move_to(has, sorted_unique(numbers[numbers >= 0]) if unique else numbers)


def _to_places(shard: Shard, exchange: Exchange, numbers: np.ndarray) -> np.ndarray:
    """Convert numbers to places in this range, from 0; -1 for vertices of other members.

    Each member passes -1 for the vertices whose numbers it does not know.
    """
    assert shard.placed is not None
    numbers = np.max(exchange.all_gather(numbers), axis=0)
    is_vertex = numbers >= 0
    places = np.full(len(numbers), -1, np.int64)
    places[is_vertex] = shard.placed.places[numbers[is_vertex]]
    mine = (places >= shard.low) & (places < shard.high)
    return np.where(mine, places - shard.low, -1)


def names_of(shard: Shard, exchange: Exchange, numbers: Any) -> list[Any]:
    """Return the ids of vertices of any range, one array or series per part of an id.

    Each id is requested once from its owner. If ids are integers close together, none is requested.
    """
    if shard.ids is None or exchange.size == 1:
        return shard.vertices.named(numbers)
    distinct, places = np.unique(numbers, return_inverse=True)
    received_ids = ids_of(exchange, shard.ids, shard.homes, distinct)
    return Vertices(shard.like, len(received_ids), ids=received_ids).named(places)


def shown_vertices(shard: Shard, exchange: Exchange, numbers: Any) -> str:
    """Return the ids of vertices as text, for messages. All members call it, with the same numbers."""
    ids = names_of(shard, exchange, numbers)
    return shown(type(shard.like)(dict(zip(shard.like.columns, ids, strict=True))))


def ids_of(exchange: Exchange, owned: Any, homes: Sequence[int], numbers: Any) -> Any:
    """Return the ids of some distinct, ascending numbers. Each member may ask for others.

    See :func:`number_sorted` for `owned` and `homes`.
    """
    cuts = np.searchsorted(numbers, np.array(homes, like=numbers))
    ranges = itertools.pairwise(cuts.tolist())
    asked = exchange.all_to_all(
        [numbers[a:b] - low for (a, b), low in zip(ranges, homes, strict=False)]
    )
    return stacked(swap(exchange, [owned.iloc[rows] for rows in asked]))
