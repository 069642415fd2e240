"""Gangs: members that run at the same time, each on the worker of its shard, and send each other messages.

With one task per superstep and shard, the scheduler would spend milliseconds on each superstep. Instead, a
member is one task, however many supersteps there are. Dask brings the members together, places them on the
workers of their shards, and runs them again if a worker is lost. The messages between members use their own
:class:`~.channel.Channel`.

On a cluster each member is a task of a worker (:mod:`.membership`), and the scheduler brings the members
together (:mod:`.rendezvous`). With Dask's other schedulers, there may be fewer threads than members, and
nothing guarantees that the members run at the same time: there, all members are threads of one task. The
tasks find out at run time which case applies, so a graph may be computed on another scheduler than the one
it was made for.

A gang with one member is an ordinary Dask task on every scheduler.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import dask
from dask.utils import funcname, parse_timedelta

from dask_graphflow.comm.channel import Channel, PeerLost, in_process
from dask_graphflow.comm.resources import Subset
from dask_graphflow.exceptions import OptionError, UsageError

from . import freeing, placement, plugins
from .clients import own_worker
from .expr import Empty, Resident, collection, fetch_result
from .gang_expr import Dealt, Found, Gang, LocalResults, Parts, Reads, Roster, as_delayed
from .sealed import Sealed

TIMEOUT = "30s"

Loop = Callable[..., Any]
"""The program of a member: takes its channel, shard, rank and the run's arguments; returns its part."""


def run(
    shards: Any,
    loop: Loop,
    meta: Any,
    *args: Any,
    name: str | None = None,
    alone: bool = False,
    idle: Any = None,
) -> Any:
    """Return, lazily, the result of a gang that runs on some shards: one part per shard.

    See :func:`expression` for the arguments, and for what can be raised.

    Returns
    -------
    dask.dataframe.DataFrame, or list of Delayed
        One partition per member, in the order of the shards. A list if `meta` is None.
    """
    expr = expression(shards, loop, meta, *args, name=name, alone=alone, idle=idle)
    return as_delayed(expr) if meta is None else collection(expr)


def expression(
    shards: Any,
    loop: Loop,
    meta: Any,
    *args: Any,
    name: str | None = None,
    alone: bool = False,
    idle: Any = None,
) -> Gang:
    """Return the expression of a gang that runs on some shards, with one partition per shard.

    Parameters
    ----------
    shards : dask.dataframe.DataFrame, list of Delayed, Gang, Reads, Dealt or LocalResults
        A member runs for each partition, each object, each part of another gang, or each list of what is
        read or dealt. Of :class:`.LocalResults`, each member gets a :class:`.Found`.
    loop : callable
        Takes a :class:`~.channel.Channel`, a shard, the member's rank and `args`, and returns the member's
        part. It is run again from the start if another member was lost. It must therefore change only
        objects that it created, and return the same part each time. It must not suppress the channel's
        exceptions.
    meta : DataFrame, Empty or None
        An empty frame like the parts; None if the parts are not frames.
    *args
        They must be picklable, as must `loop`.
    name : str, optional
        The name of the tasks; by default `loop`'s name.
    alone : bool
        Whether the run must have its workers to itself, among all such runs. Runs that share a worker take
        turns, in the order in which their members were complete. This is for GPUs, where collective
        operations of two runs may deadlock. On CPUs, runs share the cores as other tasks do, and a short
        one does not wait for a long one.
    idle : object, optional
        The part of a member for which a :class:`Subset` has no work. It follows from the other arguments,
        and is not part of the result's name.

    Raises
    ------
    OptionError
        The timeout is not a valid time.

    Notes
    -----
    The configuration `graphflow.gang.timeout` (30 s) limits how long members wait for a member that has no
    worker, or whose worker is silent, and how long connecting may take. There is no limit on how long Dask
    takes to prepare the shards, nor on a superstep. Computing the result raises
    :class:`~dask_graphflow.exceptions.WorkerLostError` if a member does not join in that time, or if
    workers are lost three times during one run.
    """
    configured = dask.config.get("graphflow.gang.timeout", TIMEOUT)
    try:
        timeout = _seconds(configured)
    except (KeyError, TypeError, ValueError):
        timeout = 0.0
    if timeout <= 0:
        raise OptionError(
            f"graphflow.gang.timeout is {configured!r} in Dask's configuration; give a time like '30s'"
        )
    program = _Program(Sealed((loop, args, idle)), timeout, alone)
    result = None if meta is None else Empty.of(meta)
    if isinstance(shards, Sequence):
        shards = Parts(shards)
    elif not isinstance(shards, Gang | Reads | Dealt | LocalResults):
        shards = Resident.of(shards.expr) or shards.expr
    expr = Gang(shards, name or funcname(loop), program, result)
    plugins.watch_calls()
    freeing.watch()
    if expr.npartitions > 1:
        plugins.keep_gangs()
    return expr


@lru_cache(maxsize=8)
def _seconds(time: Any) -> float:
    return float(parse_timedelta(time))


class _Apart:
    """A shard whose member is not a task on a worker: another task has to run it."""

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
    """The functions that the tasks of :class:`.gang_expr.Gang` run."""

    work: Sealed  # the loop, its arguments, and the part of a member without work
    timeout: float
    alone: bool

    @property
    def loop(self) -> Loop:
        """The program of a member, which takes its channel, shard and rank."""
        loop, args, _ = self.work.value
        return lambda channel, shard, rank: loop(channel, shard, rank, *args)

    @property
    def idle(self) -> Any:
        """The part of a member for which there is no work."""
        return self.work.value[2]

    def __dask_tokenize__(self) -> Any:
        # Not `idle`, which follows from the rest. Naming a frame takes longer than all of this.
        loop, args, _ = self.work.value
        return loop, args, self.timeout, self.alone

    def only(self, shard: Any) -> Any:
        (channel,) = in_process(1)
        channel.resources = placement.resources()
        plugins.watch_worker()
        return self.loop(channel, shard, 0)

    def ready(self, shard: Any, key: Any) -> _Apart | None:
        return _Apart(shard) if _worker(key) is None else None

    def member(self, shard: Any, ready: list[_Apart], roster: Roster, rank: int) -> Any:
        size = _members(shard, len(roster.shards))
        worker = _worker((roster.name, rank))
        if worker is None:
            if not ready:
                raise UsageError(
                    "the shards are in the memory of a cluster, so only this cluster can compute the "
                    "result; leave out scheduler=, and dask.config.set(scheduler=...)"
                )
            shards = [one.shard for one in ready[:size]]
            if roster.local is not None:  # the first member takes all
                found = [one.shard for one in ready]
                shards = [Found.all(*found), *[Found({}, len(found), found.pop)] * (size - 1)]
            parts = ready[0].all(lambda: _together(self.loop, shards))
            return parts[rank] if rank < size else self.idle
        if rank >= size:
            return self.idle
        if size == 1:
            return self.only(shard)
        from .membership import join_gang

        plugins.watch_worker()
        if roster.local is not None:
            shard = _find_results(worker, roster.local)
        with join_gang(worker, roster, rank, size, self.timeout, self.alone) as (
            channel,
            members,
        ):
            channel.resources = placement.resources(members)
            return self.loop(channel, shard, rank)


def _find_results(worker: Any, keys: list[Any]) -> Found:
    """Return the results that a worker holds, in memory or on disk."""

    def fetch(number: int) -> Any:
        return fetch_result(keys[number])

    here = {i: worker.data[key] for i, key in enumerate(keys) if key in worker.data}
    return Found(here, len(keys), fetch)


def _members(shard: Any, size: int) -> int:
    return shard.members if isinstance(shard, Subset) else size


def _worker(key: Any) -> Any:
    """Return the worker on which the calling thread runs the task with this key, or None.

    The key is checked because a task may compute something with another scheduler, whose tasks also see
    the worker.
    """
    worker = own_worker()
    try:
        return worker if worker is not None and worker.get_current_task() == key else None
    except KeyError:  # the thread runs no task
        return None


def _together(loop: Loop, shards: list[Any]) -> list[Any]:
    """Run all members as threads; return their parts."""

    def member(channel: Channel) -> Any:
        channel.resources = placement.resources(len(shards))
        try:
            part = loop(channel, shards[channel.rank], channel.rank)
        except BaseException as error:
            channel.abort(error)
            raise
        finally:
            channel.close()
        return part

    channels = in_process(len(shards))
    with ThreadPoolExecutor(len(shards), "graphflow-gang") as pool:
        members = [pool.submit(member, channel) for channel in channels]
        try:
            errors = [error for one in members if (error := one.exception()) is not None]
        except BaseException as stop:  # raised in the waiting thread: the members must end, too
            for channel in channels:
                channel.abort(stop)
            raise
    # PeerLost errors only report the loss of the member that failed, so they come last.
    for error in sorted(errors, key=lambda error: isinstance(error, PeerLost)):
        raise error
    return [one.result() for one in members]
