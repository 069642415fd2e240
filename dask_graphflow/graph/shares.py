"""Shares: how much of a graph each member of a gang gets, if members differ in kind and speed.

Each member has a *share* of the edge ends (TOTEM's alpha [1]_). The caller gives the shares, or they are
chosen in proportion to the speed of each member, within its memory. :mod:`.build.place` decides which
vertices make up a share.

.. [1] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand Chickens
   for Heavy Lifting Graph Processing", PACT 2012.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import OptionError
from dask_graphflow.kernels import device_link, device_room
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.tables import as_html, counted
from dask_graphflow.showing.values import shown

from .load_balance import makespan, share_out
from .numbering import swap

Rate = Callable[[bool, int, int], float]
"""Measures how many edges per second this process handles.

Its arguments are whether to use the GPU, the number of host threads, and the number of vertices of the
graph.
"""

Placement = Literal["auto", "random", "hubs-on-cpu", "leaves-on-cpu"]
PLACEMENTS = get_args(Placement)
VERTEX = 96  # bytes per vertex on a device: offsets, PageRank's columns, and two boxes
VALUE = 8  # bytes that are sent per vertex
SPARED = 0.9  # usable fraction of a device's memory; the rest is for temporary arrays of algorithms
PROBE, PROBES = 1 << 22, 3  # bytes sent to measure the speed of a link, and how often they are sent


@dataclass(frozen=True)
class Hybrid:
    """How to split a graph between workers with and without a GPU.

    Parameters
    ----------
    shares : "auto", sequence or mapping of float
        Fraction of the edge ends for each shard, or for each kind of worker, such as
        ``{"gpu": 0.3, "cpu": 0.7}``; workers of one kind share it evenly. Fractions add up to 1. "auto",
        the default, chooses fractions in proportion to the measured speed of each worker, within its
        memory.
    placement : {"auto", "random", "hubs-on-cpu", "leaves-on-cpu"}
        Which vertices to put on CPUs: a random choice, the vertices with the most edges, or those with
        the fewest. If all workers are of one kind, the last workers take the place of the CPUs. "auto",
        the default, uses "hubs-on-cpu" if few vertices have most of the edges, and "random" otherwise.

    Raises
    ------
    OptionError
        The placement is unknown, or the shares are invalid.

    References
    ----------
    .. [1] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand
       Chickens for Heavy Lifting Graph Processing", PACT 2012.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> edges = gf.generate.rmat(8, npartitions=2)
    >>> thirds = gf.Hybrid([1 / 3, 2 / 3], placement="hubs-on-cpu")
    >>> g = gf.Graph(edges, source="src", target="dst", hybrid=thirds)
    >>> g.layout().compute().share.round(1).tolist()
    [0.3, 0.7]
    """

    shares: Any = "auto"
    placement: Placement = "auto"

    def __post_init__(self) -> None:
        if self.placement not in PLACEMENTS:
            raise OptionError(
                f"placement={self.placement!r}; give {', '.join(map(repr, PLACEMENTS))}"
                f"{nearest(self.placement, PLACEMENTS)}"
            )
        if isinstance(self.shares, str):
            if self.shares != "auto":
                raise OptionError(
                    f"shares={self.shares!r}; give 'auto', or a number for each shard"
                )
            return
        values = list(self.shares.values() if isinstance(self.shares, Mapping) else self.shares)
        if not values or min(values) < 0 or abs(sum(values) - 1) > 1e-6:
            raise OptionError(
                f"shares={self.shares!r}; give fractions of at least 0 that add up to 1"
            )

    def _repr_html_(self) -> str:
        shares = [("all", "auto: by speed and room")]
        if not isinstance(self.shares, str):
            named = isinstance(self.shares, Mapping)
            parts = self.shares.items() if named else enumerate(self.shares)
            shares = [(str(one) if named else f"shard {one}", f"{part:.1%}") for one, part in parts]
        return as_html(shares, head=("shares of the edges", f"placement {self.placement}"))

    @property
    def count(self) -> int | None:
        """Number of shards for which there are shares, or None if this is not specified.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> gf.Hybrid([0.5, 0.25, 0.25]).count
        3
        >>> gf.Hybrid({"gpu": 0.3, "cpu": 0.7}).count is None
        True
        """
        return None if isinstance(self.shares, str | Mapping) else len(self.shares)

    def by_shard(self, kinds: Sequence[str]) -> Hybrid:
        """Return a copy with one share per shard, given the kind of each shard's worker.

        The shares then stay the same, even if a shard is rebuilt elsewhere after a worker was lost.

        Parameters
        ----------
        kinds : sequence of {"gpu", "cpu"}
            The kind of each shard's worker.

        Returns
        -------
        Hybrid
            This object itself, if its shares are not by kind.

        Raises
        ------
        OptionError
            The kinds of the workers differ from the kinds in the shares.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> gf.Hybrid({"gpu": 0.5, "cpu": 0.5}).by_shard(["gpu", "cpu", "cpu"]).shares
        [0.5, 0.25, 0.25]
        """
        if not isinstance(self.shares, Mapping):
            return self
        if set(kinds) != set(self.shares):
            raise OptionError(
                f"shares are for {sorted(self.shares)}, but the kinds of workers are {sorted(set(kinds))}; "
                "give one share for each of these kinds"
            )
        return replace(self, shares=[self.shares[kind] / kinds.count(kind) for kind in kinds])

    def of(self, members: Sequence[HybridMember], size: HybridSize) -> list[float]:
        """Return the share of each member.

        Parameters
        ----------
        members : sequence of HybridMember
            Each member's kind, rate, link and free bytes.
        size : HybridSize
            The size of the graph.

        Returns
        -------
        list of float
            The given shares; with "auto", shares in proportion to speed, within the available memory.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> from dask_graphflow.graph.shares import HybridMember, HybridSize
        >>> both = [HybridMember("cpu", rate=3e8), HybridMember("cpu", rate=1e8)]
        >>> gf.Hybrid().of(both, HybridSize(vertices=1000, ends=16000, width=8))
        [0.75, 0.25]
        """
        return _by_speed(members, size) if isinstance(self.shares, str) else list(self.shares)


class HybridMember(NamedTuple):
    """What a member of a gang reports about itself.

    Attributes
    ----------
    kind : str
        "gpu" or "cpu".
    rate : float
        Its speed, in edges per second in an iteration of PageRank.
    link : float
        Bandwidth with which it receives messages, in bytes per second.
    free : float
        Bytes available for rows and columns; infinite on the host, where they are built anyway.
    streams : float
        Bytes per second with which its GPU reads edges that do not fit in its memory.
    """

    kind: str
    rate: float = 1.0
    link: float = math.inf
    free: float = math.inf
    streams: float = 0.0


class HybridSize(NamedTuple):
    """The size of a graph.

    Attributes
    ----------
    vertices : int
        Number of vertices that have an edge.
    ends : int
        Number of ends of all edges.
    width : int
        Bytes per edge end, with its weight, in all rows that an algorithm uses at the same time.
    """

    vertices: int
    ends: int
    width: int

    def bytes(self) -> int:
        """Return the bytes that the whole graph takes on a device."""
        return self.ends * self.width + VERTEX * self.vertices

    def streamed(self, rate: float, streams: float) -> float:
        """Return the edges per second of a GPU that reads them at `streams` bytes per second."""
        return min(rate, streams / max(1, self.width))

    def room(self, free: float) -> float:
        """Return the largest share that fits in `free` bytes, whichever vertices are in it."""
        return max(0.0, free - VERTEX * self.vertices) / max(1, self.ends * self.width)


def as_hybrid(given: Any, on_device: bool) -> Hybrid:
    """Return the `hybrid` option of a caller as a :class:`Hybrid`, or raise :class:`OptionError`."""
    if isinstance(given, str) and given == "auto":
        given = Hybrid()
    if not isinstance(given, Hybrid):
        raise OptionError(f"hybrid={shown(given)}; give 'auto', or a dask_graphflow.Hybrid")
    if on_device:
        raise OptionError(
            "hybrid is given, and the edges are backed by cuDF, which workers without a GPU cannot read; "
            "give edges.to_backend('pandas')"
        )
    return given


def members_of(
    hybrid: Hybrid, shards: int | None, workers: Sequence[Any]
) -> tuple[Hybrid, int, list[str] | None]:
    """Return the shares by shard, the number of shards and, on a cluster, the worker of each shard."""
    asked = shards or hybrid.count or len(workers) or 1
    if hybrid.count not in (None, asked):
        raise OptionError(
            f"shards={shards}, and hybrid has {counted(hybrid.count, 'share')}; give one for each shard"
        )
    if not workers:
        return hybrid.by_shard(["cpu"] * asked), asked, None
    mine = [workers[shard % len(workers)] for shard in range(asked)]
    hybrid = hybrid.by_shard([worker.kind for worker in mine])
    return hybrid, asked, [worker.address for worker in mine]


def member_speeds(
    exchange: Exchange, hybrid: Hybrid, rate: Rate, vertices: int
) -> list[HybridMember]:
    """Return the speed and the free memory of all members. Every member calls it.

    If `hybrid` contains the shares, nothing is measured. See :data:`Rate` for `rate`.
    """
    device, threads = exchange.resources.gpu, exchange.resources.threads
    own = HybridMember("gpu" if device else "cpu")
    if isinstance(hybrid.shares, str):
        free = SPARED * device_room() if device else math.inf
        speed, streams = rate(device, threads, vertices), device_link() if device else 0.0
        own = own._replace(rate=speed, free=free, streams=streams)
    all_members: list[HybridMember] = swap(exchange, [own] * exchange.size)
    if isinstance(hybrid.shares, str) and exchange.size > 1:
        own = all_members[exchange.rank]._replace(link=_link(exchange))
        all_members = swap(exchange, [own] * exchange.size)
    return all_members


def _link(exchange: Exchange) -> float:
    """Return how many bytes per second this member receives."""
    piece = np.zeros(PROBE, np.uint8)
    best = math.inf
    for _ in range(PROBES):
        exchange.all_reduce()
        began = time.perf_counter()
        exchange.all_gather(piece)
        best = min(best, time.perf_counter() - began)
    return PROBE * (exchange.size - 1) / best


def _by_speed(members: Sequence[HybridMember], size: HybridSize) -> list[float]:
    """Return the shares for which an iteration of PageRank is expected to take the shortest time.

    GPU workers may be faster alone than with the others, to which values would have to be sent. And a GPU
    whose edges do not fit in its memory may be faster if it streams the other edges than if it gets fewer.
    """
    room = [min(1.0, size.room(member.free)) for member in members]
    stored = [(member.rate, own) for member, own in zip(members, room, strict=True)]
    # Vertex data cannot be streamed: it must fit in device memory.
    streaming = [
        (size.streamed(member.rate, member.streams), 1.0)
        if member.streams and 0 < own < 1
        else (member.rate, own)
        for member, own in zip(members, room, strict=True)
    ]
    choices = []
    for way in (stored, streaming):
        rates, most = zip(*way, strict=True)
        alone = [own if m.kind == "gpu" else 0.0 for m, own in zip(members, most, strict=True)]
        choices += [(share_out(rates, own), rates) for own in (most, alone) if sum(own) >= 1 - 1e-9]
    if not choices:
        return share_out([member.rate for member in members], room)  # raises an error

    def seconds(choice: tuple[Sequence[float], Sequence[float]]) -> float:
        shares, rates = choice
        edges = [share * size.ends / 2 for share in shares]
        several = sum(share > 0 for share in shares) > 1
        # Each member receives the values of vertices that it lacks: about all, in any placement.
        sent = [VALUE * size.vertices * several * (share > 0) for share in shares]
        return makespan(edges, rates, sent, min(member.link for member in members))

    return min(choices, key=seconds)[0]
