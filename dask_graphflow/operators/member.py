"""A member: what operators see of a graph, in one process of a gang.

It has the rows of its part of the graph, mirrors of other members' vertices, and the exchange of messages.
Algorithms see a :class:`.GraphView` instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.comm.mirrors import Mirrors
from dask_graphflow.comm.peers import SharedMemory
from dask_graphflow.graph import build, numbering, stored
from dask_graphflow.graph.local_rows import Local
from dask_graphflow.graph.offsets import offsets_of
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import index_dtype, is_on_disk
from dask_graphflow.kernels.csr import Rows


class Member:
    """One member's part of a graph, and its connection to the other members.

    Parameters
    ----------
    shard : Shard
    exchange : Exchange
    threads : int
        Host threads to use.
    reverse : bool
        Whether edges are followed backwards.

    Attributes
    ----------
    alone : bool
        Whether this is the only member, and its vertices are in the order of their numbers. Then there are
        no mirrors, and rounds send nothing.
    """

    def __init__(self, shard: Shard, exchange: Exchange, threads: int, reverse: bool) -> None:
        self.shard, self.exchange, self.threads, self.reverse = shard, exchange, threads, reverse
        self.alone = exchange.size == 1 and shard.placed is None
        self._memory: SharedMemory | None = None
        self._all_rows: dict[str, Rows] = {}

    def shared_memory(self) -> SharedMemory | None:
        """Return the memory that the members' devices share, if they do. All members call it."""
        shard = self.shard
        if not shard.on_device or shard.placed is not None:
            return None
        if self._memory is None:
            self._memory = self.exchange.shared_memory(shard.bounds, able=not shard.linked)
        return self._memory

    def side(self, side: str) -> str:
        """Return the name of the shard's rows for the edges that leave ("out") or enter ("into")."""
        if not self.shard.directed:
            return "out"
        return ("into" if side == "out" else "out") if self.reverse else side

    def rows(self, side: str = "out") -> Any:
        """Return the rows of the edges that leave ("out") or enter ("into") owned vertices.

        Their other ends are vertex numbers (places in a hybrid graph) of all members. All members call it.
        """
        if self.side(side) == "out":
            return self.shard.here(stored.OUT, self.shard.out)
        return build.into(self.shard, self.exchange)

    @property
    def alone_in_memory(self) -> bool:
        """Whether this is the only member, and its rows are in host memory: then one thread can see all."""
        if not self.alone or self.shard.on_device:
            return False
        return not is_on_disk(self.rows("out").ends)

    def has_rows(self, side: str) -> bool:
        """Return whether :meth:`rows` of a side have been made."""
        return self.shard.has(self.side(side))

    def local(self, side: str = "out") -> Local:
        """Return the same rows by positions: owned vertices, then mirrors. All members call it."""
        which = self.side(side)
        if which == "into":
            build.into(self.shard, self.exchange)
        return self.shard.local(which, self.threads)

    def all_rows(self, side: str = "out") -> Rows:
        """Return the rows of the vertices of all members, by number. All members call it.

        Several members copy the rows of each other once, without weights, and keep the copies as long as
        this object.
        """
        if self.alone:
            alone: Rows = self.local(side).rows
            return alone
        which = self.side(side)
        if which not in self._all_rows:
            own, dtype = self.rows(side), index_dtype(self.shard.size)
            ends = self.exchange.all_gather(own.ends.astype(dtype, copy=False))
            degrees = np.concatenate(self.exchange.all_gather(np.diff(own.offsets)))
            self._all_rows[which] = Rows(offsets_of(degrees), np.concatenate(ends), None, 0)
        return self._all_rows[which]

    def mirrors(self, side: str = "out") -> Mirrors:
        """Return the mirrors in these rows. All members call it."""
        return numbering.mirrors(self.shard, self.exchange, self.side(side), self.threads)
