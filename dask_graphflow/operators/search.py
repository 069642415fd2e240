"""Search: each unreached vertex is claimed by the smallest of its neighbors in the frontier.

A push goes along the edges that leave the frontier. A mirror keeps the smallest claim and sends it to its
owner, at most once. In a pull, every unreached vertex looks at its neighbors in ascending order, and the
first one in the frontier claims it; the frontier is sent to all members as a bitmap, V / 8 bytes (Gemini
[1]_). Both give the same claims. A single member pushes several small levels in one call.

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphflow.kernels import kernels_of

from .direction import Direction
from .view import GraphView

__all__ = ["Search"]


class Search:
    """One member's part of a search. All members do the same steps.

    Parameters
    ----------
    g : GraphView
    sources : array of integers
        Positions of the sources that this member owns, each once.

    Attributes
    ----------
    frontier : Frontier
        Vertices that were reached last.
    depth : int
        Number of levels done.
    """

    def __init__(self, g: GraphView, sources: Any) -> None:
        self._g, local = g, g.local("out")
        self._rows = local.rows
        if g.shard.on_device:  # whose kernels have one type for ends and for claims
            self._rows = local.rows._replace(ends=local.rows.ends.astype(g.index, copy=False))
        self._search = kernels_of("search", self._rows.ends)
        self._mirrors = None if g.alone else g.mirrors("out")
        self._level = g.column(-1, "int32", local.size)
        self._claim = g.column(np.iinfo(g.index).max, g.index, local.size)
        self._seen = g.column(0, "uint64", -(-local.size // 64))
        self._names = None if g.shard.placed is None else g.numbers
        self._into: Any = None
        self._pulled: list[int] = []
        self.depth = 0
        sources = sources.astype(self._rows.ends.dtype)
        self._level[sources], self._claim[sources] = 0, -1
        self._search.mark_seen(self._seen, sources)
        self.frontier = g.frontier(sources)

    @property
    def level(self) -> Any:
        """Level of each owned vertex: array of int32, shape (V_p,); -1 if it was not reached."""
        return self._level[: self._g.owned]

    def run(self, rule: str, limit: int | None = None) -> None:
        """Search until no more vertices are reached.

        Parameters
        ----------
        rule : {"gemini", "beamer", "push", "pull"}
            When to pull; see :class:`.Direction`.
        limit : int, optional
            Maximum number of levels.
        """
        direction = Direction(rule, self._g)
        while self.frontier and self.depth != limit:
            if direction.choose(self.frontier) == "push":
                self.push(direction, limit)
            else:
                self.pull()

    def push(self, rule: Direction, limit: int | None = None) -> None:
        """Push from the frontier.

        Parameters
        ----------
        rule : Direction
            It chose "push" for the frontier. A single member goes on pushing while the rule does and few
            edges leave the frontier.
        limit : int, optional
            Maximum number of levels.
        """
        if self._mirrors is None:
            self._push_alone(rule, limit)
            return
        g, frontier = self._g, self.frontier
        self.depth += 1
        state = self._seen, self._claim, self._level, self.depth, g.degrees
        with g.superstep("push", len(frontier), frontier.leaving):
            vertices = frontier.vertices.astype(self._rows.ends.dtype, copy=False)
            assert frontier.own is not None
            found, leaving, dirty = self._search.reach(
                self._rows,
                vertices,
                *state,
                edges=frontier.own.edges(g.degrees),
                low=g.shard.low,
                names=self._names,
                threads=g.threads,
            )
            # If no member found a mirror, these totals are final.
            self._mirrors.reduce(self._claim, dirty - g.owned, (len(found), leaving, len(dirty)))
            new, edges = [found], [leaving]

            def claim(at: Any, values: Any) -> None:
                fresh, more = self._search.take_offers(self._rows, at, values, *state)
                new.append(fresh)
                edges.append(more)

            total = self._mirrors.receive(claim)
            found = np.concatenate(new) if len(new) > 1 else found
            self.frontier = g.frontier(
                found, leaving=sum(edges), total=None if total.sums[2] else total
            )

    def pull(self) -> None:
        """Pull from the frontier into all unreached vertices."""
        g, frontier = self._g, self.frontier
        self.depth += 1
        self._pulled.append(self.depth)
        with g.superstep("pull", len(frontier), frontier.leaving):
            if self._into is None:
                self._into = self._incoming()
            assert frontier.own is not None
            words = frontier.own.words
            following = np.zeros_like(words)
            if not g.alone:
                words = np.concatenate(g.exchange.all_gather(words))
            state = self._seen, self._claim, self._level, self.depth
            self._search.bfs_pull(self._into, words, following, *state, threads=g.threads)
            _, leaving = self._search.tally(following, self._rows, g.degrees)
            self.frontier = g.frontier(words=following, leaving=leaving)

    def claims(self) -> Any:
        """Return the vertex that claimed each owned one.

        Returns
        -------
        array of index, shape (V_p,)
            Vertex numbers; -1 for sources, and the dtype's maximum for vertices that were not reached.
        """
        g, found = self._g, self._claim[: self._g.owned]
        if self._names is not None and self._pulled:  # pulls find places, not numbers
            # By level; -1, of what was not reached, is the last one.
            pulled = np.zeros_like(self._level, bool, shape=max(self._pulled) + 2)
            pulled[self._pulled] = True
            at = np.flatnonzero(pulled[np.minimum(self.level, max(self._pulled) + 1)])
            found[at] = g.shard.numbers_at(found[at], g.threads)
        return found

    def _push_alone(self, rule: Direction, limit: int | None) -> None:
        g, frontier, began = self._g, self.frontier, time.perf_counter()
        state = self._seen, self._claim, self._level, self.depth + 1
        if frontier.leaving <= self._search.FEW:
            found, sizes, edges = self._search.bfs_near(
                self._rows,
                frontier.vertices,
                *state,
                levels=(g.size if limit is None else limit) - self.depth,
                dense=rule.limits(frontier),
            )
            rule.pushed(sizes, edges)
            self.depth += len(sizes)
            self.frontier = g.frontier(found)
            g.fused("push", sizes, edges, time.perf_counter() - began)
        else:
            self.depth += 1
            with g.superstep("push", len(frontier), frontier.leaving):
                found = self._search.bfs_push(
                    self._rows, frontier.vertices, *state, threads=g.threads
                )
                self._search.mark_seen(self._seen, found)
                self.frontier = g.frontier(found)

    def _incoming(self) -> Any:
        """Return the rows of incoming edges, by positions at one end."""
        g, rows = self._g, self._g.rows("into")
        # Half the vertices of a power-law graph have no edge. They are passed over as seen.
        empty = g.shard.kept(f"not entered {g._side('into')}", lambda: _empty(rows.offsets))
        self._seen.view("uint8")[: len(empty)] |= empty
        return rows._replace(first=0)


def _empty(offsets: Any) -> Any:
    """Return a bitmap, in bytes, of the rows without an end."""
    return np.packbits(offsets[1:] == offsets[:-1], bitorder="little")
