"""Buckets: relax edges in the order of their vertices' distances.

Vertices wait in buckets by distance, all of the same width (delta-stepping [1]_). The members agree on the
lowest bucket in which any member has a vertex. Each member relaxes the edges of its own vertices until its
part of that bucket is empty. It continues with its next buckets while they are small, because a round of
messages takes as long. Then it sends the mirrors that it reached, except mirrors in later buckets, whose
distances can still decrease.

A device is only used well with many vertices at once, and a bucket seldom has many. On a device, a member
therefore relaxes all vertices nearer than a limit, and then raises the limit (near and far piles [2]_).

If weights are small whole numbers, a single member on the host keeps the distance and the predecessor of a
vertex in one word, and does the whole search in one call; see :class:`WholePaths`.

A distance is final if every vertex that still waits is farther away. If there are targets, the search stops
once the distance of the farthest target is final.

Members that share the memory of their devices have the piles of their own vertices, put vertices onto the
piles of all members, and continue to the end in one call (:class:`.SharedBuckets`), like a single member.

.. [1] U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", Journal of
   Algorithms 49 (1), 2003.
.. [2] A. Davidson, S. Baxter, M. Garland, J. D. Owens, "Work-Efficient Parallel GPU Methods for
   Single-Source Shortest Paths", IPDPS 2014.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.mirrors import Mirrors
from dask_graphflow.exceptions import WeightError
from dask_graphflow.graph import stored
from dask_graphflow.graph.blocks import per_edge
from dask_graphflow.graph.hubs import has_hubs, inverse
from dask_graphflow.kernels import buckets as buckets_kernels
from dask_graphflow.kernels import count_true
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels import whole_buckets as whole_kernels
from dask_graphflow.kernels.buckets import SharedBuckets
from dask_graphflow.kernels.csr import Light
from dask_graphflow.showing.tables import counted

from .access import update_mirrors
from .view import GraphView

EVERY = 1 << 62  # more edges than there are
SAMPLED = 16  # one edge in 16 is counted to find hubs


class WaitingRows(NamedTuple):
    """Rows prepared for buckets of a width, perhaps by labels instead of vertex numbers."""

    width: float
    rows: Any
    # Array of integers, shape (V,), or None. Label of each vertex, and vertex of each label; None for rows
    # by vertices.
    labels: Any = None
    names: Any = None
    # Bound on distances if weights are small whole numbers, so that a distance and a predecessor fit in one
    # word; otherwise 0.
    longest: int = 0
    # SharedBuckets, or None. What the members share; the ends of rows are then vertex numbers.
    shared: Any = None


class Buckets:
    """The distances from some sources, and the vertices that wait until their edges are relaxed.

    All members create theirs at once, and run the same steps.

    Parameters
    ----------
    light : WaitingRows
        See :func:`light_first` and :func:`unit_weights`.
    sources : array of integers
        Positions of the sources that this member owns, each once.
    cutoff : float
        Maximum distance; infinite for none.
    distance : array of float64, shape (V_p + mirrors,), optional
        Distances of masters and mirrors to begin with, if some vertices were reached already; changed in
        place. By default, only sources were reached.

    Attributes
    ----------
    lowest : float
        Lower bound of the distances of all waiting vertices on all members; infinite if none waits.
    """

    def __init__(
        self,
        g: GraphView,
        light: WaitingRows,
        sources: Any,
        cutoff: float,
        distance: Any = None,
    ) -> None:
        self._g, (width, rows, self._labels, self._names, _, self._shared) = g, light
        self._rows, self._sources = rows.rows, self._to_labels(sources)
        if self._shared is not None:
            distance = self._shared.own(self._shared.distance)
            distance[:] = np.inf
            distance[self._sources] = 0
        elif distance is None:
            distance = g.column(np.inf, "float64", g.member.local("out").size)
            distance[self._sources] = 0
        together = g.member.alone or self._shared is not None
        self._mirrors = None if together else g.member.mirrors("out")
        self._kernels = buckets_kernels.of(distance)
        self._ahead = self._kernels.AHEAD
        self._waiting = self._kernels.new_buckets(
            rows,
            distance,
            self._sources,
            width,
            cutoff=cutoff,
            threads=g.member.threads,
            shared=self._shared,
        )
        self._distance, self._counts = distance, self._waiting.counts
        self.lowest, self._late = 0.0, False

    def relax_lowest(self, *, to_end: bool = False) -> tuple[int, int]:
        """Relax this member's vertices in the lowest bucket, until none of them waits there.

        The member continues with its next buckets while they are small. With `to_end`, a single member, or
        members that share memory, continue until no vertex waits. Returns the numbers of vertices and edges
        that were relaxed, by all members if they share memory.
        """
        before = self._counts
        ahead = EVERY if to_end and self._mirrors is None else self._ahead
        while self._waiting.relax(self.lowest, before["edges"] + ahead):
            pass
        self._counts = after = self._waiting.counts
        return after["vertices"] - before["vertices"], after["edges"] - before["edges"]

    def exchange(self, relaxed: tuple[int, int]) -> tuple[int, ...]:
        """Send the distances of mirrors to their owners, and agree on the lowest bucket.

        Returns the sums, over all members, of what :meth:`relax_lowest` returned.
        """
        waiting = self._waiting
        self._late, self.lowest = waiting.late, waiting.lowest()
        if self._mirrors is None:
            return relaxed
        mirrors, values = waiting.take_mirrors()
        lowest = min(self.lowest, waiting.lowest_of(values))
        sums = *relaxed, self._late
        self._mirrors.reduce(self._distance, mirrors, sums, most=-lowest, values=values)
        totals = self._mirrors.receive(waiting.offer)
        self._late, self.lowest = bool(totals.sums[2]), -totals.most
        return totals.sums[:2]

    def stop_at(self, targets: Any) -> None:
        """Remove all waiting vertices if the distances of all targets are final.

        A member gives the positions of the targets that it owns. Vertices beyond the farthest target then
        count as not reached.
        """
        if self._late:  # a waiting vertex may be nearer than the lowest bucket
            return
        own, distance = self._to_labels(targets), self._distance
        own_farthest = float(distance[own].max()) if len(own) else -math.inf
        farthest = self._g.all_reduce(most=own_farthest).most
        if farthest < self.lowest:
            distance[distance > farthest] = np.inf
            self.lowest = math.inf

    def distances(self) -> Any:
        """Return the distance of each owned vertex, infinite if it was not reached."""
        if self._shared is not None:  # the next search uses the column
            return self._distance.copy()
        if self._labels is None:
            return self._distance[: self._g.owned]
        return self._distance[self._labels]

    def predecessors(self) -> Any:
        """Return the smallest neighbor from which a shortest path can reach each owned vertex.

        If edges have a weight of 0, it is the smallest of the vertices with the fewest such edges before
        them. Predecessors therefore always lead to a source, and never form a cycle. All members call it.

        Returns
        -------
        array of index, shape (V_p,)
            Vertex numbers; the dtype's maximum for sources and for vertices that were not reached.
        """
        self._waiting = None  # type: ignore[assignment]  # its memory is used for the predecessors
        if self._shared is not None:
            found = buckets_kernels.shared_predecessors(self._rows, self._shared)
            return self._level_predecessors() if found is None else found
        if self._mirrors is not None:
            return self._common_predecessors(self._mirrors, self._rows, self._distance)
        g, find = self._g, self._kernels.predecessors
        predecessor = find(
            self._rows, self._distance, self._sources, names=self._names, threads=g.member.threads
        )
        if self._labels is None:
            return predecessor
        if predecessor is not None:
            return predecessor[self._labels]
        # Edges of weight 0 connect vertices at the same distance, whose order depends on numbers, not
        # labels.
        rows = g.member.local("out").rows
        return find(rows, self.distances(), self._names[self._sources], threads=g.member.threads)

    def _level_predecessors(self) -> Any:
        """Find predecessors among vertices at the same distance by messages, a level at a time."""
        local = self._g.member.local("out")
        distance = self._g.column(np.inf, "float64", local.size)
        distance[: self._g.owned] = self._distance
        return self._common_predecessors(self._g.member.mirrors("out"), local.rows, distance)

    def _common_predecessors(self, mirrors: Mirrors, rows: Any, distance: Any) -> Any:
        g, kernels = self._g, self._kernels
        owned, names, threads = g.owned, g.numbers, g.member.threads
        update_mirrors(mirrors, distance)

        never = np.iinfo(g.index).max
        predecessor = g.column(never, g.index, len(distance))
        level = kernels.offer_nearer(rows, names, distance, predecessor, threads=threads)
        # Mirrors that got an offer are settled too, because their masters will be.
        settled = predecessor != never
        mirrors.reduce(predecessor, np.flatnonzero(settled[owned:]), sums=(level,))

        def smallest(at: Any, values: Any) -> None:
            predecessor[at] = np.minimum(predecessor[at], values)

        if not mirrors.receive(smallest).sums[0]:
            return predecessor[:owned]

        settled[:owned] = predecessor[:owned] != never
        settled[self._sources] = True
        frontier = np.flatnonzero(settled[:owned])
        while True:
            following = kernels.offer_level(rows, names, distance, predecessor, settled, frontier)
            settled[following[following >= owned]] = True
            reached = [following[following < owned]]
            away = np.sort(following[following >= owned]) - owned

            def first(at: Any, values: Any, reached: list[Any] = reached) -> None:
                open_ = ~settled[at]
                at, values = at[open_], values[open_]
                reached.append(at[predecessor[at] == never])
                smallest(at, values)

            mirrors.reduce(predecessor, away, sums=(len(following),))
            if not mirrors.receive(first).sums[0]:
                return predecessor[:owned]
            frontier = np.concatenate(reached)
            settled[frontier] = True

    def _to_labels(self, vertices: Any) -> Any:
        return vertices if self._labels is None else self._labels[vertices]


class WholePaths(Buckets):
    """Buckets of a single member on the host whose weights are whole numbers.

    A word per vertex has its distance and its predecessor; see :mod:`.kernels.whole_buckets`.
    """

    _waiting: Any  # a WholeSearch

    def __init__(self, g: GraphView, light: WaitingRows, sources: Any, cutoff: float) -> None:
        rows = light.rows.rows
        self._mirrors, kernels = None, whole_kernels.of(rows.ends)
        self._ahead = kernels.AHEAD
        self._waiting = kernels.new_buckets(
            rows, sources, light.width, light.longest, cutoff=cutoff, threads=g.member.threads
        )
        self._counts = self._waiting.counts
        self.lowest, self._farthest = 0.0, math.inf
        self._columns: Any = None

    def exchange(self, relaxed: tuple[int, int]) -> tuple[int, ...]:
        """Find the lowest bucket, and return the numbers that it was passed."""
        self.lowest = self._waiting.lowest()
        return relaxed

    def stop_at(self, targets: Any) -> None:
        """Remove all waiting vertices if the distances of all targets are final."""
        farthest = float(self._waiting.distances_of(targets).max(initial=-math.inf))
        if farthest < self.lowest:
            self._farthest, self.lowest = farthest, math.inf

    def distances(self) -> Any:
        """Return the distance of each vertex, infinite if it was not reached."""
        if self._columns is None:
            self._columns = self._waiting.columns(self._farthest)
        return self._columns[0]

    def predecessors(self) -> Any:
        """Return the smallest predecessor of each vertex; see :meth:`Buckets.predecessors`."""
        self.distances()
        return self._columns[1]


def new_buckets(
    g: GraphView, light: WaitingRows, sources: Any, cutoff: float = math.inf
) -> Buckets:
    """Return the sources in buckets; see :class:`Buckets`. All members call it at once."""
    return (WholePaths if light.longest else Buckets)(g, light, sources, cutoff)


def bucket_width(g: GraphView) -> float:
    """Return the width of a bucket, from the mean weight and the mean degree. All members call it.

    Raises
    ------
    WeightError
        A weight of any member is negative or NaN.
    """
    rows = g.member.shard.out
    kernels = buckets_kernels.of(rows.ends)
    wrong, mean = g.member.shard.host.kept(
        stored.WEIGHED, lambda: kernels.weigh(rows.weights, threads=g.member.threads)
    )
    own = np.array([wrong, mean, len(rows.ends), count_true(g.exists)], "float64")
    wrong, means, edges, vertices = np.array(g.member.exchange.all_gather(own)).T
    mean = float((means * (edges / max(1, edges.sum()))).sum())
    wrong, edges, vertices = (int(part.sum()) for part in (wrong, edges, vertices))
    if wrong:
        raise WeightError(
            f"{counted(wrong, 'weight')} {'is' if wrong == 1 else 'are'} negative or NaN; shortest paths "
            "need weights of at least 0. Remove these edges"
        )
    width = kernels.bucket_width(mean, max(edges / max(1, vertices), 1.0))
    # Neither the width nor its reciprocal may overflow.
    return min(max(width, 1e-300), 1e300) if mean > 0 else 1.0


def light_first(g: GraphView) -> WaitingRows:
    """Return rows with the edges first that are light for buckets of :func:`bucket_width`.

    All members call it, and raise the errors of that function. A device caches the rows with the graph. If
    it has all of them, it numbers hubs first.
    """
    width, shared = bucket_width(g), _share(g)
    if shared is not None:
        return _light_by_number(g, width)._replace(shared=shared)
    rows = g.member.local("out").rows
    if g.member.shard.linked:  # there is no room on the device for a copy of its edges
        return WaitingRows(width, Light(rows, rows.offsets[1:]))

    def make(labelled: WaitingRows) -> WaitingRows:
        kernels = buckets_kernels.of(rows.ends)
        return labelled._replace(rows=kernels.light_first(labelled.rows, width))

    plain = WaitingRows(width, rows)
    if not g.member.shard.on_device:
        return _narrow(g, plain) or make(plain)
    kept: WaitingRows = g.member.shard.kept(
        stored.LIGHT_FIRST, lambda: make(_hubs_first(g, width) if g.member.alone else plain)
    )
    return kept


def _share(g: GraphView) -> SharedBuckets | None:
    """Return the columns of a search that the members share on their devices, if they do."""
    memory = g.member.shared_memory()
    if memory is None:
        return None
    most, lists = memory.most, buckets_kernels.LISTS
    columns = memory.columns(
        ("float64", g.size),
        (g.index, g.size),
        ("uint32", most),
        ("uint32", -(-most // 32)),
        (g.index, lists * most),
        ("uint64", lists),
        ("int64", 2 * most),
    )
    return SharedBuckets(memory, *columns) if columns else None


def _light_by_number(g: GraphView, width: float) -> WaitingRows:
    """Return rows whose ends are numbers of all members' vertices, for a search that the members share."""

    def make() -> WaitingRows:
        rows = g.member.rows("out")
        rows = rows._replace(ends=rows.ends.astype(g.index, copy=False))
        return WaitingRows(width, buckets_kernels.of(rows.ends).light_first(rows, width))

    kept: WaitingRows = g.member.shard.kept(f"{stored.LIGHT_FIRST} by number", make)
    return kept


def _narrow(g: GraphView, plain: WaitingRows) -> WaitingRows | None:
    """Return rows with small whole weights if a single member has no others in memory; otherwise None."""
    if not g.member.alone_in_memory:
        return None
    kernels = whole_kernels.of(plain.rows.ends)

    def make() -> tuple[Any, int]:
        weights = kernels.narrow(plain.rows.weights, threads=g.member.threads)
        return weights, 0 if weights is None else kernels.longest(weights, g.size)

    weights, longest = g.member.shard.kept(f"whole weights {g.member.side('out')}", make)
    if not longest:
        return None
    rows = Light(plain.rows._replace(weights=weights), None)
    return plain._replace(rows=rows, longest=longest)


def unit_weights(g: GraphView) -> WaitingRows:
    """Return rows with a weight of 1 for every edge, prepared for buckets of width 1."""
    rows = g.member.local("out").rows
    ones = per_edge(rows, lambda block: np.ones_like(block.ends, "float32"))
    rows = rows._replace(weights=ones)
    # All edges are light, because heavy ones are relaxed later, on the assumption that they leave the
    # bucket.
    return WaitingRows(1.0, Light(rows, rows.offsets[1:]))


def _hubs_first(g: GraphView, width: float) -> WaitingRows:
    """Return rows by labels, hubs first, so that the distances that are read most often are adjacent."""
    rows = g.member.local("out").rows
    kernels = rows_kernels.of(rows.ends)
    degrees = g.degrees
    if g.directed:  # a sample of the edges is enough to find hubs
        degrees = kernels.degrees(rows.ends[::SAMPLED], count=g.size)
    if not has_hubs(degrees):
        return WaitingRows(width, rows)
    labels = kernels.degree_labels(degrees if g.directed else 2 * degrees + g.exists)
    rows = kernels.relabelled(rows, labels, threads=g.member.threads)
    return WaitingRows(width, rows, labels, inverse(labels))
