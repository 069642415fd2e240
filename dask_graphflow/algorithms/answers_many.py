"""Answers of the members of a gang: each has the frame of its own vertices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.dataflow import gang
from dask_graphflow.dataflow.channel import Channel
from dask_graphflow.dataflow.exchange import Exchange
from dask_graphflow.graph.shard import Shard

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
) -> Any:
    """Run an algorithm as a member; return the frame of its vertices, and with `trace` the steps too.

    `work` takes the :class:`Shard`, the :class:`Exchange`, the number of threads and `arguments`; its
    columns are of the shard's own vertices, and name others by their numbers.
    """
    exchange = Exchange(channel, device=shard.on_device)
    answer = work(shard, exchange, gang.threads(), *arguments)
    among = occurs(shard, exchange) if answer.among is None else answer.among
    chosen = np.flatnonzero(among)
    named = partial(names_of, shard, exchange)
    found = frame_of(answer, chosen, shard.low, dtypes, named, shard.like)
    return [found, steps_frame(answer.steps)] if trace else found
