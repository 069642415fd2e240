"""Work on the partitions of a frame by a gang: each member has some of them, and a part of what is made.

::

    read       each partition, into what is made use of
    pieces     a member's: partitions that follow on each other, where they were read
    run        a gang, which makes of each member's pieces a shard, that may be kept, or a part of a result

Another gang runs beside shards that are kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

from dask.base import tokenize
from dask.delayed import delayed

from . import gang

__all__ = ["run"]


def run(
    frame: Any,
    read: Callable[[Any], Any],
    loop: gang.Loop,
    members: int,
    meta: Any,
    *args: Any,
    name: str,
    alone: bool = False,
) -> Any:
    """Return, lazily, what a gang makes of a frame: a part a member.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    read : callable
        Takes a partition.
    loop : callable
        What a member does; its shard is the list of what `read` returned of its partitions, in order. It
        stays as it is: a member that is run again is given the same one.
    members : int
        At most as many as the frame has partitions.
    meta, *args, name, alone
        As of :func:`.gang.run`, and so is what is returned.
    """
    token = tokenize(frame.expr._name, read)
    parts = frame.to_delayed()
    take: Callable[[list[Any]], list[Any]] = list
    if alone:  # a device has no use for tasks beside each other
        take = partial(_each, read)
    else:
        parts = [
            delayed(read)(part, dask_key_name=(f"graph-read-{token}", i))
            for i, part in enumerate(parts)
        ]
    cuts = [len(parts) * i // members for i in range(members + 1)]
    mine = [
        delayed(take)(parts[low:high], dask_key_name=(f"graph-pieces-{token}-{members}", i))
        for i, (low, high) in enumerate(itertools.pairwise(cuts))
    ]
    return gang.run(mine, loop, meta, *args, name=name, alone=alone)


def _each(read: Callable[[Any], Any], parts: list[Any]) -> list[Any]:
    return [read(part) for part in parts]
