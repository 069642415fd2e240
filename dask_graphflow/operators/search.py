"""Search: each unreached vertex is claimed by the smallest of its neighbors in the frontier.

A push follows the edges that leave the frontier. A mirror keeps the smallest claim and sends it to its
owner, at most once. In a pull, every unreached vertex checks its neighbors in ascending order, and the
first one in the frontier claims it; the frontier is sent to all members as a bitmap of V / 8 bytes
(Gemini [1]_). Both give the same claims.

A small level takes as long as its round of messages, so a deep search does not process small levels one by
one. A single member pushes several of them in one call. Several members continue with shortest paths along
edges of weight 1, in which every member goes as far as it can before each round (:mod:`.buckets`). The
claims are then derived from the levels.

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Totals
from dask_graphflow.kernels import kernels_of
from dask_graphflow.kernels.csr import Reached

from .buckets import relax_steps
from .direction import Direction
from .predecessors import predecessors
from .vertex_set import VertexSet
from .view import Frontier, GraphView

__all__ = ["Search"]

DEEP = 8  # number of consecutive small levels before several members continue with shortest paths
SMALL = 1 << 15  # maximum number of edges, over all members, that leave a small level
BETWEEN_LOOKS = 64  # maximum number of levels per call, if there are targets to check for


class Search:
    """One member's part of a search. All members run the same steps.

    Parameters
    ----------
    g : GraphView
    sources : array of integers
        Positions of the sources that this member owns, each once.
    targets : array of integers, optional
        Positions of the targets that this member owns. Either all members pass targets, or none does.

    Attributes
    ----------
    frontier : Frontier
        The vertices reached in the last level.
    reached_targets : bool
        Whether there are targets, and all of them were reached.
    depth : int
        Number of completed levels.
    """

    def __init__(self, g: GraphView, sources: Any, targets: Any = None) -> None:
        self._g, self._targets, local = g, targets, g.local("out")
        self._rows = local.rows
        if g.shard.on_device:  # its kernels need the same dtype for ends and for claims
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
        self._go_on(vertices=sources)

    @property
    def level(self) -> Any:
        """Level of each owned vertex: array of int32, shape (V_p,); -1 if it was not reached."""
        return self._level[: self._g.owned]

    def run(self, rule: str, limit: int | None = None) -> None:
        """Search until no more vertices are reached, or all targets were.

        Parameters
        ----------
        rule : {"gemini", "beamer", "push", "pull"}
            When to pull; see :class:`.Direction`.
        limit : int, optional
            Maximum number of levels.
        """
        direction, small = Direction(rule, self._g), 0
        while self.frontier and not self.reached_targets and self.depth != limit:
            if direction.choose(self.frontier) == "pull":
                self.pull()
                continue
            small = small + 1 if self.frontier.leaving <= SMALL else 0
            if self._mirrors is not None and small > DEEP:
                self._finish(limit)
            else:
                self.push(direction, limit)

    def push(self, rule: Direction, limit: int | None = None) -> None:
        """Push from the frontier.

        Parameters
        ----------
        rule : Direction
            The rule that chose "push" for the frontier. A single member continues to push while the rule
            does, and while few edges leave the frontier.
        limit : int, optional
            Maximum number of levels.
        """
        if self._mirrors is None:
            self._push_alone(rule, limit)
            return
        g, frontier = self._g, self.frontier
        self.depth += 1
        reached = Reached(self._seen, self._claim, self._level)
        state = reached, self.depth, g.degrees
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
            totals = len(found), leaving, len(dirty), self._missing()
            self._mirrors.reduce(self._claim, dirty - g.owned, totals)
            new, edges = [found], [leaving]

            def claim(at: Any, values: Any) -> None:
                fresh, more = self._search.take_offers(self._rows, at, values, *state)
                new.append(fresh)
                edges.append(more)

            total = self._mirrors.receive(claim)
            found = np.concatenate(new) if len(new) > 1 else found
            self._go_on(vertices=found, leaving=sum(edges), total=None if total.sums[2] else total)

    def pull(self) -> None:
        """Pull from the frontier to all unreached vertices."""
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
            reached = Reached(self._seen, self._claim, self._level)
            state = words, following, reached, self.depth
            self._search.bfs_pull(self._into, *state, threads=g.threads)
            _, leaving = self._search.tally(following, self._rows, g.degrees)
            self._go_on(words=following, leaving=leaving)

    def claims(self) -> Any:
        """Return the vertex that claimed each owned vertex.

        Returns
        -------
        array of index, shape (V_p,)
            Vertex numbers; -1 for sources, and the dtype's maximum for vertices that were not reached.
        """
        g, found = self._g, self._claim[: self._g.owned]
        if self._names is not None and self._pulled:  # pulls find places instead of numbers
            # Indexed by level. The last entry, which level -1 (not reached) selects too, stays False.
            pulled = np.zeros_like(self._level, bool, shape=max(self._pulled) + 2)
            pulled[self._pulled] = True
            at = np.flatnonzero(pulled[np.minimum(self.level, max(self._pulled) + 1)])
            found[at] = g.shard.numbers_at(found[at], g.threads)
        return found

    def _finish(self, limit: int | None) -> None:
        """Compute all remaining levels by shortest paths along edges of weight 1."""
        g, owned = self._g, self._g.owned
        distance = np.where(self._level < 0, np.inf, 0.0)
        cutoff = math.inf if limit is None else float(min(limit - self.depth, g.size))
        relaxed = relax_steps(g, distance, self.frontier.vertices, cutoff, self._targets)
        # The results for mirrors and for vertices beyond the targets are not needed any more.
        claims, distance = predecessors(g, relaxed), distance[:owned]
        found = np.flatnonzero((distance > 0) & np.isfinite(distance))
        self._level[found] = self.depth + distance[found]
        self._claim[found] = claims[found]
        self.depth += int(g.largest(distance[found]))
        self._go_on(vertices=found[:0])

    def _push_alone(self, rule: Direction, limit: int | None) -> None:
        g, frontier, began = self._g, self.frontier, time.perf_counter()
        state = Reached(self._seen, self._claim, self._level), self.depth + 1
        if frontier.leaving <= self._search.FEW:
            levels = (g.size if limit is None else limit) - self.depth
            found, sizes, edges = self._search.bfs_near(
                self._rows,
                frontier.vertices,
                *state,
                levels=levels if self._targets is None else min(levels, BETWEEN_LOOKS),
                dense=rule.limits(frontier),
            )
            rule.pushed(sizes, edges)
            self.depth += len(sizes)
            self._go_on(vertices=found)
            g.fused("push", sizes, edges, time.perf_counter() - began)
        else:
            self.depth += 1
            with g.superstep("push", len(frontier), frontier.leaving):
                found = self._search.bfs_push(
                    self._rows, frontier.vertices, *state, threads=g.threads
                )
                self._search.mark_seen(self._seen, found)
                self._go_on(vertices=found)

    def _go_on(
        self,
        *,
        vertices: Any = None,
        words: Any = None,
        leaving: int | None = None,
        total: Totals | None = None,
    ) -> None:
        """Set the next frontier, and whether all targets were reached.

        Parameters
        ----------
        vertices, words : array
            This member's part of the frontier; see :class:`.VertexSet`.
        leaving : int, optional
            Number of edges that leave the vertices, if known.
        total : Totals, optional
            The sums over all members, if known: the vertices of the frontier, the edges that leave them
            and, as the last sum, the targets that were not reached.
        """
        own = VertexSet(self._g.owned, vertices=vertices, words=words)
        if total is None:
            leaving = own.edges(self._g.degrees) if leaving is None else leaving
            total = self._g.all_reduce(sums=(len(own), leaving, self._missing()))
        self.frontier = Frontier(own, *total.sums[:2])
        self.reached_targets = self._targets is not None and not total.sums[-1]

    def _missing(self) -> int:
        """Return how many targets of this member have not been reached."""
        return 0 if self._targets is None else int((self._level[self._targets] < 0).sum())

    def _incoming(self) -> Any:
        """Return the rows of incoming edges, with rows in the order of positions."""
        g, rows = self._g, self._g.rows("into")
        # Half the vertices of a power-law graph have no edge. They are marked as seen, to be skipped.
        empty = g.shard.kept(f"not entered {g._side('into')}", lambda: _empty(rows.offsets))
        self._seen.view("uint8")[: len(empty)] |= empty
        return rows._replace(first=0)


def _empty(offsets: Any) -> Any:
    """Return a bitmap, in bytes, of the rows without an end."""
    return np.packbits(offsets[1:] == offsets[:-1], bitorder="little")
