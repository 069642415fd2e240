"""Search: the steps of a breadth-first search.

The parent of an unreached vertex is the smallest of its neighbors in the frontier. A push follows the edges
that leave the frontier. A mirror keeps its smallest parent and sends it to its owner, at most once. In a
pull, every unreached vertex checks its neighbors in ascending order, and the first one in the frontier
becomes its parent; the frontier is sent to all members as a bitmap of V / 8 bytes (Gemini [1]_). Both give
the same parents.

A single member on the host does all levels in one call, by push and by pull. A single device pushes several
small levels in one call. A small level takes as long as its round of messages, so several members do not
process the small levels of a deep search one by one. They continue with shortest paths along edges of
weight 1 (:mod:`.buckets`), and the parents are then derived from the levels.

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Totals
from dask_graphflow.kernels import count_true, is_on_disk, kernels_for
from dask_graphflow.kernels import search as search_kernels
from dask_graphflow.kernels.csr import Reached
from dask_graphflow.kernels.search import LevelPlan, SharedSearch
from dask_graphflow.operators.access import gather
from dask_graphflow.operators.advance.direction import Direction
from dask_graphflow.operators.buckets import Buckets, unit_weights
from dask_graphflow.operators.frontier import Frontier, VertexSet
from dask_graphflow.operators.view import GraphView

DEEP = 8  # number of consecutive small levels before several members continue with shortest paths
BETWEEN_LOOKS = 64  # maximum number of levels per call, if there are targets to check for


class Search:
    """The levels and parents of one member's vertices, and the steps of a search.

    All members create theirs, and run the same steps, at once. A step takes a frontier, and returns the
    vertices of the next level as the next frontier.

    Parameters
    ----------
    targets : array of integers, optional
        Positions of the targets that this member owns. Either all members pass targets, or none does.
    direction : str
        When to pull; see :class:`.Direction`.

    Attributes
    ----------
    rule : Direction
        Chooses the direction of each level.
    reached_targets : bool
        Whether there are targets, and all of them were reached.
    depth : int
        Number of completed levels.
    """

    def __init__(self, g: GraphView, targets: Any = None, direction: str = "beamer") -> None:
        self._g, self._targets = g, targets
        self._shared = _share(g)
        rows, size, self._mirrors = g.member.rows("out"), g.owned, None
        if self._shared is None and not g.member.alone:
            local, self._mirrors = g.member.local("out"), g.member.mirrors("out")
            rows, size = local.rows, local.size
        self._rows = rows
        if g.member.shard.on_device:  # its kernels need the same dtype for ends and for parents
            self._rows = rows._replace(ends=rows.ends.astype(g.index, copy=False))
        self._kernels = search_kernels.of(self._rows.ends)
        if self._shared is None:
            self._level = g.column(-1, "int32", size)
            self._parent = g.column(np.iinfo(g.index).max, g.index, size)
        else:
            self._level = self._shared.levels.own[:size]
            self._parent = self._shared.predecessors.own[:size]
            self._level[:], self._parent[:] = -1, np.iinfo(g.index).max
            self._shared.degrees.own[:size] = g.degrees
        self._seen = g.column(0, "uint64", -(-size // 64))
        self._names = None if g.member.shard.placed is None else g.numbers
        self._incoming: Any = None
        self._pulled: list[int] = []
        self._small_levels = self.depth = 0
        self.rule = Direction(direction, g)

    def begin(self, sources: Any) -> Frontier:
        """Return the frontier of the sources: positions that this member owns, each once."""
        sources = sources.astype(self._rows.ends.dtype)
        self._level[sources], self._parent[sources] = 0, -1
        self._kernels.mark_seen(self._seen, sources)
        if self._shared is not None:  # the other members write to these columns from now on
            kernels_for(sources).wait()
        return self._frontier(vertices=sources)

    def push(self, frontier: Frontier, depth_limit: int | None = None) -> Frontier:
        """Follow the edges that leave the frontier to unreached vertices, for `depth_limit` levels at most.

        A single member continues with the next levels, as the rule says, unless its rows are on disk,
        where each level asks for all of its rows at once.
        """
        if self._continues("push", frontier):
            return self._take_several("push", frontier, depth_limit)
        if self._shared is not None:
            return self._push_to_all(frontier)
        return self._push_one(frontier)

    def pull(self, frontier: Frontier, depth_limit: int | None = None) -> Frontier:
        """Let each unreached vertex look for a parent in the frontier; continue as in :meth:`push`."""
        if self._continues("pull", frontier):
            return self._take_several("pull", frontier, depth_limit)
        g, own = self._g, frontier.own
        assert own is not None
        self.depth += 1
        self._pulled.append(self.depth)
        with g.superstep("pull", len(frontier), frontier.leaving):
            incoming = self._incoming_rows()
            words, following = own.words, np.zeros_like(own.words)
            if self._shared is None:
                words = gather(g, words)
            count, leaving = self._kernels.bfs_pull(
                incoming,
                words,
                following,
                *self._state(),
                g.degrees,
                threads=g.member.threads,
                shared=self._shared,
            )
            if self._shared is not None:
                return self._frontier(words=following, count=count, found=leaving)
            return self._frontier(words=following, count=count, leaving=leaving)

    @property
    def level(self) -> Any:
        """Level of each owned vertex: array of int32, shape (V_p,); -1 if it was not reached."""
        return self._level[: self._g.owned]

    def parents(self) -> Any:
        """Return the number of the parent of each owned vertex: its smallest neighbor in the level before.

        It is -1 for sources, and the dtype's maximum for vertices that were not reached.
        """
        g, parent = self._g, self._parent[: self._g.owned]
        if self._names is not None and self._pulled:  # pulls find places instead of numbers
            # Indexed by level. The last entry, which level -1 (not reached) selects too, stays False.
            pulled = np.zeros_like(self._level, bool, shape=max(self._pulled) + 2)
            pulled[self._pulled] = True
            at = np.flatnonzero(pulled[np.minimum(self.level, max(self._pulled) + 1)])
            parent[at] = g.member.shard.numbers_at(parent[at], g.member.threads)
        return parent

    # Deep searches of several members

    def is_deep(self, frontier: Frontier) -> bool:
        """Return whether several members have pushed many small levels one after another.

        It is called once for each level that is pushed.
        """
        self._small_levels = self._small_levels + 1 if frontier.small else 0
        return self._mirrors is not None and self._small_levels > DEEP

    def buckets(self, frontier: Frontier, depth_limit: int | None) -> Buckets:
        """Return buckets in which the frontier waits, with a weight of 1 for every edge.

        The distances that they find are those from the frontier, for vertices that were not reached yet.
        """
        g = self._g
        distance = np.where(self._level < 0, np.inf, 0.0)
        cutoff = math.inf if depth_limit is None else float(min(depth_limit - self.depth, g.size))
        return Buckets(g, unit_weights(g), frontier.vertices, cutoff, distance)

    def take_levels(self, buckets: Buckets) -> Frontier:
        """Set levels and parents to what the buckets found; return a frontier without vertices.

        The results for mirrors and for vertices beyond the targets are not needed any more.
        """
        parent, distance = buckets.predecessors(), buckets.distances()
        reached = np.flatnonzero((distance > 0) & np.isfinite(distance))
        self._level[reached] = self.depth + distance[reached]
        self._parent[reached] = parent[reached]
        self.depth += int(self._g.largest(distance[reached]))
        return self._frontier(vertices=reached[:0])

    # Parts of the steps

    def _continues(self, direction: str, frontier: Frontier) -> bool:
        """Return whether a single member does the levels from the frontier on in one call."""
        if self._mirrors is not None or is_on_disk(self._rows.ends):
            return False
        return frontier.leaving <= self._kernels.FUSED[direction]

    def _take_several(
        self, direction: str, frontier: Frontier, depth_limit: int | None
    ) -> Frontier:
        """Push, or pull, and continue with the next levels in one call."""
        g, began, targets = self._g, time.perf_counter(), self._targets
        levels = (g.size if depth_limit is None else depth_limit) - self.depth
        if targets is not None:
            levels, targets = min(levels, BETWEEN_LOOKS), targets.astype("int64", copy=False)
        rule, pull = self.rule.later_levels(frontier), direction == "pull"
        # A directed graph has no rows of incoming edges before the first pull.
        ready = pull or (self._continues("pull", frontier) and g.member.has_rows("into"))
        self.depth += 1
        reached, found, sizes, edges, pulled = self._kernels.bfs_levels(
            (self._rows, self._incoming_rows() if ready else None, g.degrees),
            frontier.vertices,
            *self._state(),
            LevelPlan(levels, frontier.leaving, pull, rule, targets),
            threads=g.member.threads,
            shared=self._shared,
        )
        directions = ["pull" if one else "push" for one in pulled]
        self.rule.record_levels(sizes, edges, directions[-1])
        self.depth += len(sizes) - 1
        following = self._frontier(vertices=reached, found=found)
        g.fused(directions, sizes, edges, time.perf_counter() - began)
        return following

    def _push_to_all(self, frontier: Frontier) -> Frontier:
        """Push to the vertices of all members, which share memory."""
        assert self._shared is not None
        self.depth += 1
        with self._g.superstep("push", len(frontier), frontier.leaving):
            vertices = frontier.vertices.astype(self._rows.ends.dtype, copy=False)
            reached, found = search_kernels.push_to_all(
                self._rows, vertices, *self._state(), shared=self._shared
            )
            return self._frontier(vertices=reached, found=found)

    def _push_one(self, frontier: Frontier) -> Frontier:
        """Push to masters and mirrors, and send the parents of mirrors to their owners."""
        g, own, mirrors = self._g, frontier.own, self._mirrors
        assert own is not None
        self.depth += 1
        state = *self._state(), g.degrees
        with g.superstep("push", len(frontier), frontier.leaving):
            reached, leaving, dirty = self._kernels.reach(
                self._rows,
                frontier.vertices.astype(self._rows.ends.dtype, copy=False),
                *state,
                edges=own.edges(g.degrees),
                low=g.member.shard.low,
                names=self._names,
                threads=g.member.threads,
            )
            if mirrors is None:
                return self._frontier(vertices=reached, leaving=leaving)
            # If no member reached a mirror, these totals are final.
            totals = len(reached), leaving, len(dirty), self._missing()
            mirrors.reduce(self._parent, dirty - g.owned, totals)
            new, edges = [reached], [leaving]

            def claim(at: Any, values: Any) -> None:
                fresh, more = self._kernels.take_offers(self._rows, at, values, *state)
                new.append(fresh)
                edges.append(more)

            total = mirrors.receive(claim)
            reached = np.concatenate(new) if len(new) > 1 else reached
            final = None if total.sums[2] else total
            return self._frontier(vertices=reached, leaving=sum(edges), total=final)

    def _state(self) -> tuple[Reached, int]:
        return Reached(self._seen, self._parent, self._level), self.depth

    def _frontier(
        self,
        *,
        vertices: Any = None,
        words: Any = None,
        count: int | None = None,
        leaving: int | None = None,
        total: Totals | None = None,
        found: tuple[int, int] | None = None,
    ) -> Frontier:
        """Return the next frontier, and note whether all targets were reached.

        Counts are given if they are known. `found` has the vertices of the frontier over all members, and
        the edges that leave them. `total` has the sums over all members: the vertices of the
        frontier, the edges that leave them and, as the last sum, the targets that were not reached.
        """
        degrees = self._g.degrees
        known = None if leaving is None else (degrees, leaving)
        own = VertexSet(self._g.owned, vertices=vertices, words=words, count=count, edges=known)
        if found is not None and self._targets is None:
            total = Totals(found)
        elif total is None:
            leaving = own.edges(degrees)
            total = self._g.all_reduce(sums=(len(own), leaving, self._missing()))
        self.reached_targets = self._targets is not None and not total.sums[-1]
        return Frontier(own, *total.sums[:2])

    def _missing(self) -> int:
        """Return how many targets of this member have not been reached."""
        return 0 if self._targets is None else count_true(self._level[self._targets] < 0)

    def _incoming_rows(self) -> Any:
        """Return the rows of incoming edges, with rows in the order of positions."""
        if self._incoming is not None:
            return self._incoming
        g, rows = self._g, self._g.member.rows("into")
        # Half the vertices of a power-law graph have no edge. They are marked as seen, to be skipped.
        empty = g.member.shard.kept(
            f"not entered {g.member.side('into')}", lambda: _empty(rows.offsets)
        )
        self._seen.view("uint8")[: len(empty)] |= empty
        self._incoming = rows._replace(first=0)
        return self._incoming


def _share(g: GraphView) -> SharedSearch | None:
    """Return the columns of a search that the members share on their devices, if they do."""
    memory = g.member.shared_memory()
    if memory is None:
        return None
    most, words = memory.most, -(-g.size // 64)
    columns = memory.columns(
        (g.index, most), (g.index, most), ("int32", most), ("int64", most), ("uint64", words)
    )
    return SharedSearch(memory, *columns) if columns else None


def _empty(offsets: Any) -> Any:
    """Return a bitmap, in bytes, of the rows without an end."""
    return np.packbits(offsets[1:] == offsets[:-1], bitorder="little")
