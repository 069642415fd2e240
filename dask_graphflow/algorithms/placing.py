"""Placing: which member of a gang gets which vertices, where members are of several kinds and speeds.

Members have *shares* of the edges' ends (TOTEM's alpha [1]_): those that a caller gives, or as many as
each is fast, if it has room for them. Which vertices these are is the *placement*: any, or on the CPUs
those with the most edges, or those with the fewest. Vertices are put in order by a key, of their degree or
at random, and cut where the running sum of their degrees comes nearest to the shares: found in four rounds
of histograms of 16 bits of the keys. So a share is as near to what was asked as the degree of one vertex.

.. [1] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand Chickens
   for Heavy Lifting Graph Processing", PACT 2012.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.costs import rates, share_out
from dask_graphflow.dataflow import placement
from dask_graphflow.dataflow.exchange import Exchange, Vote
from dask_graphflow.exceptions import OptionError, nearest
from dask_graphflow.graph.placed import Placed, arrange
from dask_graphflow.graph.shards import HUBS, HUBS_EDGES
from dask_graphflow.kernels import twin

__all__ = ["PLACEMENTS", "Hybrid", "Member", "as_hybrid", "member", "members_of", "placed"]

PLACEMENTS = ("auto", "random", "hubs-on-cpu", "leaves-on-cpu")
DIGIT = 16  # bits of a key that a round of histograms looks at


@dataclass(frozen=True)
class Hybrid:
    """How a graph is shared out between workers of several kinds.

    Parameters
    ----------
    shares : "auto", sequence or mapping of float
        Of all edges' ends, for each shard; or for each kind of worker, ``{"gpu": 0.3, "cpu": 0.7}``, which
        its workers share evenly. They add up to 1. "auto" gives each as much as it is fast, by what was
        measured on its machine, if there is room for that.
    placement : {"auto", "random", "hubs-on-cpu", "leaves-on-cpu"}
        Which vertices lie where: any; or those with the most edges, or with the fewest, on the CPUs,
        which of workers of one kind are the later ones. "auto" puts the hubs on CPUs where few vertices
        have most of the edges, and any elsewhere.

    Raises
    ------
    OptionError
        There is no such placement, or the shares are none.

    References
    ----------
    .. [1] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand
       Chickens for Heavy Lifting Graph Processing", PACT 2012.
    """

    shares: Any = "auto"
    placement: str = "auto"

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
                f"shares={self.shares!r}; give parts of the edges of 0 or more that add up to 1"
            )

    @property
    def count(self) -> int | None:
        """How many shards there are shares for, if that is said."""
        return None if isinstance(self.shares, str | Mapping) else len(self.shares)

    def check(self, kinds: Sequence[str]) -> None:
        """Raise :class:`OptionError` unless shares by kind are those of the kinds that there are."""
        if isinstance(self.shares, Mapping) and set(kinds) != set(self.shares):
            raise OptionError(
                f"shares are for {sorted(self.shares)}, and the workers are of {sorted(set(kinds))}; "
                "give a share for each kind that there is"
            )

    def of(self, members: Sequence[Member]) -> list[float]:
        """Return the share of each member."""
        if isinstance(self.shares, str):
            return share_out([member.rate for member in members], [m.room for m in members])
        if isinstance(self.shares, Mapping):
            kinds = [member.kind for member in members]
            self.check(kinds)
            return [self.shares[kind] / kinds.count(kind) for kind in kinds]
        return list(self.shares)


class Member(NamedTuple):
    """What a member of a gang says of itself.

    Attributes
    ----------
    kind : str
        "gpu" or "cpu".
    rate : float
        How fast it is, in edges a second.
    room : float
        The largest share of the edges that it has room for.
    """

    kind: str
    rate: float = 1.0
    room: float = 1.0


def as_hybrid(given: Any, on_device: bool) -> Hybrid:
    """Return what a caller gave as `hybrid`, or raise :class:`OptionError`.

    Parameters
    ----------
    given : object
    on_device : bool
        Whether the edges are backed by cuDF.
    """
    if given == "auto":
        given = Hybrid()
    if not isinstance(given, Hybrid):
        raise OptionError(f"hybrid={given!r}; give 'auto', or a dask_graphflow.Hybrid")
    if on_device:
        raise OptionError(
            "hybrid is given, and the edges are backed by cuDF, which workers without a GPU cannot read; "
            "give edges.to_backend('pandas')"
        )
    return given


def members_of(hybrid: Hybrid, shards: int | None) -> tuple[int, list[str] | None]:
    """Return how many shards there are, and the address of the worker of each, where there is a cluster."""
    workers = placement.workers()
    asked = shards or hybrid.count or len(workers) or 1
    if hybrid.count not in (None, asked):
        raise OptionError(
            f"shards={shards}, and hybrid has {hybrid.count} shares; give one for each shard"
        )
    if not workers:
        return asked, None
    mine = [workers[shard % len(workers)] for shard in range(asked)]
    hybrid.check([worker.kind for worker in mine])
    return asked, [worker.address for worker in mine]


def member(hybrid: Hybrid, vertices: int, threads: int) -> Member:
    """Return what this member says of itself, for a graph of so many vertices."""
    device = placement.on_gpu_worker()
    kind = "gpu" if device else "cpu"
    if hybrid.shares != "auto":
        return Member(kind)
    return Member(kind, rates(device, threads).pull(vertices))


def placed(
    exchange: Exchange,
    numbers: Sequence[tuple[Any, Any]],
    homes: list[int],
    hybrid: Hybrid,
    members: Sequence[Member],
    threads: int,
) -> tuple[Placed, list[int], np.ndarray]:
    """Place the vertices of a graph; all members call it.

    Parameters
    ----------
    exchange : Exchange
    numbers : sequence of pair of array of integers
        Sources and targets of this member's edges, part by part.
    homes : list of int
        Where the members' ranges of numbers begin, and the last one ends.
    hybrid : Hybrid
    members : sequence of Member
        By rank.
    threads : int
        Host threads to use.

    Returns
    -------
    Placed
    list of int
        Where the members' ranges of places begin, and the last one ends.
    ndarray of int16, shape (V,)
        The owner of each vertex, by number.
    """
    low, high = homes[exchange.rank : exchange.rank + 2]
    degrees = _degrees(exchange, numbers, homes, threads)
    shares = hybrid.of(members)
    anyhow = _scrambled(np.arange(low, high, dtype=np.uint64))
    groups = [list(range(len(members)))]
    if hybrid.placement != "random" and _by_degree(exchange, hybrid.placement, degrees):
        groups = _groups(members)
    # The last groups are CPUs.
    key = np.minimum(degrees, 2**32 - 1).astype(np.uint64)
    if hybrid.placement == "leaves-on-cpu":
        key = np.uint64(2**32 - 1) - key
    ordered = key << np.uint64(32) | anyhow >> np.uint64(32)
    group = _parts(exchange, ordered, degrees, [sum(shares[m] for m in own) for own in groups])
    owners = np.empty(len(degrees), np.int16)
    for index, own in enumerate(groups):
        here = np.flatnonzero(group == index)
        parts = _parts(exchange, anyhow[here], degrees[here], [shares[m] for m in own])
        owners[here] = np.array(own, np.int16)[parts]
    told, _ = exchange.deal([owners] * exchange.size)
    everyone = np.concatenate(told)
    places, bounds = arrange(everyone, exchange.size)
    return Placed(places, homes), bounds, everyone


def _degrees(
    exchange: Exchange, numbers: Sequence[tuple[Any, Any]], homes: list[int], threads: int
) -> np.ndarray:
    """Return how many ends of all members' edges each vertex of this member's home is."""
    size = homes[-1]
    own = np.zeros(size, np.int64)
    for side in itertools.chain.from_iterable(numbers):
        own += twin("rows", side).degrees(side, count=size, threads=threads)
    told, _ = exchange.deal([own[low:high] for low, high in itertools.pairwise(homes)])
    degrees: np.ndarray = np.sum(told, axis=0)
    return degrees


def _groups(members: Sequence[Member]) -> list[list[int]]:
    """Return runs of members of one kind; each by itself, if all are."""
    runs = [
        list(run) for _, run in itertools.groupby(range(len(members)), lambda m: members[m].kind)
    ]
    return runs if len(runs) > 1 else [[rank] for rank in range(len(members))]


def _by_degree(exchange: Exchange, placement: str, degrees: np.ndarray) -> bool:
    """Say whether vertices are placed by their degrees."""
    if placement != "auto":
        return True
    keys, ones = degrees.astype(np.uint64), np.ones_like(degrees)
    vertices = exchange.agree(Vote(active=len(keys))).active
    least = _bound(exchange, keys, ones, vertices - vertices / HUBS)
    few = degrees[degrees > least].sum()
    total = exchange.agree(Vote(active=int(few), edges=int(degrees.sum())))
    return total.active * HUBS_EDGES > total.edges


def _parts(
    exchange: Exchange, keys: np.ndarray, weights: np.ndarray, shares: Sequence[float]
) -> np.ndarray:
    """Return the part that each key belongs to: parts follow on each other, and weigh as their shares.

    Parameters
    ----------
    exchange : Exchange
    keys : ndarray of uint64, shape (n,)
        Of this member.
    weights : ndarray of int64, shape (n,)
    shares : sequence of float
        Of the parts; of their sum, if that is not 1.
    """
    if len(shares) == 1:
        return np.zeros(len(keys), np.int64)
    told, _ = exchange.deal([weights.sum(keepdims=True)] * exchange.size)
    total = int(np.sum(told))
    whole = sum(shares) or 1.0
    found = np.zeros(len(keys), np.int64)
    for upto in list(itertools.accumulate(shares))[:-1]:
        bound = _bound(exchange, keys, weights, total * upto / whole)
        found += keys > np.uint64(bound) if bound >= 0 else 1
    return found


def _bound(exchange: Exchange, keys: np.ndarray, weights: np.ndarray, target: float) -> int:
    """Return the greatest key of those that weigh nearest to `target` together; -1 for none."""
    prefix, below = 0, 0
    for shift in range(64 - DIGIT, -1, -DIGIT):
        digits = keys >> np.uint64(shift)
        mine = digits >> np.uint64(DIGIT) == np.uint64(prefix)
        digits = (digits[mine] & np.uint64((1 << DIGIT) - 1)).astype(np.intp)
        own = np.bincount(digits, weights=weights[mine], minlength=1 << DIGIT)
        told, _ = exchange.deal([own] * exchange.size)
        histogram = np.sum(told, axis=0)
        running = below + np.cumsum(histogram)
        digit = min(int(np.searchsorted(running, target)), (1 << DIGIT) - 1)
        below = running[digit] - histogram[digit]
        prefix = prefix << DIGIT | digit
    nearer = running[digit] - target < target - below
    return prefix if nearer else prefix - 1


def _scrambled(numbers: np.ndarray) -> np.ndarray:
    """Return a number for each that looks like chance, and of each another one (splitmix64)."""
    found = numbers + np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ found >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ found >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    scrambled: np.ndarray = found ^ found >> np.uint64(31)
    return scrambled
