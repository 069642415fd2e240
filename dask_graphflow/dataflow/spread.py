"""Work on the partitions of a frame by a gang: each member has some of them, and a part of what is made.

::

    read       each partition, into what is built of it
    pieces     a member's: partitions that follow on each other, where they were read
    build      a gang, which makes a shard of each member's pieces, and which may be kept
    run        another one, with a member beside each shard: a part of the result each
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from dask.base import tokenize
from dask.delayed import Delayed, delayed

from . import gang

__all__ = ["build"]


def build(
    frame: Any,
    read: Callable[[Any], Any],
    loop: gang.Loop,
    members: int,
    *args: Any,
    alone: bool = False,
) -> list[Delayed]:
    """Return, lazily, the shards that a gang makes of a frame.

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
    *args
        For `loop`.
    alone : bool
        As of :func:`.gang.run`.
    """
    token = tokenize(frame.expr._name, read)
    parts = frame.to_delayed()
    pieces = [
        delayed(read)(part, dask_key_name=(f"graph-read-{token}", i))
        for i, part in enumerate(parts)
    ]
    cuts = [len(pieces) * i // members for i in range(members + 1)]
    mine = [
        delayed(list)(pieces[low:high], dask_key_name=(f"graph-pieces-{token}-{members}", i))
        for i, (low, high) in enumerate(itertools.pairwise(cuts))
    ]
    how: dict[str, Any] = {"name": "graph-build", "alone": alone}
    shards: Sequence[Delayed] = gang.run(mine, loop, None, *args, **how)
    return list(shards)
