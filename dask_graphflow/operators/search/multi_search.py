"""Searches from many sources at once: 64 of them share the reads of each edge.

A vertex has one bit per source [1]_. The bits of newly reached vertices are or-ed into their neighbors,
which ignore the bits that they already had. A vertex that gets new bits adds their number, or a multiple of
it, to its sums.

After a few levels that reach few vertices, a single member no longer goes from level to level. Each thread,
or each team of a device's blocks, then searches from one source.

.. [1] M. Then, M. Kaufmann, F. Chirigati, T. Hoang-Vu, K. Pham, A. Kemper, T. Neumann, H. T. Vo, "The More
   the Merrier: Efficient Multi-Source Graph Traversal", PVLDB 8(4), 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import kernels_for
from dask_graphflow.kernels import predecessors as predecessors_kernels
from dask_graphflow.kernels.memory import free_bytes
from dask_graphflow.operators.access import update_mirrors
from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.advance.direction import Direction
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp
from dask_graphflow.programs.typed import After

from .whole_searches import levels

WORD = 64  # number of sources per batch
ALL = 2**WORD - 1
DEEP = 8  # number of levels after which a single member may search from each source by itself
EACH = 8  # bytes per vertex and source: levels, and a copy while a device sorts them
REACH = EdgeOp(
    "reach", target="visit_next", signal="visit[src]", slot="or", cond=f"seen[dst] != {ALL}"
)
STATE = ("seen", "visit", "visit_next")
# The sums of a vertex, to which `count` sources are added at the distance `step`.
DISTANCES = {"reaching": "count", "farness": "step * count"}
INVERSES = {"harmonic": "float64(count) / float64(step)"}


def distance_sums(g: GraphView, places: Any, count: int) -> tuple[Any, Any]:
    """Search from many sources along the edges; return the sums of the distances from them.

    All members call it at once. `places` has the index of each source among all sources, and -1 for other
    vertices. The results are, for each vertex, the sum of the distances in edges from the sources that
    reach it, and the number of these sources without the vertex itself.
    """
    sums = {name: g.column(0, "int64") for name in DISTANCES}
    _search(g, places, count, sums, DISTANCES, _add_distances)
    return sums["farness"], sums["reaching"]


def inverse_sums(g: GraphView, places: Any, count: int) -> Any:
    """Search as :func:`distance_sums` does; return the sums of 1 divided by the distance, as float64."""
    sums = {name: g.column(0, "float64") for name in INVERSES}
    _search(g, places, count, sums, INVERSES, _add_inverses)
    return sums["harmonic"]


class WordSearch:
    """A bit per vertex and source, for the sources of a batch. All members create theirs at once.

    Parameters
    ----------
    sums : mapping of str to array, shape (V_p,)
        Columns that change whenever a vertex gets bits.
    terms : mapping of str to str
        What is added to each of them; see :data:`DISTANCES`.

    Attributes
    ----------
    step : Advance
        Its steps take a frontier to the vertices that get bits, which are the next frontier.
    seen : array of uint64, shape (V_p,)
        The sources that have reached each vertex. The bits that no source uses are set, too.
    visit : array of uint64, shape (V_p,)
        For each vertex of the frontier, the bits that it got last.
    """

    def __init__(self, g: GraphView, sums: Mapping[str, Any], terms: Mapping[str, str]) -> None:
        self._g, self._unused = g, 0
        self.seen, self.visit, visit_next = (g.column(0, "uint64") for _ in STATE)
        columns = {"seen": self.seen, "visit": self.visit, "visit_next": visit_next, **sums}
        self.step = Advance(g, REACH, columns, after=_added(terms))

    def is_deep(self) -> bool:
        """Return whether most edges leave vertices that no source has reached. All members call it."""
        degrees = self._g.degrees
        reached = int(degrees[self.seen != self._unused].sum())
        reached, every = self._g.all_reduce(sums=(reached, int(degrees.sum()))).sums
        return 2 * reached < every

    def begin(self, places: Any, first: int, count: int) -> Any:
        """Begin with the batch of sources from the index `first` on; return this member's positions.

        See :func:`distance_sums` for `places` and `count`.
        """
        own = self._g.positions((places >= first) & (places < first + WORD))
        bits = np.uint64(1) << (places[own] - first).astype("uint64")
        # Bits without a source are marked as seen.
        self._unused = ALL - (ALL >> (WORD - min(WORD, count - first)))
        self.seen[:] = self._unused
        self.seen[own] |= bits
        self.visit[own] = bits
        self.step.supersteps = 0
        return own


class Reach(NamedTuple):
    """A member's vertices that are in a level of some searches, and the bits of these searches."""

    vertices: Any
    bits: Any


def predecessors(
    g: GraphView, levels: list[Reach], places: Any, width: int, at: Any
) -> Iterator[tuple[Any, Any, Any]]:
    """Find the predecessors, in the searches from `width` sources, of the vertices at some positions.

    All members call it. The predecessor of a vertex is the first neighbor in its row whose bits the vertex
    got one level later. `places` has 0 to ``width - 1`` for the sources. Yields for one source after
    another the indices in `at` of the vertices that its search reached, their levels (int32), and the
    numbers of their predecessors; the dtype's maximum for the source.
    """
    local = g.member.local("into")
    row = g.column(-1, "int64")
    row[at] = np.arange(len(at), like=at)
    level = np.full_like(at, -1, "int32", shape=(width, len(at)))
    predecessor = np.full_like(at, -1, local.rows.ends.dtype, shape=(width, len(at)))
    sources = np.flatnonzero((places >= 0) & (places < width) & (row >= 0))
    level[places[sources], row[sources]] = 0

    find = partial(predecessors_kernels.of(at).set_predecessors, threads=g.member.threads)
    seen = g.column(0, "uint64", local.size)
    for depth, (vertices, new) in enumerate(levels):
        if depth:
            keep = np.flatnonzero(row[vertices] >= 0)
            some = vertices[keep], new[keep], row[vertices[keep]]
            find(local.rows, seen, *some, depth, level, predecessor)
        # Bits from earlier levels may stay: no edge leads from there to a vertex that is reached later.
        seen[vertices] |= new
        if not g.member.alone:
            update_mirrors(g.member.mirrors("into"), seen, np.sort(vertices))

    # -1, which stands for no predecessor, selects the last entry.
    never = g.column(np.iinfo(g.index).max, g.index, 1)
    slots = g.member.shard.slot_numbers("into", g.member.threads)
    names = np.concatenate([g.numbers, slots, never])
    for levels_of_source, predecessors_of_source in zip(level, predecessor, strict=True):
        found = np.flatnonzero(levels_of_source >= 0)
        yield found, levels_of_source[found], names[predecessors_of_source[found]]


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
    step = search.step
    for first in range(0, count, WORD):
        own = search.begin(places, first, count)
        if by_source:
            add(levels(g, own), 0, sums)
            continue
        frontier, rule = g.frontier(own), Direction("beamer", g)
        while frontier:
            left = DEEP - step.supersteps if g.member.alone else 0
            by_source = left == 0 and g.member.alone and search.is_deep() and _has_room(g)
            if by_source:
                add(levels(g, own), DEEP, sums)
                break
            if rule.choose(frontier) == "push":
                frontier, _ = step.push_on(frontier, rule, left if left > 0 else None)
            else:
                frontier = step.pull(frontier)


def _has_room(g: GraphView) -> bool:
    """Return whether there is room for the levels by source."""
    free = free_bytes(kernels_for(g.degrees))
    return free is None or EACH * WORD * g.owned < free // 2


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


def _added(terms: Mapping[str, str]) -> After:
    """Return what is done with a vertex that gets bits: new bits are passed on, and counted in its sums."""
    host = ["bits = {visit_next} & ~{seen}", "{visit_next} = uint64(0)"]
    host += ["if bits == uint64(0):", "    return False", "{seen} |= bits", "{visit} = bits"]
    host += ["count = int64(count_ones(bits))"] if terms else []
    cuda = ["const unsigned long long bits = {visit_next} & ~{seen};", "{visit_next} = 0;"]
    cuda += ["if (!bits) return false;", "{seen} |= bits;", "{visit} = bits;"]
    cuda += ["const long long count = __popcll(bits);"] if terms else []
    for name, term in terms.items():
        host.append(f"{{{name}}} += {term}")
        cuda.append(f"{{{name}}} += {term.replace('float64', 'double')};")
    host.append("return True")
    cuda.append("return true;")
    columns = *STATE, *terms
    return After(columns, columns, "\n".join(host), "\n".join(cuda))
