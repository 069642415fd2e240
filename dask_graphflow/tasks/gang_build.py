"""Gangs that read the partitions of lazy frames: each member reads some partitions of each frame.

A later gang can run on shards that were persisted.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from . import placement, plugins
from .expr import Held, Resident, Source, as_computed, find_held
from .gang_expr import Dealt, Reads
from .trees import Chain

UNEVEN = 1.25

Read = Callable[[Any, int], Any]


def deal_reads(
    frames: Sequence[tuple[Any, list[Any], Read]],
    members: int,
    *,
    workers: Sequence[str] | None = None,
    stay: bool = False,
    alone: bool = False,
) -> Reads:
    """Return what the members of a gang read from lazy frames, as the shards of :func:`.gang.run`.

    The shard of a member is the list of what was read from its partitions, frame by frame, in the order of
    the partitions. Its loop must not change the list, because a member that runs again gets the same one.

    Parameters
    ----------
    frames : sequence of triples of dask.dataframe.DataFrame or Held, list of column names, and callable
        Each callable takes those columns of a partition of its frame, and the partition's number. It gets
        all columns of a frame in memory.
    members : int
        Number of members.
    workers : sequence of str, optional
        Address of the worker on which each member reads and runs. If that worker is lost, the member runs
        on another one.
    stay : bool
        Whether each member reads on its own worker, because what was read should not be sent. By default
        Dask chooses.
    alone : bool
        See :func:`.gang.expression`.
    """
    if workers is not None:
        plugins.keep_pins()
    if stay:
        plugins.keep_gangs()  # also for a single member, which reads too
    exprs = [as_computed(frame, columns) for frame, columns, _ in frames]
    # Wrapped now, because Dask might combine small files after partitions were assigned.
    sources = [Resident.of(one) or Source.of(one) or one for one in exprs]
    dealt = [deal(_homes(source, members, workers), members) for source in sources]
    # On several devices, or with one partition, reading in separate tasks gains nothing.
    single = sum(source.npartitions for source in sources) == 1
    together = (alone and members > 1) or (single and not stay)
    return Reads([read for *_, read in frames], dealt, workers, together, stay, *sources)


Dealing = list[list[tuple[int, int]]]
"""Per member: the frame of each partition that it takes, and the partition's number in the frame."""


def deal_chains(frames: Sequence[Any], chains: Sequence[Chain]) -> Dealing:
    """Return which partitions the members take, one per chain. Partitions are numbered over all frames."""
    numbers = [(at, i) for at, frame in enumerate(frames) for i in range(frame.npartitions)]
    return [[numbers[chunk] for chunk in chain.chunks] for chain in chains]


def deal_as_held(frames: Sequence[Any], dealt: Dealing) -> Reads | Dealt:
    """Return the shards of a gang whose members take partitions as they are."""
    if all(isinstance(frame, Resident) for frame in frames):
        return Dealt(frames, dealt)
    by_frame = [
        [[i for at, i in own if at == position] for own in dealt] for position in range(len(frames))
    ]
    sources = [Source.of(frame) or frame for frame in frames]
    return Reads([_as_it_is] * len(frames), by_frame, None, True, False, *sources)


def _as_it_is(partition: Any, number: int) -> Any:
    return partition


def _homes(source: Any, members: int, workers: Sequence[str] | None) -> list[str | None]:
    """Return the worker that holds each partition, or None if that is unknown or of no use."""
    count = source.npartitions
    if members == 1 or workers is not None or isinstance(source, Held | Source):
        return [None] * count
    return placement.homes(*find_held(source), count)


def deal(homes: Sequence[str | None], members: int) -> list[list[int]]:
    """Return the numbers of the partitions that each member reads.

    A member gets partitions that one worker holds, so that they are not sent, but at most `UNEVEN` times
    its even share. If no worker is known to hold any, the partitions of a member are adjacent.

    Parameters
    ----------
    homes : sequence of str or None
        The worker that holds each partition.
    members : int

    Examples
    --------
    >>> deal(["a", "b", "a", "b"], 2), deal([None] * 4, 2)
    ([[0, 2], [1, 3]], [[0, 1], [2, 3]])
    """
    count = len(homes)
    held = Counter(home for home in homes if home is not None)
    if not held:
        bounds = [count * rank // members for rank in range(members + 1)]
        return [list(range(low, high)) for low, high in itertools.pairwise(bounds)]
    ranks = {home: rank for rank, (home, _) in enumerate(held.most_common(members))}
    most = math.ceil(UNEVEN * count / members)
    dealt: list[list[int]] = [[] for _ in range(members)]
    others = []
    for partition, home in enumerate(homes):
        rank = ranks.get(home) if home is not None else None
        if rank is None or len(dealt[rank]) >= most:
            others.append(partition)
        else:
            dealt[rank].append(partition)
    for partition in others:
        min(dealt, key=len).append(partition)
    return [sorted(own) for own in dealt]
