"""Build a graph: each member of a gang reads some of the edges and builds one shard.

Vertices are *numbered* in the order of their ids (:mod:`.number`). The members that get a part are
*chosen*, and the vertices are divided into one range per member, by the number of edges that all members
count per vertex (:mod:`.choose`). For a hybrid, vertices are *placed* (:mod:`.place`). Then edges are
*dealt*: each edge is sent to the owner of the vertex that it leaves; an undirected edge is sent to the
owners of both its ends (:mod:`.deal`). Finally, an owner makes *rows* of its edges (:mod:`.rows`).

An owner puts its edges in the order of the partitions, whichever members read them. It therefore merges
parallel edges exactly as a gang with one member does, which sends nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.memory_model import Part
from dask_graphflow.graph.numbering import own_marks
from dask_graphflow.graph.room import Room
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.vertices import Placed, Vertices
from dask_graphflow.kernels import aligned, as_stored, index_dtype, kernels_for

from .choose import SAMPLE, Choose, Size, choose_members
from .deal import EdgePieces, Edges, Owners, deal
from .entering import (
    edges_of,
    entered,
    entering,
    entering_degrees,
    into,
    of_all_numbers,
    of_numbers,
)
from .number import consume, ids_of_range, number
from .place import place_vertices
from .recipe import Recipe, agree
from .rows import edges_without_rows, rows_of_edges

__all__ = [
    "SAMPLE",
    "Choose",
    "Edges",
    "Recipe",
    "Size",
    "build",
    "edges_of",
    "entered",
    "entering",
    "entering_degrees",
    "into",
    "of_all_numbers",
    "of_numbers",
]

logger = logging.getLogger(__name__)

# In an undirected gang of at most this many members, pieces can stay with the member that read them. With
# more members, most edges of a piece belong to other members.
STAY = 3


def build(channel: Channel, pieces: Iterable[Any], rank: int, recipe: Recipe) -> Shard:
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
    recipe : Recipe

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
    began, held = time.perf_counter(), list(pieces)
    ends = [piece[:2] for piece in held]
    weights = [piece.weight for piece in held if piece.target is not None]
    room = Room(channel.resources, recipe.plan, held)
    agreed = agree(channel, held)
    held.clear()
    exchange = Exchange(channel, device=agreed.device)
    room.check("number its vertices", Part.numbering)
    vertices, numbered = number(exchange, ends)
    channel.resources.relieve()
    room.check("make its rows", Part.making, vertices=vertices.count)
    del room
    numbers = [pair for pair in numbered if pair[1] is not None]
    listing = [side for side, target in numbered if target is None]
    numbered.clear()

    device = recipe.for_device or agreed.device
    size = Size(vertices.count, 0, recipe.directed, agreed.weight_bytes, device)
    chosen = choose_members(exchange, numbers, size, recipe.choose, agreed.able)
    bounds, turned = chosen.bounds, recipe.turned and chosen.members > 1
    ids = ids_of_range(exchange, vertices, bounds)
    owners, placed = Owners.of_ranges(bounds, not recipe.directed), None
    if recipe.hybrid is not None:
        assert recipe.rate is not None
        numbers = aligned(numbers)
        # An undirected graph uses the same rows for both directions, so each edge is stored twice.
        width = (4 + agreed.weight_bytes) * (1 if recipe.directed else 2)
        placed, bounds, by_number = place_vertices(
            exchange, numbers, bounds, recipe.hybrid, recipe.rate, width
        )
        owners = Owners(by_number, 0, owners.both)

    folder = channel.resources.folder() if recipe.on_disk else None
    none = _no_edges(vertices, agreed.weight)
    edges = _consume_edges(numbers, weights, agreed.weight, turned)
    own = EdgePieces(edges, agreed.places, none)
    # A piece on disk takes no memory, whether it stays or not.
    stay = owners.both and placed is None and folder is None
    stay = stay and not agreed.device and exchange.size <= STAY
    dealt = deal(exchange, own, owners, stay=stay, folder=folder)
    channel.resources.relieve()
    about: dict[str, Any] = {"directed": recipe.directed, "base": vertices.base, "ids": ids}
    about |= {"choice": chosen.why, "placed": placed, "for_device": recipe.for_device}
    if agreed.listing and ids is None:
        about["listed"] = _listed(exchange, listing, none.source, bounds, placed)
    bounds = bounds[: chosen.members + 1]
    if rank < chosen.members and turned:
        about["entering"] = edges_without_rows(exchange, dealt, placed)
    elif rank < chosen.members:
        about["rows"] = rows_of_edges(exchange, dealt, bounds, placed, recipe, folder)
        seconds = time.perf_counter() - began
        logger.debug("Shard %d of %d was built in %.3g s", rank, chosen.members, seconds)
    return Shard(vertices.like, bounds, rank, **about)


def _no_edges(vertices: Vertices, weight: Any) -> Edges:
    """Return an empty piece with the dtypes of a graph's edges."""
    xp = kernels_for(vertices.like).namespace
    empty = xp.empty(0, index_dtype(vertices.count))
    return Edges(empty, empty, None if weight is None else xp.empty(0, weight))


def _consume_edges(
    numbers: list[Any], weights: list[Any], dtype: Any, turned: bool
) -> Iterator[Edges]:
    """Yield the edges piece by piece, with weights of one dtype.

    Both lists are emptied, so each piece is freed once it is used.
    """
    for (source, target), weight in zip(consume(numbers), consume(weights), strict=True):
        if weight is not None:
            weight = as_stored(weight, weight.astype(dtype, copy=False))
        yield Edges(target, source, weight) if turned else Edges(source, target, weight)


def _listed(
    exchange: Exchange, listing: list[Any], like: Any, bounds: list[int], placed: Placed | None
) -> Any:
    """Return which vertices of this member's range a caller listed."""
    marks = np.zeros(bounds[-1], bool, like=like)
    for side in listing:
        marks[side if placed is None else placed.places[side]] = True
    return own_marks(exchange, marks, bounds)
