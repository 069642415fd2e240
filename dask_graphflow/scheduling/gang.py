"""Gangs: members that run at once, each beside its shard, and send each other messages.

An iteration that took a task a superstep and shard would spend milliseconds of a scheduler's time on each
superstep. Here a member is one task, however many supersteps there are: Dask brings the members together,
places them beside their shards, and runs them again where a worker is lost; what they send each other goes
by a :class:`~.channel.Channel` of their own.

On a cluster each member is a task of a worker (:mod:`.membership`), and the scheduler brings them together
(:mod:`.rendezvous`). Everywhere else, Dask's threads may be fewer than the members, and nothing promises
that they run at once: there all members are threads of one task. That is found out where the tasks run, so
that a graph may be computed elsewhere than where it was made for.

A gang with one member is an ordinary Dask task on every scheduler: it has nobody to meet.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import dask
from dask.delayed import Delayed
from dask.utils import funcname, parse_timedelta

from dask_graphflow.comm.channel import Channel, PeerLost, in_process
from dask_graphflow.exceptions import OptionError

from . import placement, plugins
from .expr import Empty, Resident, collection
from .gang_expr import Gang, Parts, Reads, delayed_parts

__all__ = ["Loop", "Subset", "run", "threads"]

TIMEOUT = "30s"

Loop = Callable[..., Any]
"""What a member does: takes its channel, shard, rank and the run's arguments; returns its part."""


class Subset:
    """A shard of a gang in which only the first members have work.

    Attributes
    ----------
    members : int
        The number of members that have work; all shards of the gang say the same. The others return at
        once, and are not waited for.
    """

    members: int


_here = threading.local()  # of a member's thread: how many members are in its process


def run(
    shards: Any,
    loop: Loop,
    meta: Any,
    *args: Any,
    name: str | None = None,
    alone: bool = False,
    idle: Any = None,
) -> Any:
    """Return, lazily, what a gang makes of some shards: a part for each.

    Parameters
    ----------
    shards : dask.dataframe.DataFrame, list of Delayed, or Reads
        A member is run for each partition, for each object, or for each list of what is read.
    loop : callable
        Takes a :class:`~.channel.Channel`, a shard, the member's rank and `args`, and returns the member's
        part. It is run again from the start where another member was lost, so it changes nothing but what
        it has made, and gives the same part each time. It lets through what the channel raises.
    meta : DataFrame or None
        An empty frame like the parts; None where they are no frames.
    *args
        That can be pickled, as `loop` can.
    name : str, optional
        What the tasks are called; by default `loop`'s name.
    alone : bool
        Have the workers to itself, among all such runs: those that share a worker take turns, in the order
        in which their members were complete. For GPUs, where collective operations of two runs may wait for
        each other for ever. On CPUs runs share the cores as other tasks do, and a short one does not wait
        for a long one.
    idle : object, optional
        The part of a member whose shard is a :class:`Subset` without work for it.

    Returns
    -------
    dask.dataframe.DataFrame, or list of Delayed
        A partition a member, in the order of the shards.

    Raises
    ------
    OptionError
        There are no shards, or the timeout is no time.

    Notes
    -----
    The configuration `graphflow.gang.timeout` (30 s) says how long members wait for one that has no
    worker, or whose worker keeps silent, and how long it may take to connect. There is no limit to how
    long Dask may take to get a member's shard ready, nor to a superstep. When computed, it raises
    :class:`~dask_graphflow.exceptions.WorkerLostError` if a member does not come in that time, or if
    workers are lost three times during one run.
    """
    configured = dask.config.get("graphflow.gang.timeout", TIMEOUT)
    try:
        timeout = float(parse_timedelta(configured))
    except (KeyError, TypeError, ValueError):
        timeout = 0.0
    if timeout <= 0:
        raise OptionError(
            f"graphflow.gang.timeout is {configured!r} in Dask's configuration; give a time like '30s'"
        )
    program = _Program(loop, args, timeout, alone, idle)
    result = None if meta is None else Empty(meta)
    expr = Gang(_parts(shards), name or funcname(loop), program, result)
    if expr.npartitions > 1:
        plugins.keep_gangs()
    return delayed_parts(expr) if meta is None else collection(expr)


def threads() -> int:
    """Return how many threads the member that asks may use: its share of its process'."""
    return placement.task_threads(getattr(_here, "members", 1))


def _parts(shards: Any) -> Any:
    if isinstance(shards, Reads):
        return shards
    if isinstance(shards, Sequence):
        if not shards or not all(isinstance(shard, Delayed) for shard in shards):
            raise OptionError(
                f"shards is a list of {len(shards)}; give a Dask frame, or a list of Delayed objects"
            )
        return Parts(shards)
    return Resident.of(shards.expr) or shards.expr


class _Apart:
    """A shard whose member is no task of a worker, and so does not run by itself."""

    def __init__(self, shard: Any) -> None:
        self.shard = shard
        self._parts: Future[list[Any]] = Future()
        self._running = threading.Lock()

    def __getstate__(self) -> Any:
        return self.shard

    def __setstate__(self, shard: Any) -> None:
        self.__init__(shard)  # type: ignore[misc]

    def all(self, run: Callable[[], list[Any]]) -> list[Any]:
        """Return the parts of all members. The first caller runs them; if that fails, all callers fail."""
        with self._running:
            if not self._parts.done():
                try:
                    self._parts.set_result(run())
                except BaseException as error:
                    self._parts.set_exception(error)
        return self._parts.result()


@dataclass(frozen=True)
class _Program:
    """What the tasks of :class:`.gang_expr.Gang` do."""

    loop: Loop
    args: tuple[Any, ...]
    timeout: float
    alone: bool
    idle: Any

    def only(self, shard: Any) -> Any:
        (channel,) = in_process(1)
        _here.members = 1
        return self.loop(channel, shard, 0, *self.args)

    def member(self, shard: Any, gang: str, rank: int, size: int) -> Any:
        worker = _worker((gang, rank))
        if worker is None:
            return _Apart(shard)
        size = _members(shard, size)
        if rank >= size:
            return self.idle
        if size == 1:
            return self.only(shard)
        from .membership import joined

        with joined(worker, gang, rank, size, self.timeout, self.alone) as (channel, members):
            _here.members = members
            return self.loop(channel, shard, rank, *self.args)

    def end(self, member: Any) -> _Apart | None:
        return member if isinstance(member, _Apart) else None

    def part(self, member: Any, ends: list[_Apart | None], rank: int) -> Any:
        apart = [end for end in ends if end is not None]
        if not apart:
            return member
        shards = [end.shard for end in apart]
        del shards[_members(shards[0], len(shards)) :]
        parts = apart[0].all(lambda: _together(self.loop, shards, self.args))
        return parts[rank] if rank < len(shards) else self.idle


def _members(shard: Any, size: int) -> int:
    return shard.members if isinstance(shard, Subset) else size


def _worker(key: Any) -> Any:
    """Return the worker whose task of this key the thread that asks is running, or None.

    A task may compute something with another scheduler, whose tasks see its worker.
    """
    distributed = sys.modules.get("distributed")  # who is in a worker has imported it
    if distributed is None:
        return None
    try:
        worker = distributed.get_worker()
        return worker if worker.get_current_task() == key else None
    except (KeyError, ValueError):  # no thread of a task; no worker
        return None


def _together(loop: Loop, shards: list[Any], args: tuple[Any, ...]) -> list[Any]:
    """Run all members as threads; return their parts."""

    def member(channel: Channel) -> Any:
        _here.members = len(shards)
        try:
            part = loop(channel, shards[channel.rank], channel.rank, *args)
        except BaseException as error:
            channel.abort(error)
            raise
        channel.close()
        return part

    channels = in_process(len(shards))
    with ThreadPoolExecutor(len(shards), "graphflow-gang") as pool:
        members = [pool.submit(member, channel) for channel in channels]
        try:
            errors = [error for one in members if (error := one.exception()) is not None]
        except BaseException as stop:  # of the thread that waits: the members are to end too
            for channel in channels:
                channel.abort(stop)
            raise
    # The others only say that they lost the one that failed.
    for error in sorted(errors, key=lambda error: isinstance(error, PeerLost)):
        raise error
    return [one.result() for one in members]
