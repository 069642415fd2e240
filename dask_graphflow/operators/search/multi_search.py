"""Searches from many sources at once: 64 of them share the reads of each edge.

A vertex has one bit per source [1]_. The bits of newly reached vertices are or-ed into their neighbors,
which ignore the bits that they already had. A vertex that gets new bits adds their number, or a multiple of
it, to its sums.

After a few levels that reach few vertices, members with all edges no longer go from level to level. Each
thread, or each team of a device's blocks, then searches from one source; see :mod:`.whole_searches`.

.. [1] M. Then, M. Kaufmann, F. Chirigati, T. Hoang-Vu, K. Pham, A. Kemper, T. Neumann, H. T. Vo, "The More
   the Merrier: Efficient Multi-Source Graph Traversal", PVLDB 8(4), 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from dask_graphflow.kernels import kernels_for, move_to
from dask_graphflow.kernels import predecessors as predecessors_kernels
from dask_graphflow.kernels.memory import free_bytes
from dask_graphflow.operators.access import update_mirrors
from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.advance.direction import Direction
from dask_graphflow.operators.frontier import Frontier
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.after import After
from dask_graphflow.programs.edge_op import EdgeOp

from .whole_searches import find_levels, on_one_device

WORD = 64  # number of sources per batch
ALL = 2**WORD - 1
EACH = 8  # bytes per vertex and source: levels, and a copy while a device sorts them
REACH = EdgeOp(
    "reach", target="visit_next", signal="visit[src]", slot="or", cond=f"seen[dst] != {ALL}"
)
STATE = ("seen", "visit", "visit_next")
# The new bits of a vertex, and the terms of its sums at the distance `step`.
BITS = "(visit_next[dst] & ~seen[dst])"
DISTANCES = {"reaching": f"count_ones({BITS})", "farness": f"step * count_ones({BITS})"}
INVERSES = {"harmonic": f"count_ones({BITS}) / step"}


def sum_distances(g: GraphView, places: Any, count: int) -> tuple[Any, Any]:
    """Search from many sources along the edges; return the sums of the distances from them.

    All members call it at once. `places` has the index of each source among all sources, and -1 for other
    vertices. The results are, for each vertex, the sum of the distances in edges from the sources that
    reach it, and the number of these sources without the vertex itself.
    """
    sums = {name: g.column(0, "int64") for name in DISTANCES}
    _search(g, places, count, sums, DISTANCES, _add_distances)
    return sums["farness"], sums["reaching"]


def sum_inverses(g: GraphView, places: Any, count: int) -> Any:
    """Search as :func:`sum_distances` does; return the sums of 1 divided by the distance, as float64."""
    sums = {name: g.column(0, "float64") for name in INVERSES}
    _search(g, places, count, sums, INVERSES, _add_inverses)
    return sums["harmonic"]


def farthest_levels(g: GraphView, places: Any, count: int) -> Any:
    """Return the largest distance from each of up to 64 sources, as int64; see :func:`sum_distances`."""
    search, shifts = WordSearch(g), np.arange(count, dtype="uint64")
    frontier, farthest = search.begin(places, range(count)), g.column(0, "int64", count)
    while frontier := search.follow(frontier, 1):
        found = search.found(frontier) >> move_to(g.degrees, shifts) & np.uint64(1)
        farthest[g.elementwise_max(found.astype("int64")) > 0] = search.supersteps
    return farthest


class WordSearch:
    """A bit per vertex and source, for the sources of a batch. All members create theirs at once.

    Parameters
    ----------
    sums : mapping of str to array, shape (V_p,), optional
        Columns that change whenever a vertex gets bits.
    terms : mapping of str to str, optional
        What is added to each of them; see :data:`DISTANCES`.

    Attributes
    ----------
    seen : array of uint64, shape (V_p,)
        The sources that have reached each vertex. The bits that no source uses are set, too.
    recorded : list of tuple
        The vertices of each level, and the bits that they got; see :meth:`record`.
    """

    DEEP: ClassVar[int] = 8  # number of levels after which each source may be searched by itself

    def __init__(
        self,
        g: GraphView,
        sums: Mapping[str, Any] | None = None,
        terms: Mapping[str, str] | None = None,
    ) -> None:
        self._g, self._unused = g, 0
        self.seen, self._visit, visit_next = (g.column(0, "uint64") for _ in STATE)
        columns = {"seen": self.seen, "visit": self._visit, "visit_next": visit_next}
        self._step = Advance(g, REACH, columns | dict(sums or {}), after=_pass_on(terms or {}))

    @staticmethod
    def batches(count: int) -> Iterable[range]:
        """Return the indices of the sources of each batch, for so many sources."""
        return (range(first, min(first + WORD, count)) for first in range(0, count, WORD))

    def begin(self, places: Any, batch: range, direction: str = "beamer") -> Frontier:
        """Return the frontier of a batch of sources. All members call it.

        `places` has the index of each source among all sources, and -1 for other vertices. For `direction`,
        see :class:`.Direction`.
        """
        own = self._g.positions((places >= batch.start) & (places < batch.stop))
        bits = np.uint64(1) << (places[own] - batch.start).astype("uint64")
        # Bits without a source are marked as seen.
        self._unused = ALL - (ALL >> (WORD - len(batch)))
        self.seen[:] = self._unused
        self.seen[own] |= bits
        self._visit[own] = bits
        self._step.supersteps, self.recorded = 0, list[tuple[Any, Any]]()
        self._batch, self._places = batch, places
        frontier, self._rule = self._g.frontier(own), Direction(direction, self._g)
        return frontier

    @property
    def supersteps(self) -> int:
        """Number of levels that the searches of the batch have followed."""
        return self._step.supersteps

    def follow(self, frontier: Frontier, most: int | None = None) -> Frontier:
        """Follow the edges that leave a frontier; return the vertices that get bits.

        If the rule for the direction pushes, it can take several levels at once, but `most` at most.
        """
        if self._rule.choose(frontier) == "push":
            return self._step.push_on(frontier, self._rule, most)[0]
        return self._step.pull(frontier)

    def is_deep(self) -> bool:
        """Return whether most edges leave vertices that no source has reached. All members call it."""
        degrees = self._g.degrees
        reached = int(degrees[self.seen != self._unused].sum())
        reached, every = self._g.all_reduce(sums=(reached, int(degrees.sum()))).sums
        return 2 * reached < every

    def found(self, frontier: Frontier) -> Any:
        """Return the sources that reach this member's vertices of a level: the bits of all, as one word."""
        words = self._visit[frontier.vertices]
        while len(words) > 1:
            half = -(-len(words) // 2)
            words[: len(words) - half] |= words[half:]
            words = words[:half]
        return words.sum(dtype=words.dtype)  # of one word, or none

    def record(self, frontier: Frontier) -> None:
        """Record the vertices of a level, and the bits that they got."""
        vertices = frontier.vertices.copy()  # a kernel uses the list again
        self.recorded.append((vertices, self._visit[vertices]))

    def rows(self, at: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Yield, for each source of the batch, its rows of the vertices at some positions.

        All members call it, after they recorded each level. Rows are the numbers of the vertices that the
        search from the source reached, their levels (int32), and the numbers of their predecessors; the
        dtype's maximum for the source. The predecessor of a vertex is the first neighbor in its row whose
        bits the vertex got one level later.
        """
        g, width, places = self._g, len(self._batch), self._places - self._batch.start
        local = g.member.local("into")
        row = g.column(-1, "int64")
        row[at] = np.arange(len(at), like=at)
        levels = np.full_like(at, -1, "int32", shape=(width, len(at)))
        predecessor = np.full_like(at, -1, local.rows.ends.dtype, shape=(width, len(at)))
        sources = np.flatnonzero((places >= 0) & (places < width) & (row >= 0))
        levels[places[sources], row[sources]] = 0

        find = partial(predecessors_kernels.of(at).set_predecessors, threads=g.member.threads)
        seen = g.column(0, "uint64", local.size)
        for depth, (vertices, new) in enumerate(self.recorded):
            if depth:
                keep = np.flatnonzero(row[vertices] >= 0)
                some = vertices[keep], new[keep], row[vertices[keep]]
                find(local.rows, seen, *some, depth, levels, predecessor)
            # Bits from earlier levels may stay: no edge leads from there to a vertex that is reached later.
            seen[vertices] |= new
            if not g.member.alone:
                update_mirrors(g.member.mirrors("into"), seen, np.sort(vertices))

        # -1, which stands for no predecessor, selects the last entry.
        never = g.column(np.iinfo(g.index).max, g.index, 1)
        slots = g.member.shard.slot_numbers("into", g.member.threads)
        names = np.concatenate([g.numbers, slots, never])
        for levels_of_source, predecessors_of_source in zip(levels, predecessor, strict=True):
            found = np.flatnonzero(levels_of_source >= 0)
            level, before = levels_of_source[found], predecessors_of_source[found]
            yield g.numbers[at[found]], level, names[before]


def _search(
    g: GraphView,
    places: Any,
    count: int,
    sums: Mapping[str, Any],
    terms: Mapping[str, str],
    add: Callable[[Any, int, Mapping[str, Any]], None],
) -> None:
    """Search from many sources, and add a term to the sums of each vertex that some of them reach.

    ``add(levels, beyond, sums)`` adds the terms of the levels that are greater than `beyond`. Row i of
    `levels` has the level of each vertex in the search from source i of a batch.
    """
    search, by_source = WordSearch(g, sums, terms), False
    for batch in search.batches(count):
        frontier = search.begin(places, batch)
        own = frontier.vertices
        if by_source:
            add(find_levels(g, own), 0, sums)
            continue
        while frontier:
            left = search.DEEP - search.supersteps
            able = left == 0 and (g.member.alone or on_one_device(g))
            by_source = able and search.is_deep() and _has_room(g)
            if by_source:
                add(find_levels(g, own), search.DEEP, sums)
                break
            frontier = search.follow(frontier, left if left > 0 else None)


def _has_room(g: GraphView) -> bool:
    """Return whether all members have room for the levels by source. All members call it."""
    free = free_bytes(kernels_for(g.degrees))
    return not g.all_sum(free is not None and EACH * WORD * g.owned >= free // 2)


def _add_distances(levels: Any, beyond: int, sums: Mapping[str, Any]) -> None:
    for level in levels:
        reached = level > beyond
        sums["farness"][:] += np.where(reached, level, 0)
        sums["reaching"][:] += reached


def _add_inverses(levels: Any, beyond: int, sums: Mapping[str, Any]) -> None:
    # In ascending order, and for all sources at a distance together, as from level to level.
    levels.sort(axis=0)
    count = np.zeros_like(levels[0], "int64")
    for rank, here in enumerate(levels):
        count += here > beyond
        last = rank + 1 == len(levels)
        counts = count if last else np.where(here != levels[rank + 1], count, 0)
        sums["harmonic"][:] += counts / np.maximum(here, 1)
        count -= counts


def _pass_on(terms: Mapping[str, str]) -> After:
    """Return what is done with a vertex that gets bits: new bits are passed on, and counted in its sums."""
    new = {"seen": "seen[dst] | visit_next[dst]", "visit": BITS}
    new |= {name: f"{name}[dst] + {term}" for name, term in terms.items()}
    return After(f"{BITS} != 0", always={"visit_next": "0"}, kept=new)
