"""Buckets: edges are relaxed in the order of their vertices' distances.

Vertices wait in buckets by distance, each of the same width (delta-stepping [1]_). The members agree on the
lowest bucket that any of them has. Each relaxes the edges of its own vertices until its part of that
bucket is empty, and goes on with its next buckets while they are small, for a round of messages takes as
long. Then it sends the mirrors that it reached, except those in later buckets, which can still come
nearer.

A device is busy only with many vertices at once, and a bucket seldom has them. There, a member relaxes all
vertices nearer than a limit, and the limit is raised once no member has any (near and far piles [2]_).

A distance is final if every vertex that still waits is farther away. If there are targets, the search stops
once the distance of the farthest one is final.

.. [1] U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", Journal of
   Algorithms 49 (1), 2003.
.. [2] A. Davidson, S. Baxter, M. Garland, J. D. Owens, "Work-Efficient Parallel GPU Methods for
   Single-Source Shortest Paths", IPDPS 2014.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.graph.hubs import has_hubs, inverse
from dask_graphflow.kernels import kernels_of
from dask_graphflow.kernels.edge_op import EdgeOp
from dask_graphflow.showing.tables import counted

from .local_advance import advance
from .vertex_set import VertexSet
from .view import GraphView

__all__ = ["Relaxed", "relax"]

AHEAD = 1 << 15  # edges that a member goes ahead by in a round: about as long as a round takes
FEW = 1 << 13  # vertices of a bucket that it goes ahead with
SAMPLED = 16  # one edge in so many is counted to find hubs
RELAX = EdgeOp("relax", target="distance", signal="distance[src] + weight", slot="min")


class Relaxed(NamedTuple):
    """Distances from sources.

    Attributes
    ----------
    rows : Rows
        Rows of outgoing edges that distances belong to.
    distance : array of float64
        Of masters and mirrors, in the order of `rows`; infinite for vertices that were not reached, and for
        vertices beyond the farthest target if the search stopped there. Those of mirrors are what this
        member found.
    sources : array of integers
        Sources of this member, in the order of `rows`.
    labels, names : array of integers, shape (V_p,), or None
        Where in `rows` each position is, and the position of each row; None if they are the same.
    """

    rows: Any
    distance: Any
    sources: Any
    labels: Any = None
    names: Any = None

    def by_vertex(self, owned: int) -> Any:
        """Return the distance of each owned vertex: array of float64, shape (V_p,)."""
        return self.distance[:owned] if self.labels is None else self.distance[self.labels]


class Labelled(NamedTuple):
    """Rows by labels instead of vertex numbers.

    Attributes
    ----------
    rows : Rows, or Light
    labels, names : array of integers, shape (V,), or None
        Label of each vertex, and vertex of each label; None for rows by vertices.
    """

    rows: Any
    labels: Any
    names: Any


def relax(g: GraphView, sources: Any, cutoff: float = math.inf, targets: Any = None) -> Relaxed:
    """Relax edges until no vertex comes nearer to the sources. All members call it at once.

    If there are targets, stop once their distances are final.

    Parameters
    ----------
    g : GraphView
        With weights.
    sources : array of integers
        Positions of the sources that this member owns, each once.
    cutoff : float
        Maximum distance; infinite for none.
    targets : array of integers, optional
        Positions of the targets that this member owns. All members give theirs, or none does.

    Raises
    ------
    WeightError
        A weight of any member is negative or NaN.
    """
    delta = _width(g)
    if g.shard.on_device and g.alone:
        return _fused(g, sources, delta, cutoff, targets)
    local = g.local("out")
    distance = g.column(np.inf, "float64", local.size)
    distance[sources] = 0
    loop = _piles if g.exchange.devices else _buckets
    loop(g, local, distance, sources, delta, cutoff, targets)
    return Relaxed(local.rows, distance, sources)


def _farthest(g: GraphView, distance: Any, targets: Any) -> float:
    """Return the distance of the farthest target, infinite if one was not reached. All members call it."""
    own = float(distance[targets].max()) if len(targets) else -math.inf
    return g.all_reduce(most=own).most


def _width(g: GraphView) -> float:
    """Return the width of a bucket, or raise if weights are negative or NaN."""
    rows = g.shard.out
    kernels = kernels_of("buckets", rows.ends)
    wrong, mean = g.shard.host.kept(
        "weighed", lambda: kernels.weigh(rows.weights, threads=g.threads)
    )
    own = np.array([wrong, mean, len(rows.ends), int(np.count_nonzero(g.exists))], "float64")
    wrong, means, edges, vertices = np.array(g.exchange.all_gather(own)).T
    mean = float((means * (edges / max(1, edges.sum()))).sum())
    wrong, edges, vertices = (int(part.sum()) for part in (wrong, edges, vertices))
    if wrong:
        raise WeightError(
            f"{counted(wrong, 'weight')} {'is' if wrong == 1 else 'are'} negative or NaN; shortest paths "
            "need weights of at least 0. Remove these edges"
        )
    width = kernels.bucket_width(mean, max(edges / max(1, vertices), 1.0))
    # Neither it nor its reciprocal overflows.
    return min(max(width, 1e-300), 1e300) if mean > 0 else 1.0


def _buckets(
    g: GraphView,
    local: Any,
    distance: Any,
    sources: Any,
    delta: float,
    cutoff: float,
    targets: Any,
) -> None:
    """Relax bucket by bucket, on the host."""
    mirrors = None if g.alone else g.mirrors("out")
    kernels = kernels_of("buckets", local.rows.ends)
    light = kernels.light_first(local.rows, delta)
    buckets = kernels.Buckets(distance, sources, delta, threads=g.threads)
    bucket, before = 0, buckets.counts
    # Whether a vertex that came nearer, after its bucket was emptied, waits in a later one.
    late = False

    def nearer(at: Any, values: Any) -> None:
        nonlocal late
        kernels.offer(buckets, at, values)
        late |= buckets.lowest_of(at) < buckets.present

    while bucket < kernels.NONE:
        with g.superstep("push", 0, 0) as row:
            ahead = before["edges"] + AHEAD
            while (own := buckets.lowest()) <= bucket or (
                own < kernels.NONE
                and buckets.counts["edges"] < ahead
                and buckets.waiting(own) <= FEW
            ):
                kernels.relax(light, buckets, buckets.take_from(own), cutoff=cutoff)
            late &= own <= buckets.present
            after = buckets.counts
            sums = tuple(after[name] - before[name] for name in ("vertices", "edges"))
            anyone_late, bucket = late, own
            if mirrors is not None:
                reached = buckets.take_mirrors()
                lowest = min(own, buckets.lowest_of(reached))
                mirrors.reduce(distance, reached - g.owned, (*sums, late), most=-float(lowest))
                totals = mirrors.receive(nearer)
                sums, anyone_late = totals.sums[:2], bool(totals.sums[2])
                bucket = int(-totals.most)
            if row:
                row["frontier"], row["edges"] = sums
            # Unless a vertex is late, all that wait are in this bucket or beyond it.
            if targets is not None and not anyone_late:
                farthest = _farthest(g, distance, targets)
                if buckets.bucket_of(farthest) < bucket:
                    distance[distance > farthest] = np.inf
                    return
        before = after


def _piles(
    g: GraphView,
    local: Any,
    distance: Any,
    sources: Any,
    delta: float,
    cutoff: float,
    targets: Any,
) -> None:
    """Relax near and far piles, on devices."""
    mirrors, owned, leaving = g.mirrors("out"), g.owned, np.diff(local.rows.offsets)
    far = g.column(False, bool)
    near, limit, rows = sources, delta, local.rows._replace(first=0)
    while True:
        with g.superstep("push", 0, 0) as row:
            edges, found = int(leaving[near].sum()), near[:0]
            if edges:
                pile = VertexSet(owned, vertices=near)
                moved, _ = advance(
                    RELAX, {"distance": distance}, rows, pile, direction="push", threads=g.threads
                )
                found = VertexSet(local.size, words=moved.words).vertices
            cut = int((found < owned).sum())
            reached = [found[:cut]]

            def nearer(at: Any, values: Any, reached: list[Any] = reached) -> None:
                better = values < distance[at]
                at = at[better]
                distance[at] = values[better]
                reached.append(at)

            mirrors.reduce(distance, found[cut:] - owned, sums=(len(near), edges))
            totals = mirrors.receive(nearer)
            if row:
                row["frontier"], row["edges"] = totals.sums
        far[near] = False
        for at in reached:
            far[at] = distance[at] <= cutoff
        waiting = np.flatnonzero(far)
        least = float(distance[waiting].min()) if len(waiting) else math.inf
        # What is near for any member is relaxed before the limit is raised.
        least = -g.all_reduce(most=-least).most
        if least == math.inf:
            distance[distance > cutoff] = np.inf
            return
        if least >= limit:
            farthest = math.inf if targets is None else _farthest(g, distance, targets)
            if farthest < least:
                distance[distance > min(farthest, cutoff)] = np.inf
                return
            # Rounded, that may be no more than the least.
            limit = max((math.floor(least / delta) + 1) * delta, math.nextafter(least, math.inf))
        near = waiting[distance[waiting] < limit].astype(rows.ends.dtype)


def _fused(g: GraphView, sources: Any, delta: float, cutoff: float, targets: Any) -> Relaxed:
    """Relax near and far piles, several in one launch, on the device of the only member."""
    kernels = kernels_of("buckets", sources)

    def make() -> Labelled:
        labelled = _hubs_first(g)
        return labelled._replace(rows=kernels.light_first(labelled.rows, delta))

    light, labels, names = g.shard.kept("light first", make)
    begin = sources if labels is None else labels[sources]
    if targets is not None and labels is not None:
        targets = labels[targets]
    distance = g.column(np.inf, "float64")
    distance[begin] = 0
    buckets = kernels.Buckets(distance, begin, delta)
    before = 0
    while len(frontier := buckets.take()):
        with g.superstep("push", len(frontier), 0) as row:
            kernels.relax(light, buckets, frontier, cutoff=cutoff)
            after = buckets.counts["edges"]
            if row:
                row["edges"] = after - before
        before = after
        if targets is not None:
            farthest = _farthest(g, distance, targets)
            if farthest < buckets.least():
                distance[distance > farthest] = np.inf
                break
    return Relaxed(light.rows, distance, begin, labels, names)


def _hubs_first(g: GraphView) -> Labelled:
    """Return rows by labels, hubs first: distances that are read most often are then side by side."""
    rows = g.local("out").rows._replace(first=0)
    kernels = kernels_of("rows", rows.ends)
    degrees = g.degrees
    if g.directed:  # some of the edges tell hubs from others
        degrees = kernels.degrees(rows.ends[::SAMPLED], count=g.size)
    if not has_hubs(degrees):
        return Labelled(rows, None, None)
    labels = kernels.degree_labels(degrees if g.directed else 2 * degrees + g.exists)
    return Labelled(kernels.relabelled(rows, labels, threads=g.threads), labels, inverse(labels))
