"""Gangs that read the partitions of lazy frames: each member reads some partitions of each frame.

A later gang can run on shards that were persisted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import gang, plugins
from .expr import Held, Resident, as_computed
from .gang_expr import Reads

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
    idle: Any = None,
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
    meta, *args, name, alone, idle
        See :func:`.gang.run`, which also describes the result.
    workers : sequence of str, optional
        Address of the worker on which each member reads and runs. If that worker is gone, the member runs
        elsewhere.
    """
    if workers is not None:
        plugins.keep_pins()
    readers, sources = [read for _, read in frames], [_source(frame) for frame, _ in frames]
    # Reading in tasks of their own gains nothing on several devices.
    together = alone and members > 1
    reads = Reads(readers, members, workers, together, *sources)
    return gang.run(reads, loop, meta, *args, name=name, alone=alone, idle=idle)


def _source(frame: Any) -> Any:
    if isinstance(frame, Held):
        return frame
    expr = as_computed(frame, list(frame.columns))
    return Resident.of(expr) or expr
