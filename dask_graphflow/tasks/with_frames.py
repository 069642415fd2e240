"""Frames that every member of a gang reads in full, in addition to its shard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any

from dask.base import tokenize
from dask.delayed import Delayed, delayed

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.resources import Subset

from .expr import Held
from .gang import Loop
from .names import named
from .partitions import partitions_of


class _WithFrames:
    """A shard and additional frames, each as the list of its partitions."""

    def __init__(self, shard: Any, counts: Mapping[str, int], *partitions: Any) -> None:
        self.shard = shard
        rest = iter(partitions)
        self.frames = {name: list(islice(rest, count)) for name, count in counts.items()}


class _ShardWithFrames(_WithFrames, Subset):
    """The same; members without vertices do not run."""

    @property
    def members(self) -> int:  # type: ignore[override]
        """The number of members that have work."""
        members: int = self.shard.members
        return members


def with_held_frames(frames: Mapping[str, Any], loop: Loop) -> Loop | None:
    """Return a loop for a single member that takes frames, which are in memory; else None.

    The frames travel with the loop, so there are no tasks for them.
    """
    held = all(isinstance(frame, Held) for frame in frames.values())
    return partial(_run_held, held=dict(frames), loop=loop) if held else None


def with_frames(
    shards: Sequence[Delayed], frames: Mapping[str, Any], loop: Loop, *, on_all: bool = False
) -> tuple[list[Delayed], Loop]:
    """Return shards that carry the frames, and a loop for :func:`.gang.run` that takes both.

    The loop takes the channel, shard and rank, then the frames as a dict of lists of partitions, then the
    run's arguments. It also runs on members without vertices if `on_all` is true.
    """
    read = {name: _partitions(frame) for name, frame in frames.items()}
    counts = {name: len(partitions) for name, partitions in read.items()}
    both = delayed(_WithFrames if on_all else _ShardWithFrames, pure=True)
    # Not in a dict or list: Dask drops the futures of persisted partitions from nested arguments.
    every = list(chain.from_iterable(read.values()))
    carried = [
        both(shard, counts, *every, dask_key_name=named("carry", tokenize(shard, counts, every)))
        for shard in shards
    ]
    return carried, partial(_run, loop=loop)


def _partitions(frame: Any) -> list[Delayed]:
    return partitions_of(frame) if isinstance(frame, Held) else list(frame.to_delayed())


def _run_held(
    channel: Channel,
    shard: Any,
    rank: int,
    *arguments: Any,
    held: Mapping[str, Held],
    loop: Loop,
) -> Any:
    return loop(channel, shard, rank, {name: [one()] for name, one in held.items()}, *arguments)


def _run(channel: Channel, shard: _WithFrames, rank: int, *arguments: Any, loop: Loop) -> Any:
    return loop(channel, shard.shard, rank, shard.frames, *arguments)
