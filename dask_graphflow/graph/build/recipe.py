"""How to build a graph, and what the members know of its pieces before the first step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.numbering import swap
from dask_graphflow.graph.room import Plan
from dask_graphflow.graph.shares import Hybrid, Rate
from dask_graphflow.kernels import on_device

from .choose import Choose


@dataclass(frozen=True)
class Recipe:
    """How to build a graph."""

    directed: bool  # whether an edge leads from its source to its target only
    # {"keep", "sum", "min", "first"}. How to treat several edges from one vertex to another; see
    # :meth:`.RowsKernels.rows`.
    multi: str = "keep"
    # Send edges to the owners of the vertices that they enter, and build no rows: for algorithms that only
    # use :func:`.entering`. Edges must be directed, and all are kept. If only one member gets a part of the
    # graph, its rows are built anyway.
    turned: bool = False
    # How to place the vertices; see :mod:`.shares`. The pieces must be in host memory, and so is the
    # result.
    hybrid: Hybrid | None = None
    # Measures the speed of a member (:data:`.shares.Rate`); required with `hybrid`.
    rate: Rate | None = None
    # Chooses how many members get a part of the graph; see :data:`.Choose`. By default all of them do.
    choose: Choose | None = None
    # Whether calls on the graph run on devices although the pieces are in host memory.
    for_device: bool = False
    # Whether edges are in files: those of the pieces (see :func:`.reading.store`), those that arrive from
    # other members, and the rows.
    on_disk: bool = False
    # The sizes by which the memory limit of the worker is checked; None without a check.
    plan: Plan | None = None


class Agreed(NamedTuple):
    """What all members know of the pieces of all members."""

    device: bool  # whether any pieces are in GPU memory
    listing: bool  # whether any pieces list vertices
    weight: Any  # dtype or None. The dtype to which all weights can be converted.
    weight_bytes: int  # bytes of the widest weight; 0 without weights
    able: tuple[int, float]  # the fewest threads, and the fewest bytes, that a member may use
    places: Sequence[list[int]]  # the partition of each piece of edges, by member


def agree(channel: Channel, pieces: Sequence[Any]) -> Agreed:
    """Tell all members what this member knows of its pieces. All members call it."""
    exchange, resources = Exchange(channel), channel.resources
    device = any(on_device(piece.source.like) for piece in pieces)
    edges = [piece for piece in pieces if piece.target is not None]
    dtypes = {piece.weight.dtype for piece in edges if piece.weight is not None}
    places = [piece.partition for piece in edges]
    able = resources.threads, resources.memory(device)
    own = device, len(edges) < len(pieces), dtypes, places, *able
    devices, listing, each, all_places, threads, memory = zip(
        *swap(exchange, [own] * exchange.size), strict=True
    )
    every = set[Any]().union(*each)
    return Agreed(
        any(devices),
        any(listing),
        np.result_type(*every) if every else None,
        max((dtype.itemsize for dtype in every), default=0),
        (min(threads), min(memory)),
        all_places,
    )
