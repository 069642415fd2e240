"""Answers of the members of a gang: each has the frame of its own vertices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange, Traffic
from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.graph.numbering import names_of, occurs
from dask_graphflow.graph.restore_ids import homeward
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import no_room_on_device
from dask_graphflow.operators.advance import telling
from dask_graphflow.scheduling import gang, placement
from dask_graphflow.scheduling.progress import Progress

from .algorithm import Answer, OrNull
from .answers import frame_of, steps_frame

__all__ = ["answered_many"]


def answered_many(
    channel: Channel,
    shard: Shard,
    rank: int,
    *arguments: Any,
    work: Callable[..., Answer],
    dtypes: dict[str, Any],
    trace: bool,
    progress: Progress,
) -> Any:
    """Run an algorithm as a member; return the frame of its vertices, and with `trace` the steps too.

    `work` takes the :class:`Shard`, the :class:`Exchange`, the number of threads and `arguments`; its
    columns are of the shard's own vertices, and name others by their numbers. The first member tells of the
    progress.
    """
    mixed = shard.placed is not None
    if mixed and placement.on_gpu_worker():
        shard = shard.lifted()
    exchange = Exchange(channel, device=shard.on_device, mixed=mixed)
    threads = gang.threads()
    with progress.listening() if rank == 0 else nullcontext() as tell:

        def note(row: dict[str, Any]) -> None:
            row |= _spent(exchange.take_traffic(), row["seconds"])
            if tell is not None:
                tell(row)

        with telling(note if trace or tell is not None else None), _said(shard):
            answer = work(shard, exchange, threads, *arguments)
    among = occurs(shard, exchange) if answer.among is None else answer.among
    if shard.placed is not None:
        columns, vertices = _at_home(shard, exchange, answer, among, threads)
    else:
        chosen = np.flatnonzero(among)
        columns, vertices = answer.of(chosen, threads), chosen + shard.low if shard.low else chosen
    named = partial(names_of, shard, exchange)
    found = frame_of(columns, vertices, dtypes, named, shard.like)
    return [found, steps_frame(answer.steps, rank, linked=shard.linked)] if trace else found


@contextmanager
def _said(shard: Shard) -> Iterator[None]:
    """Say what helps where a device that a shard was lifted to has no room left."""
    try:
        yield
    except GraphMemoryError:
        raise
    except MemoryError as error:
        if shard.host is shard:
            raise
        raise no_room_on_device() from error


def _at_home(
    shard: Shard, exchange: Exchange, answer: Answer, among: Any, threads: int
) -> tuple[dict[str, Any], np.ndarray]:
    """Return an answer's columns for those vertices that this member has the ids of, and their numbers."""
    way = homeward(shard, exchange)
    chosen = np.flatnonzero(way.bring(exchange, among, way.order, threads))
    order = way.order[chosen]

    def home(values: Any) -> Any:
        if isinstance(values, OrNull):
            return OrNull(*map(home, values))
        return way.bring(exchange, values, order, threads)

    columns = {name: home(values) for name, values in answer.columns.items()}
    return columns, chosen + shard.homes[shard.rank]


def _spent(traffic: Traffic, seconds: float) -> dict[str, Any]:
    """Return what a superstep's seconds were spent on, and the bytes sent."""
    communicate = traffic.packing + traffic.sending + traffic.unpacking
    return {
        "compute": seconds - communicate - traffic.waiting,
        "communicate": communicate,
        "wait": traffic.waiting,
        "bytes": sum(traffic.sent.values()),
    }
