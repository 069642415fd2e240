"""The third step of a build, for a hybrid: choose the vertices that make up each member's share.

These are any vertices, or on the CPUs the vertices with the most or with the fewest edges. Vertices are
ordered by a key, which is derived from their degree or is pseudo-random. The order is cut where the running
sum of degrees is nearest to the shares. The cut is found in four rounds of histograms, each of 16 bits of
the keys. A share therefore differs from the requested one by at most the degree of one vertex.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph import partition
from dask_graphflow.graph.hubs import HUBS, HUBS_EDGES
from dask_graphflow.graph.shares import Hybrid, HybridMember, HybridSize, Rate, member_speeds
from dask_graphflow.graph.vertices import Placed
from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels import rows as rows_kernels

DIGIT = 16  # bits of a key that one round of histograms covers


def place_vertices(
    exchange: Exchange,
    numbers: Sequence[tuple[Any, Any]],
    homes: list[int],
    hybrid: Hybrid,
    rate: Rate,
    width: int,
) -> tuple[Placed, list[int], np.ndarray]:
    """Place the vertices of a graph. All members call it.

    `numbers` are the sources and targets of this member's edges, part by part. `homes` has where the
    members' ranges of numbers begin, and where the last one ends. `rate` measures the speed of a member.
    Returns the placement, the bounds of the members' ranges of places, and the owner of each vertex by
    number, as int16.
    """
    low, high = homes[exchange.rank : exchange.rank + 2]
    members = member_speeds(exchange, hybrid, rate, homes[-1])
    degrees = _degrees(exchange, numbers, homes)
    sums = int(np.count_nonzero(degrees)), int(degrees.sum())
    vertices, ends = exchange.all_reduce(sums).sums
    shares = hybrid.of(members, HybridSize(vertices, ends, width))
    anyhow = _scrambled(np.arange(low, high, dtype=np.uint64))
    groups = [list(range(len(members)))]
    if hybrid.placement != "random" and _by_degree(exchange, hybrid.placement, degrees):
        groups = _groups(members)
    # CPUs are in the last groups.
    key = np.minimum(degrees, 2**32 - 1).astype(np.uint64)
    if hybrid.placement == "leaves-on-cpu":
        key = np.uint64(2**32 - 1) - key
    ordered = key << np.uint64(32) | anyhow >> np.uint64(32)
    group = _parts(exchange, ordered, degrees, [sum(shares[m] for m in own) for own in groups])
    group[degrees == 0] = len(groups) - 1  # they need no work, but take memory
    owners = np.empty(len(degrees), np.int16)
    for index, own in enumerate(groups):
        here = np.flatnonzero(group == index)
        parts = _parts(exchange, anyhow[here], degrees[here], [shares[m] for m in own])
        owners[here] = np.array(own, np.int16)[parts]
    all_owners = np.concatenate(exchange.all_gather(owners))
    places, bounds = _arrange(all_owners, exchange.size)
    return Placed(places, homes), bounds, all_owners


def _arrange(owners: np.ndarray, shards: int) -> tuple[np.ndarray, list[int]]:
    """Return the place of each vertex, and the bounds of the shards' ranges.

    The bounds are multiples of :data:`.partition.GRAIN`, so there are a few more places than vertices.
    """
    counts = np.bincount(owners, minlength=shards)
    sizes = (-(-counts // partition.GRAIN) * partition.GRAIN).tolist()
    bounds = list(itertools.accumulate(sizes, initial=0))
    places = np.empty(len(owners), index_dtype(bounds[-1]))
    for shard in range(shards):
        here = np.flatnonzero(owners == shard)
        places[here] = np.arange(bounds[shard], bounds[shard] + len(here), dtype=places.dtype)
    return places, bounds


def _degrees(
    exchange: Exchange, numbers: Sequence[tuple[Any, Any]], homes: list[int]
) -> np.ndarray:
    """Return the degree of each vertex of this member's home, counted over the edges of all members."""
    size = homes[-1]
    sides = list(itertools.chain.from_iterable(numbers))
    own = rows_kernels.count_all(sides, count=size, threads=exchange.resources.threads)
    counts = exchange.all_to_all([own[low:high] for low, high in itertools.pairwise(homes)])
    degrees: np.ndarray = np.sum(counts, axis=0)
    return degrees


def _groups(members: Sequence[HybridMember]) -> list[list[int]]:
    """Return runs of members of the same kind; if all are of one kind, one run per member."""
    runs = [
        list(run) for _, run in itertools.groupby(range(len(members)), lambda m: members[m].kind)
    ]
    return runs if len(runs) > 1 else [[rank] for rank in range(len(members))]


def _by_degree(exchange: Exchange, placement: str, degrees: np.ndarray) -> bool:
    """Say whether vertices are placed by degree."""
    if placement != "auto":
        return True
    keys, ones = degrees.astype(np.uint64), np.ones_like(degrees)
    vertices = exchange.all_sum(len(keys))
    least = _bound(exchange, keys, ones, vertices - vertices / HUBS)
    few = degrees[degrees > least].sum()
    most, every = exchange.all_reduce(sums=(int(few), int(degrees.sum()))).sums
    return most * HUBS_EDGES > every


def _parts(
    exchange: Exchange, keys: np.ndarray, weights: np.ndarray, shares: Sequence[float]
) -> np.ndarray:
    """Return the part to which each key belongs: consecutive ranges, with weights as in `shares`."""
    if len(shares) == 1:
        return np.zeros(len(keys), np.int64)
    total = int(np.sum(exchange.all_gather(weights.sum(keepdims=True))))
    whole = sum(shares) or 1.0
    parts = np.zeros(len(keys), np.int64)
    for upto in list(itertools.accumulate(shares))[:-1]:
        bound = _bound(exchange, keys, weights, total * upto / whole)
        parts += keys > np.uint64(bound) if bound >= 0 else 1
    return parts


def _bound(exchange: Exchange, keys: np.ndarray, weights: np.ndarray, target: float) -> int:
    """Return the key up to which weights add up most nearly to `target`; -1 for no keys at all."""
    prefix, below = 0, 0
    for shift in range(64 - DIGIT, -1, -DIGIT):
        digits = keys >> np.uint64(shift)
        mine = digits >> np.uint64(DIGIT) == np.uint64(prefix)
        digits = (digits[mine] & np.uint64((1 << DIGIT) - 1)).astype(np.intp)
        own = np.bincount(digits, weights=weights[mine], minlength=1 << DIGIT)
        histogram = np.sum(exchange.all_gather(own), axis=0)
        running = below + np.cumsum(histogram)
        digit = min(int(np.searchsorted(running, target)), (1 << DIGIT) - 1)
        below = running[digit] - histogram[digit]
        prefix = prefix << DIGIT | digit
    nearer = running[digit] - target < target - below
    return prefix if nearer else prefix - 1


def _scrambled(numbers: np.ndarray) -> np.ndarray:
    """Return a distinct pseudo-random number for each number (splitmix64)."""
    bits = numbers + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ bits >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ bits >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    scrambled: np.ndarray = bits ^ bits >> np.uint64(31)
    return scrambled
