"""Frames that all members of a gang read whole, beside their shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from dask.delayed import Delayed, delayed

from dask_graphflow.comm.channel import Channel

from .expr import Held
from .gang import Loop, Subset

__all__ = ["beside"]


class _Beside(Subset):
    """A shard and frames, each as the list of its partitions."""

    def __init__(self, shard: Any, frames: dict[str, list[Any]]) -> None:
        self.shard, self.frames, self.members = shard, frames, shard.members


def beside(
    shards: Sequence[Delayed], frames: Mapping[str, Any], loop: Loop
) -> tuple[list[Delayed], Loop]:
    """Return shards with frames, and a loop for :func:`.gang.run` that takes them.

    Parameters
    ----------
    shards : list of Delayed
    frames : mapping of str to dask.dataframe.DataFrame or Held
    loop : callable
        Takes the channel, shard and rank, then the frames as a dict of lists of partitions, then the run's
        arguments.
    """
    read = {name: _partitions(frame) for name, frame in frames.items()}
    both = delayed(_Beside, pure=True)
    return [both(shard, read) for shard in shards], partial(_run, loop=loop)


def _partitions(frame: Any) -> list[Delayed]:
    if isinstance(frame, Held):
        return [delayed(frame, pure=True, traverse=False)()]
    return frame.to_delayed()  # type: ignore[no-any-return]


def _run(channel: Channel, shard: _Beside, rank: int, *arguments: Any, loop: Loop) -> Any:
    return loop(channel, shard.shard, rank, shard.frames, *arguments)
