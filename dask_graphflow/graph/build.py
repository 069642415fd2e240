"""Building a graph: each member of a gang reads some of the edges, and builds one shard.

Vertices are numbered (:mod:`.numbering`) and cut into one range per member, by the edges that all members
together have of them. Then each edge is dealt to the owner of the vertex that it leaves; an undirected edge
is dealt to the owners of both its ends. An owner puts its edges in the order of the partitions, whichever
members read them, and so merges parallel edges as a gang with one member does, which deals nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import GraphflowError
from dask_graphflow.kernels import (
    aligned,
    index_dtype,
    joined,
    kernels_for,
    kernels_of,
    on_device,
    summable,
)
from dask_graphflow.scheduling import gang, placement

from . import numbering, shares
from .partition import GRAIN, chunk_grains
from .shard import Shard
from .shares import Hybrid, Rate

__all__ = [
    "Choose",
    "Edges",
    "Size",
    "build",
    "edges_of",
    "entered",
    "entering",
    "into",
    "of_numbers",
]

SLICE = 1 << 22  # edges that are dealt at a time where they lie in one piece,
DEVICE_SLICE = 1 << 27  # and on a device
# Members whose pieces stay where they are, undirected: with more, others own most edges of a piece.
STAY = 3


class Size(NamedTuple):
    """What is known of a graph once its vertices are numbered.

    Attributes
    ----------
    vertices, edges : int
        An undirected edge counts once.
    directed : bool
    weight_bytes : int
        Bytes per weight, 0 without weights.
    device : bool
        Whether the edges are in GPU memory.
    """

    vertices: int
    edges: int
    directed: bool
    weight_bytes: int
    device: bool


Choose = Callable[[Size, int, int, float], tuple[int, str]]
"""Returns the number of members that get a part of a graph, and the reason in words.

It takes the size of the graph, the number of all members, and the threads and bytes that each of them may
use. All members call it, and again if shards are lost, so its result depends on nothing else.
"""


class Edges(NamedTuple):
    """Edges, or some of them: numbers of vertices, and weights or None.

    Each column may be a list of arrays, which are read as one; see :func:`.host_rows.rows`.
    """

    source: Any
    target: Any
    weight: Any


def build(
    channel: Channel,
    pieces: Iterable[Any],
    rank: int,
    directed: bool,
    multi: str,
    turned: bool = False,
    hybrid: Hybrid | None = None,
    rate: Rate | None = None,
    choose: Choose | None = None,
) -> Shard:
    """Build a shard: the loop of a gang (see :func:`.gang.run`).

    Parameters
    ----------
    channel : Channel
    pieces : iterable of Piece
        What was read of this member's partitions, frame by frame and in order. Some member has edges. It
        is not changed, so that the loop can be run again. A caller without another use for the pieces can
        give an iterator, and they are freed on the way.
    rank : int
        The channel's.
    directed : bool
        Whether an edge leads from its source to its target only.
    multi : {"keep", "sum", "min", "first"}
        What becomes of several edges from one vertex to another; see :func:`.host_rows.rows`.
    turned : bool
        Deal edges to the owners of the vertices that they enter, and make no rows: for algorithms that use
        :func:`entering` only. Edges have a direction, and all are kept. A graph that only one member gets
        has rows all the same.
    hybrid : Hybrid, optional
        Place the vertices by this; see :mod:`.shares`. Pieces are in host memory then, and so is what is
        returned.
    rate : callable, optional
        Measures the speed of a member (:data:`.shares.Rate`); required with `hybrid`.
    choose : callable, optional
        Chooses how many members get a part of the graph; see :data:`Choose`. By default all of them do.

    Returns
    -------
    Shard
        The shard of this member's range, which is empty if the member gets no part. The rows and ids of
        all members together are the same bits for every number of members, unless a hybrid places
        vertices. In a row, ends are always in the order of their numbers.

    Raises
    ------
    VertexTypeError
        The ids cannot be hashed or sorted.
    GraphflowError
        Edges were lost on the way.
    """
    threads = gang.threads()
    held = list(pieces)
    ends = [piece[:2] for piece in held]
    weights = [piece.weight for piece in held if piece.target is not None]
    partitions = [piece.partition for piece in held if piece.target is not None]
    device = any(on_device(piece.source.frame) for piece in held)
    held.clear()
    exchange = Exchange(channel)
    able = threads, math.inf if choose is None else placement.task_memory(device)
    kinds = [_dtype(weight) for weight in weights]
    own = device, kinds, len(weights) < len(ends), able, partitions
    devices, told, list_some, able_to, order = zip(
        *numbering.swap(exchange, [own] * exchange.size), strict=True
    )
    if any(devices):
        exchange = Exchange(channel, device=True)
    dtypes = [dtype for own in told for dtype in own]
    vertices, numbered = numbering.number(exchange, ends)
    numbers = [pair for pair in numbered if pair[1] is not None]
    listing = [side for side, target in numbered if target is None]
    numbered.clear()
    weight_bytes = max((dtype.itemsize for dtype in dtypes if dtype is not None), default=0)
    used, why, bounds = exchange.size, "", [0, vertices.size]
    if exchange.size > 1:
        grains = _edges_by_grain(exchange, numbers, vertices.size, threads)
        if choose is not None:
            size = Size(vertices.size, int(grains.sum()) // 2, directed, weight_bytes, any(devices))
            least = (min(each) for each in zip(*able_to, strict=True))
            used, why = choose(size, exchange.size, *least)
            turned = turned and used > 1
        bounds = chunk_grains(grains, vertices.size, used)
        bounds += bounds[-1:] * (exchange.size - used)
    ids = numbering.ranged(exchange, vertices, bounds)
    placed, labels = None, None
    owners, shift = _by_grain(bounds), GRAIN.bit_length() - 1
    if hybrid is not None:
        assert rate is not None
        numbers = aligned(numbers)
        members = shares.members(exchange, hybrid, rate, vertices.size, threads)
        # Without direction the same rows are gone along both ways, and lie there twice.
        width = (4 + weight_bytes) * (1 if directed else 2)
        placed, bounds, owners = shares.placed(
            exchange, numbers, bounds, hybrid, members, width, threads
        )
        labels, shift = placed.places, 0

    xp = kernels_for(vertices.like).namespace
    empty = xp.empty(0, index_dtype(vertices.size))
    none = None if dtypes[0] is None else xp.empty(0, np.result_type(*set(dtypes)))
    dealt = _dealt(
        exchange,
        _consumed(numbers, weights, turned),
        order,
        owners,
        shift,
        Edges(empty, empty, none),
        both=not directed,
        threads=threads,
        stay=not directed and hybrid is None and exchange.size <= STAY and not any(devices),
    )
    about: dict[str, Any] = {"directed": directed, "base": vertices.base, "ids": ids, "choice": why}
    about["placed"] = placed
    if any(list_some) and ids is None:
        marks = np.zeros(bounds[-1], bool, like=empty)
        for side in listing:
            marks[side if placed is None else placed.places[side]] = True
        about["listed"] = numbering.own_marks(exchange, marks, bounds)
    bounds = bounds[: used + 1]
    if rank >= used:
        return Shard(vertices.like, bounds, rank, **about)
    if turned:
        target, source, weight = (aligned(joined(column)) for column in dealt)
        edges_here = Edges(source, target, weight)
        if placed is not None:
            edges_here = _renamed(edges_here, placed.places, threads)
        return Shard(vertices.like, bounds, rank, entering=edges_here, **about)
    if dealt.weight is not None and multi == "sum":
        dealt.weight[:] = map(summable, dealt.weight)
    rows = kernels_of("rows", empty).rows(
        *dealt,
        first=bounds[rank],
        count=bounds[rank + 1] - bounds[rank],
        columns=vertices.size,
        labels=labels,
        undirected=not directed,
        multi=multi,
        threads=threads,
    )
    return Shard(vertices.like, bounds, rank, rows, **about)


def into(shard: Shard, exchange: Exchange) -> Any:
    """Return the rows of what enters the range's vertices; all members call it at the same place.

    They are kept in the shard under "into".
    """
    host, threads = shard.host, gang.threads()
    if not shard.directed:
        return shard.here("into", host.out)

    def make() -> Any:
        found = entered(host, exchange)
        if host.placed is None and not isinstance(found, Edges):
            return found
        edges = edges_of(found)
        labels, columns = None, host.size
        if host.placed is not None:  # in a row ends are in the order of their numbers
            labels, columns = host.placed.places, host.count
            edges = _renamed(edges, host.all_numbers, threads)
        source, target, weight = edges
        return kernels_of("rows", source).rows(
            target,
            source,
            weight,
            first=host.low,
            count=host.owned,
            columns=columns,
            labels=labels,
            threads=threads,
        )

    return shard.here("into", numbering.kept_by_all(host, exchange, "into", make))


def entering(shard: Shard, exchange: Exchange) -> Edges:
    """Return the edges that enter the range's vertices, as places of all vertices, in any order.

    All members call it at the same place.
    """
    if exchange.size == 1 and shard.directed and not (shard.has("entering") or shard.has("into")):
        target, source, weight = edges_of(shard.out)  # nothing is sorted
        return Edges(source, target, weight)
    return edges_of(entered(shard, exchange))


def edges_of(found: Any) -> Edges:
    """Return edges as they are, or the edges of rows; the vertices of the rows are the targets."""
    if isinstance(found, Edges):
        return found
    kernels = kernels_of("rows", found.ends)
    owners = kernels.owners(found, found.ends.dtype, threads=gang.threads())
    return Edges(found.ends, owners, found.weights)


def entered(shard: Shard, exchange: Exchange) -> Any:
    """Return what :func:`entering` does, or the rows of it, if those are there.

    All members call it at the same place. Edges are dealt from the owners of their sources to those of
    their targets, unless the shard has them or their rows; a member that is alone makes rows of its own.
    Undirected edges enter at both ends.
    """
    threads = gang.threads()
    for name in ("entering", "into" if shard.directed else "out"):
        if not exchange.all_reduce(sums=(not shard.has(name),)).sums[0]:
            return shard.made(name)
    out = shard.out
    kernels = kernels_of("rows", out.ends)
    leaving = kernels.owners(out, index_dtype(shard.size), threads=threads)
    if exchange.size == 1:
        size = {"count": shard.owned, "columns": shard.size}
        return kernels.rows(out.ends, leaving, out.weights, **size, threads=threads)
    whole = Edges(out.ends, leaving, out.weights)  # turned: edges are dealt by their first end
    dealt = _dealt_in_slices(exchange, whole, shard.bounds, both=False, threads=threads)
    target, source, weight = map(joined, dealt)
    return Edges(source, target, weight)


def of_numbers(exchange: Exchange, like: Any, edges: Edges, size: int, threads: int) -> Shard:
    """Build the shard of an undirected graph whose vertices have numbers already.

    All members call it. Weights of parallel edges are added up.

    Parameters
    ----------
    exchange : Exchange
    like : frame
        In the memory of `edges`; see :class:`.Shard`.
    edges : Edges
        Some of the edges, from each member others. Weights are int64.
    size : int
        Number of vertices.
    threads : int
        Host threads to use.
    """
    bounds = [0, size]
    if exchange.size > 1:
        grains = _edges_by_grain(exchange, [edges[:2]], size, threads)
        bounds = chunk_grains(grains, size, exchange.size)
    dealt = _dealt_in_slices(exchange, edges, bounds, both=True, threads=threads)
    low, high = bounds[exchange.rank : exchange.rank + 2]
    rows = kernels_of("rows", edges.source).rows(
        *dealt,
        first=low,
        count=high - low,
        columns=size,
        undirected=True,
        multi="sum",
        threads=threads,
    )
    return Shard(like, bounds, exchange.rank, rows, directed=False)


def _dealt_in_slices(
    exchange: Exchange, whole: Edges, bounds: list[int], *, both: bool, threads: int
) -> Edges:
    """Deal edges of one piece as :func:`_dealt` does, slice by slice, by ranges of vertices."""
    step = DEVICE_SLICE if on_device(whole.source) else SLICE
    slices = [slice(at, at + step) for at in range(0, len(whole.source), step)]
    counts = numbering.swap(exchange, [len(slices)] * exchange.size)
    return _dealt(
        exchange,
        (_cut(whole, some) for some in slices),
        [[(rank, i) for i in range(count)] for rank, count in enumerate(counts)],
        _by_grain(bounds),
        GRAIN.bit_length() - 1,
        _cut(whole, slice(0)),
        both=both,
        threads=threads,
    )


def _by_grain(bounds: list[int]) -> np.ndarray:
    """Return the owner of each grain of the vertices, by the bounds of the members' ranges."""
    if any(bound % GRAIN and bound != bounds[-1] for bound in bounds):
        raise GraphflowError(f"shards are cut at multiples of {GRAIN} vertices, not at {bounds}")
    grains = np.arange(0, bounds[-1], GRAIN)
    return np.searchsorted(bounds[1:], grains, side="right").astype(np.int16)


def _renamed(edges: Edges, names: np.ndarray, threads: int) -> Edges:
    """Return edges, their ends by other names."""
    rename = kernels_of("rows", edges.source).renamed
    source, target = (rename(side, names, threads=threads) for side in edges[:2])
    return Edges(source, target, edges.weight)


def _cut(edges: Edges, some: slice) -> Edges:
    return Edges(*(None if side is None else side[some] for side in edges))


def _consumed(numbers: list[Any], weights: list[Any], turned: bool) -> Iterator[Edges]:
    """Return the edges piece by piece; both lists are emptied, so that each piece is freed on the way."""
    pieces = zip(numbering.consumed(numbers), numbering.consumed(weights), strict=True)
    for (source, target), weight in pieces:
        yield Edges(target, source, weight) if turned else Edges(source, target, weight)


def _dtype(weight: Any) -> Any:
    return None if weight is None else weight.dtype


def _edges_by_grain(
    exchange: Exchange, numbers: list[tuple[Any, Any]], count: int, threads: int
) -> np.ndarray:
    """Return how many ends of edges each grain of the vertices has, of all members together."""
    grains, shift = -(-count // GRAIN), GRAIN.bit_length() - 1
    edges = np.zeros(grains, np.int64)
    for side in itertools.chain.from_iterable(numbers):
        edges += kernels_of("partition", side).count_grains(
            side, grains, shift=shift, threads=threads
        )
    told = exchange.all_gather(edges)
    total: np.ndarray = sum(told[1:], start=told[0])
    return total


def _dealt(
    exchange: Exchange,
    edges: Iterator[Edges],
    order: Sequence[Sequence[Any]],
    owners: np.ndarray,
    shift: int,
    none: Edges,
    *,
    both: bool,
    threads: int,
    stay: bool = False,
) -> Edges:
    """Deal edges to the owners of their sources, or of both their ends; return those for this member.

    Every column of the result is a list of arrays, for a copy in one array would take as much memory again.

    Parameters
    ----------
    exchange : Exchange
    edges : iterator of Edges
        Pieces of this member's.
    order : sequence of sequence
        For each member, the place of each of its pieces among the pieces of all members. The edges come
        out in this order, whoever had them.
    owners : ndarray of int16
        The owner of every ``2**shift`` vertices.
    shift : int
    none : Edges
        Of no edges: what is dealt when there are no more, and the dtypes.
    both : bool
        Whether the owner of an edge's target gets it too, if that is another one.
    threads : int
        Host threads to use.
    stay : bool
        Whether a piece may be part of the result as it is. Then the result also has edges of other members
        only. A piece stays if this takes less memory than a copy of this member's edges, because frames
        hold its weights or its ends anyway.
    """
    if exchange.size == 1:
        alone = list(edges) or [none]
        weight = none.weight
        if weight is not None:
            weight = [piece.weight.astype(weight.dtype, copy=False) for piece in alone]
        return Edges([piece.source for piece in alone], [piece.target for piece in alone], weight)
    owners = np.asarray(owners, like=none.source)
    columns = [column for column, empty in enumerate(none) if empty is not None]
    # By column, and by the member that it came from.
    got: list[list[list[Any]]] = [[[] for _ in range(exchange.size)] for _ in none]
    dealt = 0
    for _ in range(max(map(len, order))):
        piece = next(edges, none)
        values = [piece[column].astype(none[column].dtype, copy=False) for column in columns]
        ends, copies = aligned(((piece.source, piece.target if both else None), values))
        how: dict[str, Any] = {"shift": shift, "threads": threads}
        stays = stay and piece is not none and _is_smaller(values, exchange.size)
        if stays:
            how["but"] = exchange.rank
        parts = kernels_of("partition", piece.source).parted(
            copies, *ends, owners, exchange.size, **how
        )
        for column, own, whole in zip(columns, parts, values, strict=True):
            dealt += sum(map(len, own))
            told = exchange.all_to_all(own)
            if stays:
                told[exchange.rank] = whole
                dealt += len(whole)
            elif told[exchange.rank].base is not None:  # as a view it would keep what was sent, too
                told[exchange.rank] = told[exchange.rank].copy()
            for source, arrived in enumerate(told):
                got[column][source].append(arrived)
    received = [sum(map(len, itertools.chain(*got[column]))) for column in columns]
    sent, arrived_ = exchange.all_reduce(sums=(dealt, sum(received))).sums
    if sent != arrived_:
        raise GraphflowError(
            f"{sent:,} ends and weights of edges were dealt to the members of a gang, and "
            f"{arrived_:,} arrived; build the graph again, and report it if that fails too"
        )
    pieces = sorted(
        (place, rank, number)
        for rank, places in enumerate(order)
        for number, place in enumerate(places)
    )
    found: list[Any] = list(none)
    for column in columns:
        in_order = [got[column][rank][number] for _, rank, number in pieces]
        found[column] = in_order or [none[column]]
    return Edges(*found)


def _is_smaller(columns: Sequence[np.ndarray], members: int) -> bool:
    """Say whether a piece of edges needs less memory than a copy of those for one of so many members.

    A view needs none, because its frame is there as long as the caller wants it.
    """
    share = 1 - (1 - 1 / members) ** 2  # an edge is for the owners of both its ends
    needed = sum(column.nbytes for column in columns if column.base is None)
    return needed < share * sum(column.nbytes for column in columns)
