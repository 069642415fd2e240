"""Gangs that read the partitions of lazy frames: each member reads some partitions of each frame.

::

    read       each partition
    pieces     the list of what one member has read, where it was read
    run        a gang, which makes a shard or a part of a result out of each member's pieces

A later gang can run on shards that were persisted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dask.base import tokenize
from dask.delayed import delayed

from . import gang, plugins
from .names import pinned
from .partitions import partitions_of

__all__ = ["run"]

Read = Callable[[Any, int], Any]


def run(
    frames: Sequence[tuple[Any, Read]],
    loop: gang.Loop,
    members: int,
    meta: Any,
    *args: Any,
    name: str,
    alone: bool = False,
    workers: Sequence[str] | None = None,
) -> Any:
    """Return, lazily, what a gang makes of frames: one part per member.

    Parameters
    ----------
    frames : sequence of pairs of dask.dataframe.DataFrame or Held, and callable
        Each callable takes a partition of its frame and the partition's number.
    loop : callable
        The loop of a member. Its shard is the list of what was read of the member's partitions, frame by
        frame, in the order of the partitions. The loop does not change the list: a member that is run
        again gets the same one.
    members : int
        Number of members.
    meta, *args, name, alone
        See :func:`.gang.run`, which also describes the result.
    workers : sequence of str, optional
        Address of the worker on which each member reads and runs. If that worker is gone, the member runs
        elsewhere.
    """
    if workers is not None:
        plugins.keep_pins()
    # Reading in tasks of their own gains nothing on several devices.
    together = alone and members > 1
    given = [(*partitions_of(frame), read) for frame, read in frames]
    token = tokenize([(name_of_frame, read) for name_of_frame, _, read in given], members)
    mine = []
    for rank in range(members):
        at = None if workers is None else workers[rank]
        own: list[Any] = []
        for name_of_frame, partitions, read in given:
            low, high = (len(partitions) * i // members for i in (rank, rank + 1))
            reading = f"{pinned('graph-read', at)}-{tokenize(name_of_frame, read)}"
            if together:
                own += [[read, i, partitions[i]] for i in range(low, high)]
            else:
                own += [
                    delayed(read)(partitions[i], i, dask_key_name=(reading, i))
                    for i in range(low, high)
                ]
        take: Callable[[list[Any]], list[Any]] = _each if together else list
        key = f"{pinned('graph-pieces', at)}-{token}", rank
        mine.append(delayed(take)(own, dask_key_name=key))
    return gang.run(mine, loop, meta, *args, name=name, alone=alone)


def _each(partitions: list[tuple[Read, int, Any]]) -> list[Any]:
    return [read(partition, number) for read, number, partition in partitions]
