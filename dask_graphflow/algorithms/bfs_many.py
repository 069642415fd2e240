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

from dask_graphflow.dataflow.exchange import Exchange, Vote
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import index_dtype, twin
from dask_graphflow.operators.advance import RULES, Step, superstep
from dask_graphflow.operators.advance import direction as choose
from dask_graphflow.operators.frontier import Frontier

from .many import Together
from .naming import mirrors
from .sharing import into

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
    degrees = np.diff(shard.out.offsets)
    search = _Search(shard, exchange, degrees, threads)
    frontier = search.begin(sources)
    total = exchange.agree(Vote(len(frontier), frontier.edges(degrees), len(shard.out.ends)))
    unexplored = edges = total.whole
    steps: list[dict[str, Any]] = []
    last = None
    exchange.take_traffic()  # what it took so far is no superstep's
    while total.active and len(steps) != depth_limit:
        began = time.perf_counter()
        way = rule
        if rule in RULES:
            whole: Any = Together(shard.size, total.active, total.edges)
            how: dict[str, Any] = {"last": last, "unexplored": unexplored}
            way = choose(whole, degrees, total=edges, rule=rule, **how)
        last = Step(way, total.active, total.edges, 0, 0, 0)
        step = search.push if way == "push" else search.pull
        frontier, total = step(frontier, len(steps) + 1)
        unexplored -= last.edges
        steps.append(superstep(way, last.frontier, last.edges, time.perf_counter() - began))
    return search.level[: shard.owned], search.predecessor[: shard.owned], steps


class _Search:
    """A member's part in a search: what is known of its vertices and of its mirrors."""

    def __init__(self, shard: Shard, exchange: Exchange, degrees: Any, threads: int) -> None:
        self._shard, self._exchange = shard, exchange
        self._degrees, self._threads = degrees, threads
        self._local = local = shard.local("out", threads)
        self._mirrors = mirrors(shard, exchange, threads=threads)
        self._kernels = twin("bfs", local.rows.ends)
        dtype = np.dtype(index_dtype(shard.size))
        self.level = np.full(local.size, self._kernels.UNSEEN, "int32")
        self.predecessor = np.full(local.size, np.iinfo(dtype).max, dtype)
        self._seen = np.zeros(-(-local.size // 64), "uint64")
        self._rows: Any = None

    def begin(self, sources: Any) -> Frontier:
        """Return the first frontier."""
        self.level[sources], self.predecessor[sources] = 0, -1
        frontier = Frontier(self._shard.owned, vertices=sources.astype(self._local.rows.ends.dtype))
        self._kernels.mark_seen(self._seen, frontier.vertices)
        return frontier

    def push(self, frontier: Frontier, depth: int) -> tuple[Frontier, Vote]:
        """Push from a frontier; return the next one, and what all members have to do."""
        owned, found = self._shard.owned, self._along(frontier, depth)
        mine = found < owned
        dirty = np.sort(found[~mine])
        following = Frontier(owned, vertices=found[mine])
        # Where nobody has told another one anything, this round's vote says all.
        vote = Vote(len(following), following.edges(self._degrees), len(dirty))
        self._mirrors.gather(self.predecessor, dirty - owned, vote)
        new = [following.vertices]

        def apply(at: Any, values: Any) -> None:
            fresh = at[self.level[at] < 0]
            self.level[fresh] = depth
            self._kernels.mark_seen(self._seen, fresh)
            new.append(fresh)
            now = self.level[at] == depth
            at = at[now]
            self.predecessor[at] = np.minimum(self.predecessor[at], values[now])

        total = self._mirrors.receive(apply)
        if len(new) > 1:
            following = Frontier(owned, vertices=np.concatenate(new))
        return following, self._agree(following) if total.whole else total

    def pull(self, frontier: Frontier, depth: int) -> tuple[Frontier, Vote]:
        """Pull from a frontier; the same as :meth:`push`."""
        if self._rows is None:
            self._rows = self._entering()
        words, _ = self._exchange.bitmap(frontier.words)
        following = np.zeros_like(frontier.words)
        state = (self._seen, self.predecessor, self.level, depth)
        self._kernels.bfs_pull(self._rows, words, following, *state, threads=self._threads)
        new = Frontier(self._shard.owned, words=following)
        return new, self._agree(new)

    def _along(self, frontier: Frontier, depth: int) -> Any:
        """Return the vertices, masters and mirrors, that a push is the first to find."""
        rows, kernels = self._local.rows, self._kernels
        if not len(frontier):
            return frontier.vertices
        state = (self._seen, self.predecessor, self.level, depth)
        if frontier.edges(self._degrees) <= kernels.FEW:
            found, _, _ = kernels.bfs_near(
                rows, frontier.vertices, *state, levels=1, dense=(0, 0, False)
            )
        else:
            found = kernels.bfs_push(rows, frontier.vertices, *state, threads=self._threads)
            kernels.mark_seen(self._seen, found)
        self.predecessor[found] += self._shard.low
        return found

    def _entering(self) -> Any:
        """Return rows of what enters this member's vertices, by their own numbers at one end."""
        rows = into(self._shard, self._exchange)
        # Half the vertices of a power-law graph have no edge. They are passed over as seen.
        empty = np.packbits(rows.offsets[1:] == rows.offsets[:-1], bitorder="little")
        self._seen.view("uint8")[: len(empty)] |= empty
        return rows._replace(first=0)

    def _agree(self, frontier: Frontier) -> Vote:
        return self._exchange.agree(Vote(len(frontier), frontier.edges(self._degrees)))
