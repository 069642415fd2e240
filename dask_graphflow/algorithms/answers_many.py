"""Answers of the members of a gang: each has the frame of its own vertices."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.dataflow import gang
from dask_graphflow.dataflow.channel import Channel
from dask_graphflow.dataflow.exchange import Exchange, Traffic
from dask_graphflow.dataflow.progress import Progress
from dask_graphflow.graph.shard import Shard
from dask_graphflow.operators.advance import telling

from .answers import Answer, frame_of, steps_frame
from .naming import names_of, occurs

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
    exchange = Exchange(channel, device=shard.on_device)
    with progress.listening() if rank == 0 else nullcontext() as tell:

        def note(row: dict[str, Any]) -> None:
            row |= _spent(exchange.take_traffic(), row["seconds"])
            if tell is not None:
                tell(row)

        with telling(note if trace or tell is not None else None):
            answer = work(shard, exchange, gang.threads(), *arguments)
    among = occurs(shard, exchange) if answer.among is None else answer.among
    chosen = np.flatnonzero(among)
    named = partial(names_of, shard, exchange)
    found = frame_of(answer, chosen, shard.low, dtypes, named, shard.like)
    return [found, steps_frame(answer.steps, rank)] if trace else found


def _spent(traffic: Traffic, seconds: float) -> dict[str, Any]:
    """Return what a superstep's seconds were spent on, and the bytes sent."""
    communicate = traffic.packing + traffic.sending + traffic.unpacking
    return {
        "compute": seconds - communicate - traffic.waiting,
        "communicate": communicate,
        "wait": traffic.waiting,
        "bytes": sum(traffic.sent.values()),
    }
