"""Numbering: map ids of vertices to numbers and back, when each member of a gang has some of the ids.

Vertices are numbered in the order of their ids. Integers close together are numbered by arithmetic, and no
ids are sent. All other ids are sent to the owners of ranges of their order, as in :mod:`.renumber`. The
owners send back the numbers, and keep the ids.

Functions that take an :class:`~.exchange.Exchange` are called by all members, at the same point among its
rounds.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.comm.mirrors import Mirrors
from dask_graphflow.graph import dtypes, frames, renumber
from dask_graphflow.kernels import (
    as_stored,
    count_true,
    disk,
    index_dtype,
    kernels_for,
    sorted_unique,
)
from dask_graphflow.scheduling import memory_limits

from .edgelist import Ends
from .shard import Shard
from .vertex_ids import brought, shown, unknown
from .vertices import Vertices, base_of


class Numbering(NamedTuple):
    """The ids for which the numbers of vertices stand.

    Attributes
    ----------
    like : frame
        An empty frame with the ids' columns and dtypes.
    size : int
        How many numbers there are.
    base : int
        The id of vertex 0, if ids are integers close together.
    ids : frame or None
        Otherwise, row i is the id of vertex ``first + i``; other members have the other ids.
    first : int
    """

    like: Any
    size: int
    base: int = 0
    ids: Any = None
    first: int = 0


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


def consumed(items: list[Any]) -> Iterator[Any]:
    """Yield the items of a list one by one, emptying it so that each item can be freed after use."""
    items.reverse()
    while items:
        yield items.pop()


def number(
    exchange: Exchange, ends: list[tuple[Ends, Ends | None]], threads: int
) -> tuple[Numbering, list[tuple[Any, Any]]]:
    """Number the vertices of a graph.

    Parameters
    ----------
    exchange : Exchange
    ends : list of pair of Ends
        This member's sources and targets, part by part. Targets are None for a part with vertices that
        may have no edge. The list is emptied. At least one member has a part.
    threads : int
        Host threads to use.

    Returns
    -------
    Numbering
    list of pair of array of int32 or int64
        The ends' numbers. The arrays may be unaligned; see :func:`.aligned`. A gang with one member may get
        the ids themselves, in their own integer type.
    """
    own = (frames.empty_like(ends[0][0].frame) if ends else None), *_span(ends)
    likes, low, high, edges = zip(*swap(exchange, [own] * exchange.size), strict=True)
    like = next(like for like in likes if like is not None)
    if _are_integers(like):
        filled = [rank for rank, count in enumerate(edges) if count]
        least = min((low[rank] for rank in filled), default=0)
        most = max((high[rank] for rank in filled), default=-1)
        base = base_of(least, most, sum(edges), like.dtypes.iloc[0])
        if base is not None:
            numbering = Numbering(like, most - base + 1, base)
            cast = exchange.size > 1
            return numbering, [
                (
                    _near(source, numbering, cast),
                    None if target is None else _near(target, numbering, cast),
                )
                for source, target in consumed(ends)
            ]
    return _renumbered(exchange, ends, like, threads)


def _are_integers(like: Any) -> bool:
    return len(like.columns) == 1 and dtypes.is_integer(like.dtypes.iloc[0])


def _span(ends: list[tuple[Ends, Ends | None]]) -> tuple[int, int, int]:
    """Return the least and the greatest id, if ids are integers, and the number of rows."""
    filled = [pair for pair in ends if len(pair[0])]
    edges = sum(len(source) for source, _ in filled)
    if not filled or not _are_integers(filled[0][0].frame):
        return 0, -1, edges
    bounds = [_bounds(source, source if target is None else target) for source, target in filled]
    return min(low for low, _ in bounds), max(high for _, high in bounds), edges


def _bounds(source: Ends, target: Ends) -> tuple[int, int]:
    if source.bounds and target.bounds:
        return min(source.bounds[0], target.bounds[0]), max(source.bounds[1], target.bounds[1])
    ends = frames.values(source.only), frames.values(target.only)
    low, high = kernels_for(source.only).bounds(*ends)
    return low, high


def _near(side: Ends, numbering: Numbering, cast: bool) -> Any:
    ids = values = frames.values(side.only)
    if numbering.base:  # as int64, because 127 - -128 does not fit int8
        values = values.astype("int64", copy=False) - numbering.base
    elif not cast:
        return values
    return as_stored(ids, values.astype(index_dtype(numbering.size), copy=False))


def _renumbered(
    exchange: Exchange, ends: list[tuple[Ends, Ends | None]], like: Any, threads: int
) -> tuple[Numbering, list[tuple[Any, Any]]]:
    """Number ids by their order."""
    folder = next((source.folder for source, _ in ends), None)
    if exchange.size == 1 and folder is None:
        return _renumbered_alone(ends, like, threads)
    codes: list[tuple[Any, Any]] = []
    uniques = [like]
    for source, target in consumed(ends):
        if target is None:
            own, ids = renumber.distinct(source.frame.reset_index(drop=True), threads=threads)
            codes.append((own, None))
        else:
            both = frames.stack([source.frame, target.frame])
            own, ids = renumber.distinct(both, threads=threads)
            own = disk.stored(own, folder)
            codes.append((own[: len(source)], own[len(source) :]))
        uniques.append(ids)
        memory_limits.relieve()
    ids, places = renumber.union(uniques, threads=threads)
    uniques.clear()
    memory_limits.relieve()
    ids, order = renumber.sort(ids)

    owned, homes, by_row = number_sorted(exchange, ids)
    by_row = by_row[order]
    numbers = []
    for (source, target), place in zip(consumed(codes), places[1:], strict=True):
        own = by_row[place]
        of_target = None if target is None else disk.stored(own[target], folder)
        numbers.append((disk.stored(own[source], folder), of_target))
    return Numbering(like, homes[-1], ids=owned, first=homes[exchange.rank]), numbers


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


def _renumbered_alone(
    ends: list[tuple[Ends, Ends | None]], like: Any, threads: int
) -> tuple[Numbering, list[tuple[Any, Any]]]:
    """Number ids by their order, if this member has all edges."""
    sides = [None if side is None else side.frame for pair in consumed(ends) for side in pair]
    stops = list(
        itertools.accumulate((0 if side is None else len(side) for side in sides), initial=0)
    )
    every = frames.stack([side for side in sides if side is not None])
    codes, uniques = renumber.distinct(every, threads=threads)
    del every
    memory_limits.relieve()
    ids, places = renumber.sort(uniques)
    numbers = places[codes]
    parts = [
        None if side is None else numbers[low:high]
        for side, (low, high) in zip(sides, itertools.pairwise(stops), strict=True)
    ]
    return Numbering(like, len(ids), ids=ids), list(zip(parts[::2], parts[1::2], strict=True))


def ranged(exchange: Exchange, numbering: Numbering, bounds: Sequence[int]) -> Any:
    """Return the ids of this member's range of vertices, or None if ids are integers close together.

    All members have the same `bounds`.
    """
    if numbering.ids is None or exchange.size == 1:
        return numbering.ids
    has = len(numbering.ids)
    cuts = [min(max(bound - numbering.first, 0), has) for bound in bounds]
    return _stacked(swap(exchange, [numbering.ids.iloc[a:b] for a, b in itertools.pairwise(cuts)]))


def _stacked(parts: Sequence[Any]) -> Any:
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
    name = f"mirrored {which if shard.directed else 'out'}"
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
        if host.has("listed"):
            has |= host.made("listed")
        return has

    return shard.here("occurs", kept_by_all(host, exchange, "occurs", make))


def marked(vertices: Any, size: int) -> Any:
    """Return which of `size` vertices an array contains: array of bool, in memory."""
    marks = np.zeros_like(vertices, bool, shape=size)
    marks[vertices] = True
    return marks


def vertex_count(shard: Shard, exchange: Exchange) -> int:
    """Return the number of vertices of all members."""

    def make() -> int:
        return exchange.all_sum(count_true(occurs(shard, exchange)))

    count: int = kept_by_all(shard.host, exchange, "vertices", make)
    return count


def own_marks(exchange: Exchange, marks: Any, bounds: Sequence[int]) -> Any:
    """Return which vertices of this member's range are marked by any member.

    Parameters
    ----------
    exchange : Exchange
    marks : array of bool, shape (V,)
        The vertices that this member marks.
    bounds : sequence of int
        Where the ranges of the members begin, followed by where the last one ends.
    """
    if exchange.size == 1:
        return marks
    low, high = bounds[exchange.rank : exchange.rank + 2]
    received = exchange.all_to_all([np.packbits(marks[a:b]) for a, b in itertools.pairwise(bounds)])
    marked = np.zeros(high - low, bool, like=marks)
    for bits in received:
        marked |= np.unpackbits(bits)[: high - low].view(bool)
    return marked


def numbers_of(shard: Shard, exchange: Exchange, ids: Any, *, unique: bool = True) -> Any:
    """Return the vertices of this range that a frame of ids contains.

    Parameters
    ----------
    shard : Shard
    exchange : Exchange
    ids : frame
        The same for all members. It may contain any ids.
    unique : bool
        Whether to return each vertex once, or one entry per row of the frame.

    Returns
    -------
    array of int64
        Numbers from 0 for the first vertex of the range. With `unique` they ascend; otherwise there is
        one per row of `ids`, and -1 for a vertex of another member.

    Raises
    ------
    UnknownVertexError
        Some of the ids are not vertices. All members raise it.
    """
    first, last = shard.homes[shard.rank : shard.rank + 2]
    own = Vertices(shard.like, last - first, shard.base + first, shard.ids)
    there = own.numbers(ids if shard.ids is None else brought(ids, shard.like))
    # There are few of them, so the host is faster than a device.
    numbers = kernels_for(there).to_host(there)
    if shard.placed is not None:
        numbers = _placed(shard, exchange, np.where(numbers < 0, -1, numbers + first))
    has = occurs(shard, exchange)
    xp = kernels_for(has).namespace
    near = numbers >= 0
    if near.any():
        is_vertex = has[xp.asarray(numbers[near])]
        numbers[near] = np.where(kernels_for(is_vertex).to_host(is_vertex), numbers[near], -1)
    recognized = exchange.all_gather(numbers >= 0)
    lost = np.flatnonzero(~np.any(recognized, axis=0))
    if len(lost):
        raise unknown(ids, lost)
    return xp.asarray(sorted_unique(numbers[numbers >= 0]) if unique else numbers)


def _placed(shard: Shard, exchange: Exchange, numbers: np.ndarray) -> np.ndarray:
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
        return Vertices(shard.like, shard.count, shard.base, shard.ids).named(numbers)
    distinct, places = np.unique(numbers, return_inverse=True)
    received_ids = ids_of(exchange, shard.ids, shard.homes, distinct)
    return Vertices(shard.like, len(received_ids), ids=received_ids).named(places)


def shown_vertices(shard: Shard, exchange: Exchange, numbers: Any) -> str:
    """Return the ids of vertices as text, for messages. All members call it, with the same numbers."""
    ids = names_of(shard, exchange, numbers)
    return shown(type(shard.like)(dict(zip(shard.like.columns, ids, strict=True))))


def ids_of(exchange: Exchange, owned: Any, homes: Sequence[int], numbers: Any) -> Any:
    """Return the ids for which some numbers stand, as a frame. Each member may ask for others.

    Parameters
    ----------
    exchange : Exchange
    owned, homes
        See :func:`number_sorted`.
    numbers : array of integers
        Distinct, in ascending order.
    """
    cuts = np.searchsorted(numbers, np.array(homes, like=numbers))
    ranges = itertools.pairwise(cuts.tolist())
    asked = exchange.all_to_all(
        [numbers[a:b] - low for (a, b), low in zip(ranges, homes, strict=False)]
    )
    return _stacked(swap(exchange, [owned.iloc[rows] for rows in asked]))
