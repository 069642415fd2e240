"""Build a graph: each member of a gang reads some of the edges and builds one shard.

Vertices are numbered (:mod:`.numbering`) and divided into one range per member, by the number of edges that
all members together count per vertex. Then each edge is sent to the owner of the vertex that it leaves; an
undirected edge is sent to the owners of both its ends. An owner puts its edges in the order of the
partitions, whichever members read them. It therefore merges parallel edges exactly as a gang with one
member does, which sends nothing.
"""

from __future__ import annotations

import itertools
import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import GraphflowError
from dask_graphflow.kernels import (
    aligned,
    as_stored,
    disk,
    index_dtype,
    joined,
    kernels_for,
    kernels_of,
    on_device,
    summable,
)
from dask_graphflow.scheduling import gang, memory_limits, placement

from . import numbering, placing, shares
from .hubs import is_even
from .make_rows import make_rows
from .memory import Part
from .partition import GRAIN, chunk_grains
from .room import Plan, Room
from .shard import Shard
from .shares import Hybrid, Rate

logger = logging.getLogger(__name__)

SLICE = 1 << 22  # edges per slice, if edges in one array are dealt in slices
DEVICE_SLICE = 1 << 27  # the same on a device
# In an undirected gang of at most this many members, pieces can stay with the member that read them. With
# more members, most edges of a piece belong to other members.
STAY = 3
# Ends of edges that tell whether degrees are even: 10 times the root of 10^8 vertices.
SAMPLE = 1 << 17


class Size(NamedTuple):
    """The size of a graph, known once its vertices are numbered.

    Attributes
    ----------
    vertices, edges : int
        An undirected edge counts once.
    directed : bool
    weight_bytes : int
        Bytes per weight, 0 without weights.
    device : bool
        Whether the edges are in GPU memory.
    even : bool
        Whether degrees are known to differ little. Such a graph can have a large diameter.
    """

    vertices: int
    edges: int
    directed: bool
    weight_bytes: int
    device: bool
    even: bool = False


Choose = Callable[[Size, int, int, float], tuple[int, str]]
"""Chooses how many members get a part of a graph; returns the number and the reason in words.

Its arguments are the size of the graph, the number of all members, and the threads and bytes that each
member may use. All members call it, and call it again if shards are lost, so its result must depend only on
its arguments.
"""


class Edges(NamedTuple):
    """Some or all edges of a graph: numbers of vertices, and weights or None.

    A column may be a list of arrays, which is read as one array; see :func:`.host_rows.rows`.
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
    for_device: bool = False,
    on_disk: bool = False,
    plan: Plan | None = None,
) -> Shard:
    """Build a shard: the loop of a gang (see :func:`.gang.run`).

    Parameters
    ----------
    channel : Channel
    pieces : iterable of Piece
        The pieces that this member read from its partitions, frame by frame and in order. At least one
        member has edges. The pieces are not changed, so the loop can run again. A caller that does not
        need the pieces again can pass an iterator; then each piece is freed as soon as it is used.
    rank : int
        The rank of the channel.
    directed : bool
        Whether an edge leads from its source to its target only.
    multi : {"keep", "sum", "min", "first"}
        How to treat several edges from one vertex to another; see :func:`.host_rows.rows`.
    turned : bool
        Send edges to the owners of the vertices that they enter, and build no rows: for algorithms that
        only use :func:`entering`. Edges must be directed, and all are kept. If only one member gets a
        part of the graph, its rows are built anyway.
    hybrid : Hybrid, optional
        How to place the vertices; see :mod:`.shares`. The pieces must be in host memory, and so is the
        result.
    rate : callable, optional
        Measures the speed of a member (:data:`.shares.Rate`); required with `hybrid`.
    choose : callable, optional
        Chooses how many members get a part of the graph; see :data:`Choose`. By default all of them do.
    for_device : bool
        Whether calls on the graph run on devices although the pieces are in host memory.
    on_disk : bool
        Whether edges are in files: those of the pieces (see :func:`.reading.on_disk`), those that arrive
        from other members, and the rows.
    plan : Plan, optional
        How the graph is built, if the memory limit of the worker is to be checked.

    Returns
    -------
    Shard
        The shard of this member's range, which is empty if the member gets no part. The rows and ids of
        all members together are bit-identical for every number of members, unless a hybrid places
        vertices. Within a row, ends are always in the order of their numbers.

    Raises
    ------
    VertexTypeError
        The ids cannot be hashed or sorted.
    GraphflowError
        Edges were lost in transit.
    """
    began, threads = time.perf_counter(), gang.threads()
    held = list(pieces)
    ends = [piece[:2] for piece in held]
    weights = [piece.weight for piece in held if piece.target is not None]
    partitions = [piece.partition for piece in held if piece.target is not None]
    device = any(on_device(piece.source.frame) for piece in held)
    filled = [piece for piece in held if piece.target is not None and len(piece.source)]
    room = Room(plan, filled) if plan is not None and filled and not device else None
    held.clear()
    filled.clear()
    exchange = Exchange(channel)
    able = threads, math.inf if choose is None else placement.task_memory(device)
    kinds = [_dtype(weight) for weight in weights]
    own = device, kinds, len(weights) < len(ends), able, partitions
    devices, dtype_lists, list_some, able_to, order = zip(
        *numbering.swap(exchange, [own] * exchange.size), strict=True
    )
    if any(devices):
        exchange = Exchange(channel, device=True)
    dtypes = [dtype for own in dtype_lists for dtype in own]
    if room is not None:
        room.check("number its vertices", Part.numbering)
    vertices, numbered = numbering.number(exchange, ends, threads)
    memory_limits.relieve()
    if room is not None:
        room.check("make its rows", Part.making, vertices=vertices.size)
        room = None
    numbers = [pair for pair in numbered if pair[1] is not None]
    listing = [side for side, target in numbered if target is None]
    numbered.clear()
    weight_bytes = max((dtype.itemsize for dtype in dtypes if dtype is not None), default=0)
    used, why, bounds = exchange.size, "", [0, vertices.size]
    if exchange.size > 1:
        grains = _edges_by_grain(exchange, numbers, vertices.size, threads)
        if choose is not None:
            even = is_even(_sample(exchange, numbers), vertices.size)
            edges = int(grains.sum()) // 2
            on_devices = for_device or any(devices)
            size = Size(vertices.size, edges, directed, weight_bytes, on_devices, even)
            least = (min(each) for each in zip(*able_to, strict=True))
            used, why = choose(size, exchange.size, *least)
            if rank == 0:
                logger.info(
                    "A graph of %d vertices and %d edges gets %d of %d possible shards: %s",
                    size.vertices, size.edges, used, exchange.size, why,
                )  # fmt: skip
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
        # An undirected graph uses the same rows for both directions, so each edge is stored twice.
        width = (4 + weight_bytes) * (1 if directed else 2)
        placed, bounds, owners = placing.placed(
            exchange, numbers, bounds, hybrid, members, width, threads
        )
        labels, shift = placed.places, 0

    xp = kernels_for(vertices.like).namespace
    empty = xp.empty(0, index_dtype(vertices.size))
    none = None if dtypes[0] is None else xp.empty(0, np.result_type(*set(dtypes)))
    folder = placement.disk_folder() if on_disk else None
    # A piece on disk takes no memory, whether it stays or not.
    stay = not (directed or on_disk or hybrid is not None or any(devices)) and exchange.size <= STAY
    dealt = _dealt(
        exchange,
        _consumed(numbers, weights, turned),
        order,
        owners,
        shift,
        Edges(empty, empty, none),
        both=not directed,
        threads=threads,
        stay=stay,
        folder=folder,
    )
    memory_limits.relieve()
    about: dict[str, Any] = {"directed": directed, "base": vertices.base, "ids": ids, "choice": why}
    about |= {"placed": placed, "for_device": for_device}
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
        dealt.weight[:] = [as_stored(one, summable(one)) for one in dealt.weight]
    rows = make_rows(
        *dealt,
        first=bounds[rank],
        count=bounds[rank + 1] - bounds[rank],
        columns=vertices.size,
        undirected=not directed,
        multi=multi,
        threads=threads,
        labels=labels,
        folder=folder,
    )
    seconds = time.perf_counter() - began
    logger.debug("Shard %d of %d was built in %.3g s", rank, used, seconds)
    return Shard(vertices.like, bounds, rank, rows, **about)


def into(shard: Shard, exchange: Exchange) -> Any:
    """Return the rows of the edges that enter the range's vertices, and cache them in the shard as "into".

    All members call it at the same point.
    """
    host, threads = shard.host, gang.threads()
    if not shard.directed:
        return shard.here("into", host.out)

    def make() -> Any:
        rows_or_edges = entered(host, exchange)
        if host.placed is None and not isinstance(rows_or_edges, Edges):
            return rows_or_edges
        edges = edges_of(rows_or_edges)
        labels, columns = None, host.size
        if host.placed is not None:  # within a row, ends are in the order of their numbers
            labels, columns = host.placed.places, host.count
            edges = _renamed(edges, host.all_numbers, threads)
        source, target, weight = edges
        return make_rows(
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
    """Return the edges that enter the range's vertices, as places among all vertices, in any order.

    All members call it at the same point.
    """
    if exchange.size == 1 and shard.directed and not (shard.has("entering") or shard.has("into")):
        target, source, weight = edges_of(shard.out)  # avoids a sort
        return Edges(source, target, weight)
    return edges_of(entered(shard, exchange))


def edges_of(rows_or_edges: Any) -> Edges:
    """Return edges unchanged, or convert rows to edges whose targets are the vertices of the rows."""
    if isinstance(rows_or_edges, Edges):
        return rows_or_edges
    kernels = kernels_of("rows", rows_or_edges.ends)
    owners = kernels.owners(rows_or_edges, rows_or_edges.ends.dtype, threads=gang.threads())
    return Edges(rows_or_edges.ends, owners, rows_or_edges.weights)


def entered(shard: Shard, exchange: Exchange) -> Any:
    """Return the edges that enter the range's vertices, or their rows if all members have these.

    All members call it at the same point. If some member lacks them, edges are sent from the owners of
    their sources to the owners of their targets. A member that is alone makes rows itself. Undirected
    edges enter at both ends.
    """
    threads = gang.threads()
    for name in ("entering", "into" if shard.directed else "out"):
        if not exchange.all_sum(not shard.has(name)):
            return shard.made(name)
    out = shard.out
    kernels = kernels_of("rows", out.ends)
    leaving = kernels.owners(out, index_dtype(shard.size), threads=threads)
    if exchange.size == 1:
        size: dict[str, Any] = {"count": shard.owned, "columns": shard.size}
        return make_rows(out.ends, leaving, out.weights, **size, threads=threads)
    whole = Edges(out.ends, leaving, out.weights)  # swapped: edges are sent by their first end
    dealt = _dealt_in_slices(exchange, whole, shard.bounds, threads)
    target, source, weight = map(joined, dealt)
    return Edges(source, target, weight)


def of_numbers(exchange: Exchange, rows: Any, threads: int) -> Shard:
    """Build the shard of an undirected graph whose vertices already have numbers.

    All members call it.

    Parameters
    ----------
    exchange : Exchange
    rows : Rows
        This member's part of the rows of all vertices, in which each edge is in the rows of both of its
        ends. Weights are int64. The weights of parallel edges are added up. A single member's rows have no
        parallel edges, and become the graph's.
    threads : int
        Host threads to use.
    """
    size = len(rows.offsets) - 1
    if exchange.size == 1:
        return Shard(rows.ends[:0], [0, size], 0, rows, directed=False)
    kernels = kernels_of("rows", rows.ends)
    edges = Edges(kernels.owners(rows, rows.ends.dtype, threads=threads), rows.ends, rows.weights)
    grains = _edges_by_grain(exchange, [edges[:2]], size, threads)
    bounds = chunk_grains(grains, size, exchange.size)
    dealt = _dealt_in_slices(exchange, edges, bounds, threads)
    low, high = bounds[exchange.rank : exchange.rank + 2]
    own = make_rows(*dealt, first=low, count=high - low, columns=size, multi="sum", threads=threads)
    return Shard(rows.ends[:0], bounds, exchange.rank, own, directed=False)


def of_all_numbers(exchange: Exchange, rows: Any, threads: int) -> Shard:
    """Build the shard of a whole undirected graph on every member, as :func:`of_numbers` does for a part.

    All members call it. Later steps on the graph send nothing, and all members take all of them.
    """
    if exchange.size > 1:
        size, kernels = len(rows.offsets) - 1, kernels_of("rows", rows.ends)
        sources = kernels.owners(rows, rows.ends.dtype, threads=threads)
        every = map(exchange.all_gather, (sources, rows.ends, rows.weights))
        rows = kernels.rows(*map(list, every), count=size, multi="sum", threads=threads)
    return Shard(rows.ends[:0], [0, len(rows.offsets) - 1], 0, rows, directed=False)


def _dealt_in_slices(exchange: Exchange, whole: Edges, bounds: list[int], threads: int) -> Edges:
    """Deal the edges of one piece to the owners of their sources, slice by slice; see :func:`_dealt`."""
    step = DEVICE_SLICE if on_device(whole.source) else SLICE
    slices = [slice(at, at + step) for at in range(0, len(whole.source), step)]
    counts = numbering.swap(exchange, [len(slices)] * exchange.size)
    return _dealt(
        exchange,
        (_cut(whole, positions) for positions in slices),
        [[(rank, i) for i in range(count)] for rank, count in enumerate(counts)],
        _by_grain(bounds),
        GRAIN.bit_length() - 1,
        _cut(whole, slice(0)),
        both=False,
        threads=threads,
        folder=disk.folder_of(whole.source),
    )


def _by_grain(bounds: list[int]) -> np.ndarray:
    """Return the owner of each grain of vertices, from the bounds of the members' ranges."""
    if any(bound % GRAIN and bound != bounds[-1] for bound in bounds):
        raise GraphflowError(f"shards are cut at multiples of {GRAIN} vertices, not at {bounds}")
    grains = np.arange(0, bounds[-1], GRAIN)
    return np.searchsorted(bounds[1:], grains, side="right").astype(np.int16)


def _renamed(edges: Edges, names: np.ndarray, threads: int) -> Edges:
    """Return the edges with both ends mapped through `names`."""
    rename = kernels_of("rows", edges.source).renamed
    source, target = (rename(side, names, threads=threads) for side in edges[:2])
    return Edges(source, target, edges.weight)


def _cut(edges: Edges, positions: slice) -> Edges:
    return Edges(*(None if side is None else side[positions] for side in edges))


def _consumed(numbers: list[Any], weights: list[Any], turned: bool) -> Iterator[Edges]:
    """Yield the edges piece by piece. Both lists are emptied, so each piece is freed once it is used."""
    pieces = zip(numbering.consumed(numbers), numbering.consumed(weights), strict=True)
    for (source, target), weight in pieces:
        yield Edges(target, source, weight) if turned else Edges(source, target, weight)


def _dtype(weight: Any) -> Any:
    return None if weight is None else weight.dtype


def _edges_by_grain(
    exchange: Exchange, numbers: list[tuple[Any, Any]], count: int, threads: int
) -> np.ndarray:
    """Return the number of edge ends in each grain of vertices, summed over all members."""
    grains, shift = -(-count // GRAIN), GRAIN.bit_length() - 1
    edges = np.zeros(grains, np.int64)
    for side in itertools.chain.from_iterable(numbers):
        edges += kernels_of("partition", side).count_grains(
            side, grains, shift=shift, threads=threads
        )
    total: np.ndarray = np.sum(exchange.all_gather(edges), axis=0)
    return total


def _sample(exchange: Exchange, numbers: list[tuple[Any, Any]]) -> np.ndarray:
    """Return a sample of the ends of the edges of all members."""
    sides = list(itertools.chain.from_iterable(numbers))
    part = SAMPLE / exchange.size / max(1, sum(map(len, sides)))
    rng, own = np.random.default_rng(0), [np.empty(0, "int64")]
    for side in sides:
        at = rng.integers(0, len(side), math.ceil(part * len(side))) if len(side) else own[0]
        at = np.sort(at)  # in order, because the side can be on disk
        kernels = kernels_for(side)
        own.append(kernels.to_host(side[kernels.namespace.asarray(at)]).astype("int64"))
    return np.concatenate(exchange.all_gather(np.concatenate(own)))


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
    folder: str | None = None,
) -> Edges:
    """Send edges to the owners of their sources, or of both their ends; return the edges for this member.

    Every column of the result is a list of arrays, because a copy in one array would double the memory.

    Parameters
    ----------
    exchange : Exchange
    edges : iterator of Edges
        This member's pieces.
    order : sequence of sequence
        For each member, the position of each of its pieces among the pieces of all members. The edges are
        returned in this order, whichever member had them.
    owners : ndarray of int16
        The owner of each block of ``2**shift`` vertices.
    shift : int
    none : Edges
        An empty piece with the result's dtypes. A member sends it when it has no more pieces.
    both : bool
        Whether the owner of an edge's target also gets the edge, if it is another member.
    threads : int
        Host threads to use.
    stay : bool
        Whether a whole piece may become part of the result. The result then also contains edges that
        belong only to other members. A piece stays if this takes less memory than a copy of this member's
        edges, because frames hold its weights or its ends anyway.
    folder : str, optional
        Folder for the edges that arrive; by default they stay in memory.
    """
    if exchange.size == 1:
        alone = list(edges) or [none]
        weight = none.weight
        if weight is not None:
            weights = (piece.weight for piece in alone)
            weight = [as_stored(one, one.astype(weight.dtype, copy=False)) for one in weights]
        return Edges([piece.source for piece in alone], [piece.target for piece in alone], weight)
    owners = np.asarray(owners, like=none.source)
    columns = [column for column, empty in enumerate(none) if empty is not None]
    # For each column, and for each sending member, what arrived.
    new = list if folder is None else partial(disk.Spool, folder)
    got: dict[int, list[Any]] = {
        column: [new() for _ in range(exchange.size)] for column in columns
    }
    dealt = 0
    for _ in range(max(map(len, order))):
        piece = next(edges, none)
        values = [piece[column].astype(none[column].dtype, copy=False) for column in columns]
        ends, copies = aligned(((piece.source, piece.target if both else None), values))
        options: dict[str, Any] = {"shift": shift, "threads": threads}
        stays = stay and piece is not none and _is_smaller(values, exchange.size)
        if stays:
            options["but"] = exchange.rank
        parts = kernels_of("partition", piece.source).parted(
            copies, *ends, owners, exchange.size, **options
        )
        for column, own, whole in zip(columns, parts, values, strict=True):
            dealt += sum(map(len, own))
            swapped = exchange.all_to_all(own)
            if stays:
                swapped[exchange.rank] = whole
                dealt += len(whole)
            elif swapped[exchange.rank].base is not None:  # a view would keep the sent data alive
                swapped[exchange.rank] = swapped[exchange.rank].copy()
            for source, arrived in enumerate(swapped):
                got[column][source].append(arrived)
    if folder is not None:
        got = {column: [spool.parts() for spool in spools] for column, spools in got.items()}
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
    result_columns: list[Any] = list(none)
    for column in columns:
        in_order = [got[column][rank][number] for _, rank, number in pieces]
        result_columns[column] = in_order or [none[column]]
    return Edges(*result_columns)


def _is_smaller(columns: Sequence[np.ndarray], members: int) -> bool:
    """Say whether keeping a whole piece takes less memory than copying one member's share of its edges.

    A view takes no memory of its own, because the caller keeps its frame anyway.
    """
    share = 1 - (1 - 1 / members) ** 2  # an edge belongs to the owners of both its ends
    needed = sum(column.nbytes for column in columns if column.base is None)
    return needed < share * sum(column.nbytes for column in columns)
