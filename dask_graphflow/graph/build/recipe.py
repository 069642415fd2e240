"""How to build a graph, and what the members know of its pieces before the first step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.edgelist import Ends
from dask_graphflow.graph.numbering import swap
from dask_graphflow.graph.room import Plan
from dask_graphflow.graph.shares import Hybrid, Rate
from dask_graphflow.kernels import on_device

from .choose import Choose


@dataclass(frozen=True)
class Recipe:
    """How to build a graph.

    Attributes
    ----------
    directed : bool
        Whether an edge leads from its source to its target only.
    multi : {"keep", "sum", "min", "first"}
        How to treat several edges from one vertex to another; see :func:`.host_rows.rows`.
    turned : bool
        Send edges to the owners of the vertices that they enter, and build no rows: for algorithms that
        only use :func:`.entering`. Edges must be directed, and all are kept. If only one member gets a
        part of the graph, its rows are built anyway.
    hybrid : Hybrid or None
        How to place the vertices; see :mod:`.shares`. The pieces must be in host memory, and so is the
        result.
    rate : callable or None
        Measures the speed of a member (:data:`.shares.Rate`); required with `hybrid`.
    choose : callable or None
        Chooses how many members get a part of the graph; see :data:`.Choose`. By default all of them do.
    for_device : bool
        Whether calls on the graph run on devices although the pieces are in host memory.
    on_disk : bool
        Whether edges are in files: those of the pieces (see :func:`.reading.on_disk`), those that arrive
        from other members, and the rows.
    plan : Plan or None
        The sizes by which the memory limit of the worker is checked; None without a check.
    """

    directed: bool
    multi: str = "keep"
    turned: bool = False
    hybrid: Hybrid | None = None
    rate: Rate | None = None
    choose: Choose | None = None
    for_device: bool = False
    on_disk: bool = False
    plan: Plan | None = None


class Unpacked(NamedTuple):
    """The contents of a member's pieces, one entry per piece. Their edges are the pieces with a target.

    Attributes
    ----------
    ends : list of pair of Ends
        Sources and targets; targets are None for a piece with vertices.
    weights : list of array or None
        For each piece of edges.
    places : list of int
        The partition of each piece of edges.
    device : bool
        Whether the pieces are in GPU memory.
    """

    ends: list[tuple[Ends, Ends | None]]
    weights: list[Any]
    places: list[int]
    device: bool

    @classmethod
    def of(cls, pieces: Sequence[Any]) -> Unpacked:
        """Return the contents of some pieces."""
        edges = [piece for piece in pieces if piece.target is not None]
        return cls(
            [(piece.source, piece.target) for piece in pieces],
            [piece.weight for piece in edges],
            [piece.partition for piece in edges],
            any(on_device(piece.source.frame) for piece in pieces),
        )


class Agreed(NamedTuple):
    """What all members know of the pieces of all members.

    Attributes
    ----------
    device : bool
        Whether any pieces are in GPU memory.
    listing : bool
        Whether any pieces list vertices.
    weight : dtype or None
        The dtype to which all weights can be converted.
    weight_bytes : int
        Bytes of the widest weight; 0 without weights.
    able : tuple of int and float
        The fewest threads, and the fewest bytes, that a member may use.
    places : sequence of list of int
        The partition of each piece of edges, by member.
    """

    device: bool
    listing: bool
    weight: Any
    weight_bytes: int
    able: tuple[int, float]
    places: Sequence[list[int]]


def agree(channel: Channel, own: Unpacked) -> Agreed:
    """Tell all members what this member knows of its pieces. All members call it."""
    exchange, resources = Exchange(channel), channel.resources
    dtypes = {None if weight is None else weight.dtype for weight in own.weights}
    about = (
        own.device,
        len(own.weights) < len(own.ends),
        dtypes,
        resources.threads,
        resources.memory(own.device),
        own.places,
    )
    devices, listing, each, threads, memory, places = zip(
        *swap(exchange, [about] * exchange.size), strict=True
    )
    every = set[Any]().union(*each) - {None}
    return Agreed(
        any(devices),
        any(listing),
        np.result_type(*every) if every else None,
        max((dtype.itemsize for dtype in every), default=0),
        (min(threads), min(memory)),
        places,
    )
