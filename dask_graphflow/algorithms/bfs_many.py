"""Breadth-first search over the members of a gang: :mod:`.bfs` in several processes, with the same bits.

A push goes along a member's own rows, whose ends are its vertices and *mirrors* of others'. A mirror keeps
the smallest predecessor that was found for it, and sends it to the vertex's owner, once in all. A pull asks
whether neighbours are in the frontier, which is sent to all members as a bitmap, V / 8 bytes (Gemini [1]_);
nothing else is sent then.

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphflow.algorithms._old_advance import RULES, Step, superstep
from dask_graphflow.algorithms._old_advance import direction as choose
from dask_graphflow.comm.exchange import Exchange, Totals
from dask_graphflow.graph.build import into
from dask_graphflow.graph.numbering import mirrors
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import index_dtype, kernels_of
from dask_graphflow.operators.vertex_set import VertexSet as Frontier

from .many import Together

__all__ = ["levels_many"]


def levels_many(
    shard: Shard,
    exchange: Exchange,
    sources: Any,
    *,
    depth_limit: int | None,
    rule: str,
    threads: int,
) -> tuple[Any, Any, list[dict[str, Any]]]:
    """Return the levels and predecessors of a member's vertices, and the supersteps.

    All members call it at once.

    Parameters
    ----------
    shard : Shard
    exchange : Exchange
    sources : ndarray of integers, shape (s,)
        Where to begin: vertices of this member, from 0 to V_p - 1, each once.
    depth_limit, rule
        As of :func:`.bfs.bfs`.
    threads : int
        Host threads to use.

    Returns
    -------
    level : ndarray of int32, shape (V_p,)
        -1 where a vertex was not reached.
    predecessor : ndarray of int32 or int64, shape (V_p,)
        Numbers among all vertices; the dtype's maximum where a vertex was not reached, -1 for sources.
    steps : list of dict
        What each superstep did: the members together, but for the seconds, which are this one's.
    """
    degrees = shard.degrees
    search = _Search(shard, exchange, degrees, threads)
    frontier = search.begin(sources)
    leaving = frontier.edges(degrees)
    total = exchange.all_reduce(sums=(len(frontier), leaving, len(shard.out.ends)))
    unexplored = edges = total.sums[2]
    steps: list[dict[str, Any]] = []
    last = None
    exchange.take_traffic()  # what it took so far is no superstep's
    while total.sums[0] and len(steps) != depth_limit:
        began = time.perf_counter()
        way = rule
        if rule in RULES:
            whole: Any = Together(shard.size, total.sums[0], total.sums[1])
            how: dict[str, Any] = {"last": last, "unexplored": unexplored}
            way = choose(whole, degrees, total=edges, rule=rule, **how)
        last = Step(way, total.sums[0], total.sums[1], 0, 0, 0)
        step = search.push if way == "push" else search.pull
        frontier, leaving, total = step(frontier, leaving, len(steps) + 1)
        unexplored -= last.edges
        steps.append(superstep(way, last.frontier, last.edges, time.perf_counter() - began))
    return search.level[: shard.owned], search.predecessors(), steps


class _Search:
    """A member's part in a search: what is known of its vertices and of its mirrors."""

    def __init__(self, shard: Shard, exchange: Exchange, degrees: Any, threads: int) -> None:
        self._shard, self._exchange = shard, exchange
        self._degrees, self._threads = degrees, threads
        local = shard.local("out", threads)
        self._mirrors = mirrors(shard, exchange, threads=threads)
        self._bfs, self._kernels = (
            kernels_of(name, local.rows.ends) for name in ("search", "members")
        )
        dtype = np.dtype(index_dtype(shard.size))
        # A device's kernels have one type for ends and for predecessors.
        ends, size = local.rows.ends.astype(dtype, copy=False), local.size
        self._leaving = local.rows._replace(ends=ends) if shard.on_device else local.rows
        self.level = np.full_like(ends, self._bfs.UNSEEN, "int32", shape=size)
        self.predecessor = np.full_like(ends, np.iinfo(dtype).max, dtype, shape=size)
        self._seen = np.zeros_like(ends, "uint64", shape=-(-size // 64))
        self._names = None if shard.placed is None else shard.numbers
        self._pulled: list[int] = []
        self._into: Any = None

    def begin(self, sources: Any) -> Frontier:
        """Return the first frontier."""
        self.level[sources], self.predecessor[sources] = 0, -1
        frontier = Frontier(self._shard.owned, vertices=sources.astype(self._leaving.ends.dtype))
        self._bfs.mark_seen(self._seen, frontier.vertices)
        return frontier

    def push(self, frontier: Frontier, edges: int, depth: int) -> tuple[Frontier, int, Totals]:
        """Push from a frontier that so many edges leave.

        Returns
        -------
        Frontier
            The next one.
        int
            The edges that leave it.
        Totals
            What all members have to do.
        """
        owned, dtype = self._shard.owned, self._leaving.ends.dtype
        state = self._seen, self.predecessor, self.level, depth, self._degrees
        how: dict[str, Any] = {"edges": edges, "low": self._shard.low, "names": self._names}
        vertices = frontier.vertices.astype(dtype, copy=False)
        reached = self._kernels.reach(self._leaving, vertices, *state, threads=self._threads, **how)
        found, leaving, dirty = reached
        # Where nobody has told another one anything, this round's vote says all.
        sums = len(found), leaving, len(dirty)
        self._mirrors.reduce(self.predecessor, dirty - owned, sums)
        new, more = [found], [leaving]

        def apply(at: Any, values: Any) -> None:
            fresh, edges = self._kernels.take_offers(self._leaving, at, values, *state)
            new.append(fresh)
            more.append(edges)

        total = self._mirrors.receive(apply)
        following = Frontier(owned, vertices=np.concatenate(new) if len(new) > 1 else found)
        leaving = sum(more)
        if total.sums[2]:
            total = self._exchange.all_reduce(sums=(len(following), leaving))
        return following, leaving, total

    def pull(self, frontier: Frontier, edges: int, depth: int) -> tuple[Frontier, int, Totals]:
        """Pull from a frontier; the same as :meth:`push`."""
        if self._into is None:
            self._into = self._entering()
        self._pulled.append(depth)
        words = np.concatenate(self._exchange.all_gather(frontier.words))
        following = np.zeros_like(frontier.words)
        state = (self._seen, self.predecessor, self.level, depth)
        self._bfs.bfs_pull(self._into, words, following, *state, threads=self._threads)
        count, leaving = self._kernels.tally(following, self._leaving, self._degrees)
        total = self._exchange.all_reduce(sums=(count, leaving))
        return Frontier(self._shard.owned, words=following), leaving, total

    def predecessors(self) -> Any:
        """Return the predecessors of this member's vertices, as numbers among all."""
        owned = self._shard.owned
        found = self.predecessor[:owned]
        if self._names is not None and self._pulled:  # what pulls have found are places
            # By level; -1, of what was not reached, is the last one.
            pulled = np.zeros_like(self.level, bool, shape=max(self._pulled) + 2)
            pulled[self._pulled] = True
            level = np.minimum(self.level[:owned], max(self._pulled) + 1)
            at = np.flatnonzero(pulled[level])
            found[at] = self._shard.numbers_at(found[at], self._threads)
        return found

    def _entering(self) -> Any:
        """Return rows of what enters this member's vertices, by their own numbers at one end."""
        rows = into(self._shard, self._exchange)
        # Half the vertices of a power-law graph have no edge. They are passed over as seen.
        empty = self._shard.kept("not entered", lambda: _empty(rows.offsets))
        self._seen.view("uint8")[: len(empty)] |= empty
        return rows._replace(first=0)


def _empty(offsets: Any) -> Any:
    """Return a bitmap, in bytes, of the rows without an end."""
    return np.packbits(offsets[1:] == offsets[:-1], bitorder="little")
