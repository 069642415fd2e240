"""The fourth step of a build: send each edge to the members that own its ends."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import GraphflowError
from dask_graphflow.graph import partition
from dask_graphflow.graph.numbering import swap
from dask_graphflow.kernels import aligned, disk, on_device
from dask_graphflow.kernels import partition as partition_kernels

SLICE = 1 << 22  # edges per slice, if edges in one array are dealt in slices
DEVICE_SLICE = 1 << 27  # the same on a device


class Edges(NamedTuple):
    """Some or all edges of a graph: numbers of vertices, and weights or None.

    A column may be a list of arrays, which is read as one array; see :meth:`.RowsKernels.rows`.
    """

    source: Any
    target: Any
    weight: Any


class EdgePieces(NamedTuple):
    """The edges of a member, in pieces, before they are dealt."""

    edges: Iterator[Edges]
    # For each member, the position of each of its pieces among the pieces of all members. Edges are put in
    # this order, whichever member had them.
    places: Sequence[Sequence[Any]]
    none: Edges  # an empty piece with the dtypes of the result


class Owners(NamedTuple):
    """The members that get an edge: the owner of its source, or the owners of both its ends."""

    members: np.ndarray  # array of int16. The owner of each block of ``2**shift`` vertices.
    shift: int
    both: bool  # whether the owner of an edge's target also gets the edge, if it is another member

    @classmethod
    def of_ranges(cls, bounds: list[int], both: bool) -> Owners:
        """Return the owners if each member has a range of vertices."""
        grain = partition.GRAIN
        if any(bound % grain and bound != bounds[-1] for bound in bounds):
            raise GraphflowError(
                f"shards are cut at multiples of {grain} vertices, not at {bounds}"
            )
        grains = np.arange(0, bounds[-1], grain)
        members = np.searchsorted(bounds[1:], grains, side="right").astype(np.int16)
        return cls(members, grain.bit_length() - 1, both)


def deal(
    exchange: Exchange,
    pieces: EdgePieces,
    owners: Owners,
    *,
    stay: bool = False,
    folder: str | None = None,
) -> Edges:
    """Send edges to their owners; return the edges for this member. All members call it.

    Every column of the result is a list of arrays, because a copy in one array would double the memory;
    they are in `folder`, if any. With `stay`, a whole piece may become part of the result, which then also
    contains edges that belong only to other members. A piece stays if this takes less memory than a copy of
    this member's edges, because frames hold its weights or its ends anyway.
    """
    none = pieces.none
    if exchange.size == 1:
        every = zip(none, *pieces.edges, strict=True)
        return Edges(*(None if empty is None else own or [empty] for empty, *own in every))
    owners = owners._replace(members=np.asarray(owners.members, like=none.source))
    columns = [column for column, empty in enumerate(none) if empty is not None]
    # For each column, and for each sending member, what arrived.
    new = list if folder is None else partial(disk.Spool, folder)
    got: dict[int, list[Any]] = {
        column: [new() for _ in range(exchange.size)] for column in columns
    }
    dealt = 0
    for _ in range(max(map(len, pieces.places))):
        piece = next(pieces.edges, none)
        values = [piece[column].astype(none[column].dtype, copy=False) for column in columns]
        stays = stay and piece is not none and _is_smaller(values, exchange.size)
        parts = _part(exchange, piece, values, owners, stays)
        for column, own, whole in zip(columns, parts, values, strict=True):
            dealt += sum(map(len, own)) + (len(whole) if stays else 0)
            swapped = exchange.all_to_all(own)
            if stays:
                swapped[exchange.rank] = whole
            elif swapped[exchange.rank].base is not None:  # a view would keep the sent data alive
                swapped[exchange.rank] = swapped[exchange.rank].copy()
            for source, arrived in enumerate(swapped):
                got[column][source].append(arrived)
    if folder is not None:
        got = {column: [spool.parts() for spool in spools] for column, spools in got.items()}
    _check_arrived(exchange, dealt, got)
    order = sorted(
        (place, rank, number)
        for rank, places in enumerate(pieces.places)
        for number, place in enumerate(places)
    )
    result: list[Any] = list(none)
    for column in columns:
        result[column] = [got[column][rank][at] for _, rank, at in order] or [none[column]]
    return Edges(*result)


def deal_in_slices(exchange: Exchange, whole: Edges, bounds: list[int]) -> Edges:
    """Deal the edges of one piece to the owners of their sources, slice by slice; see :func:`deal`."""
    step = DEVICE_SLICE if on_device(whole.source) else SLICE
    slices = [slice(at, at + step) for at in range(0, len(whole.source), step)]
    counts = swap(exchange, [len(slices)] * exchange.size)
    places = [[(rank, i) for i in range(count)] for rank, count in enumerate(counts)]
    pieces = EdgePieces((_cut(whole, at) for at in slices), places, _cut(whole, slice(0)))
    owners = Owners.of_ranges(bounds, both=False)
    return deal(exchange, pieces, owners, folder=disk.folder_of(whole.source))


def _cut(edges: Edges, positions: slice) -> Edges:
    return Edges(*(None if side is None else side[positions] for side in edges))


def _part(
    exchange: Exchange, piece: Edges, values: list[Any], owners: Owners, stays: bool
) -> Iterator[list[Any]]:
    """Return for each column of a piece the part of each member; if the piece stays, not of this one."""
    target = piece.target if owners.both else None
    source, target, copies = aligned((piece.source, target, values))
    options: dict[str, Any] = {"shift": owners.shift, "threads": exchange.resources.threads}
    if stays:
        options["but"] = exchange.rank
    parted = partition_kernels.of(piece.source).parted
    return parted(copies, source, target, owners.members, exchange.size, **options)


def _check_arrived(exchange: Exchange, dealt: int, got: dict[int, list[Any]]) -> None:
    received = sum(len(part) for parts in got.values() for part in itertools.chain(*parts))
    sent, arrived = exchange.all_reduce(sums=(dealt, received)).sums
    if sent != arrived:
        raise GraphflowError(
            f"{sent:,} ends and weights of edges were dealt to the members of a gang, and "
            f"{arrived:,} arrived; build the graph again, and report it if that fails too"
        )


def _is_smaller(columns: Sequence[np.ndarray], members: int) -> bool:
    """Say whether keeping a whole piece takes less memory than copying one member's share of its edges.

    A view takes no memory of its own, because the caller keeps its frame anyway.
    """
    share = 1 - (1 - 1 / members) ** 2  # an edge belongs to the owners of both its ends
    needed = sum(column.nbytes for column in columns if column.base is None)
    return needed < share * sum(column.nbytes for column in columns)
