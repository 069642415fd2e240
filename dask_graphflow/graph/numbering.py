"""Numbering: ids of vertices to numbers and back, where each member of a gang has some of them.

Vertices are numbered in the order of their ids. Integers close together are numbered by arithmetic, and no
ids travel. All others are dealt to owners of ranges of their order, as
in :mod:`.renumber`; the owners tell their numbers, and keep the ids.

What takes an :class:`~.exchange.Exchange` is called by all members, at the same place among its rounds.
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
from dask_graphflow.kernels import index_dtype, kernels_for

from .edgelist import Ends
from .shard import Shard
from .vertex_ids import brought, unknown
from .vertices import Vertices, base_of

__all__ = [
    "Numbering",
    "consumed",
    "kept_by_all",
    "mirrors",
    "names_of",
    "number",
    "numbers_of",
    "occurs",
    "own_marks",
    "ranged",
    "swap",
]


class Numbering(NamedTuple):
    """What numbers of vertices stand for.

    Attributes
    ----------
    like : frame
        Without rows; of the ids' columns and dtypes.
    size : int
        How many numbers there are.
    base : int
        The id of vertex 0, where ids are integers close together.
    ids : frame or None
        Else row i is the id of vertex ``first + i``; other members have the others.
    first : int
    """

    like: Any
    size: int
    base: int = 0
    ids: Any = None
    first: int = 0


def swap(exchange: Exchange, values: Sequence[Any]) -> list[Any]:
    """Send each member a value of its own, pickled; return what each one sent.

    This member's own value comes back as it is.
    """
    sent = [
        b"" if rank == exchange.rank else pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        for rank, value in enumerate(values)
    ]
    found = exchange.all_to_all([np.frombuffer(raw, np.uint8) for raw in sent])
    return [
        values[rank] if rank == exchange.rank else pickle.loads(raw)
        for rank, raw in enumerate(found)
    ]


def consumed(items: list[Any]) -> Iterator[Any]:
    """Return the items of a list one by one; it is emptied, so that each is free where that can be."""
    items.reverse()
    while items:
        yield items.pop()


def number(
    exchange: Exchange, ends: list[tuple[Ends, Ends | None]]
) -> tuple[Numbering, list[tuple[Any, Any]]]:
    """Number the vertices of a graph.

    Parameters
    ----------
    exchange : Exchange
    ends : list of pair of Ends
        This member's sources and targets, part by part, with None in place of targets for vertices that
        may have no edge; emptied. At least one member has a part.

    Returns
    -------
    Numbering
    list of pair of array of int32 or int64
        The ends' numbers, which may begin anywhere in memory; see :func:`.aligned`. A gang with one member
        may get the ids themselves, in their own integer type.
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
    return _renumbered(exchange, ends, like)


def _are_integers(like: Any) -> bool:
    return len(like.columns) == 1 and dtypes.is_integer(like.dtypes.iloc[0])


def _span(ends: list[tuple[Ends, Ends | None]]) -> tuple[int, int, int]:
    """Return the least and the greatest id, where ids are integers, and how many rows there are."""
    filled = [pair for pair in ends if len(pair[0])]
    edges = sum(len(source) for source, _ in filled)
    if not filled or not _are_integers(filled[0][0].frame):
        return 0, -1, edges
    kernels = kernels_for(filled[0][0].only)
    bounds = [
        kernels.bounds(*(frames.values((side or pair[0]).only) for side in pair)) for pair in filled
    ]
    return min(low for low, _ in bounds), max(high for _, high in bounds), edges


def _near(side: Ends, numbering: Numbering, cast: bool) -> Any:
    values = frames.values(side.only)
    if numbering.base:  # not in the ids' own type: 127 - -128 is no int8
        values = values.astype("int64", copy=False) - numbering.base
    elif not cast:
        return values
    return values.astype(index_dtype(numbering.size), copy=False)


def _renumbered(
    exchange: Exchange, ends: list[tuple[Ends, Ends | None]], like: Any
) -> tuple[Numbering, list[tuple[Any, Any]]]:
    """Number ids by their order."""
    if exchange.size == 1:
        return _renumbered_alone(ends, like)
    codes, uniques = [], [like]
    for source, target in consumed(ends):
        if target is None:
            own, ids = renumber.factorize(source.frame.reset_index(drop=True))
            codes.append((own, None))
        else:
            own, ids = renumber.factorize(frames.stack([source.frame, target.frame]))
            codes.append((own[: len(source)], own[len(source) :]))
        uniques.append(ids)
    ids, places = renumber.union(uniques)
    ids, order = renumber.sort(ids)

    cuts = renumber.splitters(swap(exchange, [renumber.sample(ids)] * exchange.size), exchange.size)
    ranges = [renumber.piece(ids, cuts, owner) for owner in range(exchange.size)]
    owned, rows = renumber.merge(swap(exchange, ranges))

    counts = swap(exchange, [len(owned)] * exchange.size)
    first, count = sum(counts[: exchange.rank]), sum(counts)
    dtype = index_dtype(count)
    told = exchange.all_to_all([(row.astype("int64") + first).astype(dtype) for row in rows])
    by_row = np.concatenate(told)[order]
    numbers = []
    for (source, target), place in zip(consumed(codes), places[1:], strict=True):
        own = by_row[place]
        numbers.append((own[source], None if target is None else own[target]))
    return Numbering(like, count, ids=owned, first=first), numbers


def _renumbered_alone(
    ends: list[tuple[Ends, Ends | None]], like: Any
) -> tuple[Numbering, list[tuple[Any, Any]]]:
    """Number ids by their order, where this member has all edges."""
    sides = [None if side is None else side.frame for pair in consumed(ends) for side in pair]
    stops = list(
        itertools.accumulate((0 if side is None else len(side) for side in sides), initial=0)
    )
    codes, uniques = renumber.factorize(frames.stack([side for side in sides if side is not None]))
    ids, places = renumber.sort(uniques)
    numbers = places[codes]
    parts = [
        None if side is None else numbers[low:high]
        for side, (low, high) in zip(sides, itertools.pairwise(stops), strict=True)
    ]
    return Numbering(like, len(ids), ids=ids), list(zip(parts[::2], parts[1::2], strict=True))


def ranged(exchange: Exchange, numbering: Numbering, bounds: Sequence[int]) -> Any:
    """Return the ids of this member's range of vertices, of which all have their bounds; or None."""
    if numbering.ids is None or exchange.size == 1:
        return numbering.ids
    has = len(numbering.ids)
    cuts = [min(max(bound - numbering.first, 0), has) for bound in bounds]
    return _stacked(swap(exchange, [numbering.ids.iloc[a:b] for a, b in itertools.pairwise(cuts)]))


def _stacked(parts: Sequence[Any]) -> Any:
    return frames.stack([part for part in parts if len(part)] or parts[:1])


def kept_by_all(shard: Shard, exchange: Exchange, name: str, make: Callable[[], Any]) -> Any:
    """Return what all members have kept under a name, or have all of them make it now.

    Several runs may ask for it at once, and a shard that was lost is made again without it. So members
    agree on whether to make it, and none of them is kept from it by another run that waits for others.
    """
    if exchange.size == 1:
        return shard.kept(name, make)
    if not exchange.all_reduce(sums=(not shard.has(name),)).sums[0]:
        return shard.kept(name, make)
    made = make()
    return shard.kept(name, lambda: made)


def mirrors(shard: Shard, exchange: Exchange, which: str = "out", threads: int = 1) -> Mirrors:
    """Return the mirrors that a shard's rows have, "out" or "into" once those are kept.

    Who mirrors what is told once, and kept.
    """
    local = shard.host.local(which, threads)
    ends = local.slots, local.slot_bounds, shard.bounds
    name = f"mirrored {which if shard.directed else 'out'}"
    told = kept_by_all(shard.host, exchange, name, lambda: Mirrors(exchange, *ends).mirrored)
    return Mirrors(exchange, *ends, shard.here(name, told))


def occurs(shard: Shard, exchange: Exchange) -> Any:
    """Return which numbers of the range are vertices, as truth values; not to be changed.

    If ids are integers close together, an integer that no edge uses and nobody listed is not a vertex.
    """
    host = shard.host

    def make() -> Any:
        if host.ids is not None:
            if host.placed is None:
                return np.ones_like(host.degrees, bool)
            return host.numbers >= 0
        has = host.degrees > 0
        if host.directed:
            entered = np.zeros(host.size, bool, like=has)
            entered[host.out.ends] = True
            has |= own_marks(exchange, entered, host.bounds)
        if host.has("listed"):
            has |= host.made("listed")
        return has

    return shard.here("occurs", kept_by_all(host, exchange, "occurs", make))


def own_marks(exchange: Exchange, marks: Any, bounds: Sequence[int]) -> Any:
    """Return which vertices of this member's range any member has marked.

    Parameters
    ----------
    exchange : Exchange
    marks : array of bool, shape (V,)
        The vertices that this member marks.
    bounds : sequence of int
        Where the ranges of the members begin, and the last one ends.
    """
    if exchange.size == 1:
        return marks
    low, high = bounds[exchange.rank : exchange.rank + 2]
    told = exchange.all_to_all([np.packbits(marks[a:b]) for a, b in itertools.pairwise(bounds)])
    found = np.zeros(high - low, bool, like=marks)
    for bits in told:
        found |= np.unpackbits(bits)[: high - low].view(bool)
    return found


def numbers_of(shard: Shard, exchange: Exchange, ids: Any, *, unique: bool = True) -> Any:
    """Return the vertices of this range that a frame names.

    Parameters
    ----------
    shard : Shard
    exchange : Exchange
    ids : frame
        The same for all members; of any ids.
    unique : bool
        Return each vertex once, or as the frame names them.

    Returns
    -------
    array of int64
        From 0 for the first of the range, ascending; or a number a row of `ids`, -1 where that is another
        member's vertex.

    Raises
    ------
    UnknownVertexError
        Some of the ids are no vertices. All members raise it.
    """
    first, last = shard.homes[shard.rank : shard.rank + 2]
    own = Vertices(shard.like, last - first, shard.base + first, shard.ids)
    there = own.numbers(ids if shard.ids is None else brought(ids, shard.like))
    # They are few: the host is through before a device has begun.
    numbers = kernels_for(there).to_host(there)
    if shard.placed is not None:
        numbers = _placed(shard, exchange, np.where(numbers < 0, -1, numbers + first))
    has = occurs(shard, exchange)
    xp = kernels_for(has).namespace
    near = numbers >= 0
    if near.any():
        known = has[xp.asarray(numbers[near])]
        numbers[near] = np.where(kernels_for(known).to_host(known), numbers[near], -1)
    told = exchange.all_gather(numbers >= 0)
    lost = np.flatnonzero(~np.any(told, axis=0))
    if len(lost):
        raise unknown(ids, lost)
    return xp.asarray(np.unique(numbers[numbers >= 0]) if unique else numbers)


def _placed(shard: Shard, exchange: Exchange, numbers: np.ndarray) -> np.ndarray:
    """Return numbers that members know, or -1, as places of this range, from 0 on, or -1."""
    assert shard.placed is not None
    told = exchange.all_gather(numbers)
    numbers = np.max(told, axis=0)
    known = numbers >= 0
    places = np.full(len(numbers), -1, np.int64)
    places[known] = shard.placed.places[numbers[known]]
    mine = (places >= shard.low) & (places < shard.high)
    return np.where(mine, places - shard.low, -1)


def names_of(shard: Shard, exchange: Exchange, numbers: Any) -> list[Any]:
    """Return the ids of vertices of any range, a series for each part of an id.

    Their owners are asked for each of them once; for integers close together nobody is.
    """
    if shard.ids is None or exchange.size == 1:
        return Vertices(shard.like, shard.count, shard.base, shard.ids).named(numbers)
    distinct, places = np.unique(numbers, return_inverse=True)
    cuts = np.searchsorted(distinct, np.array(shard.homes, like=distinct))
    ranges = itertools.pairwise(cuts.tolist())
    asked = exchange.all_to_all(
        [distinct[a:b] - low for (a, b), low in zip(ranges, shard.homes, strict=False)]
    )
    told = _stacked(swap(exchange, [shard.ids.iloc[rows] for rows in asked]))
    return Vertices(shard.like, len(told), ids=told).named(places)
