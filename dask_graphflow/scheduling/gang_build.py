"""Work on the partitions of a frame by a gang: each member has some of them, and a part of what is made.

::

    read       each partition, into what is made use of
    pieces     a member's: partitions that follow on each other, where they were read
    run        a gang, which makes of each member's pieces a shard, that may be kept, or a part of a result

Another gang runs beside shards that are kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dask.base import tokenize
from dask.delayed import delayed

from . import gang, plugins
from .gathered import parts_of
from .names import pinned

__all__ = ["run"]


def run(
    frame: Any,
    read: Callable[[Any, int], Any],
    loop: gang.Loop,
    members: int,
    meta: Any,
    *args: Any,
    name: str,
    alone: bool = False,
    workers: Sequence[str] | None = None,
) -> Any:
    """Return, lazily, what a gang makes of a frame: a part a member.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame or Held
    read : callable
        Takes a partition and its number.
    loop : callable
        What a member does; its shard is the list of what `read` returned of its partitions, in order. It
        stays as it is: a member that is run again is given the same one.
    members : int
        At most as many as the frame has partitions.
    meta, *args, name, alone
        As of :func:`.gang.run`, and so is what is returned.
    workers : sequence of str, optional
        The address of the worker that each member is to run on, with what it reads; with that worker gone
        it runs elsewhere.
    """
    name_of_frame, parts = parts_of(frame)
    token = tokenize(name_of_frame, read)
    together = tokenize(token, members)
    cuts = [len(parts) * i // members for i in range(members + 1)]
    if workers is not None:
        plugins.keep_pins()
    mine = []
    for rank, (low, high) in enumerate(itertools.pairwise(cuts)):
        at = None if workers is None else workers[rank]
        own = parts[low:high]
        take: Callable[[list[Any]], list[Any]] = list
        if alone:  # a device has no use for tasks beside each other
            take = partial(_each, read, low)
        else:
            name_of_read = f"{pinned('graph-read', at)}-{token}"
            own = [
                delayed(read)(part, i, dask_key_name=(name_of_read, i))
                for i, part in enumerate(own, low)
            ]
        key = f"{pinned('graph-pieces', at)}-{together}", rank
        mine.append(delayed(take)(own, dask_key_name=key))
    return gang.run(mine, loop, meta, *args, name=name, alone=alone)


def _each(read: Callable[[Any, int], Any], first: int, parts: list[Any]) -> list[Any]:
    return [read(part, i) for i, part in enumerate(parts, first)]
