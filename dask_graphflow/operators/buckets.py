"""Buckets: relax edges in the order of their vertices' distances.

Vertices wait in buckets by distance, all of the same width (delta-stepping [1]_). The members agree on the
lowest bucket in which any member has a vertex. Each member relaxes the edges of its own vertices until its
part of that bucket is empty. It goes on with its next buckets while they are small, because a round of
messages takes as long. Then it sends the mirrors that it reached, except mirrors in later buckets, whose
distances can still decrease.

A device is only used well with many vertices at once, and a bucket seldom has many. On a device, a member
therefore relaxes all vertices nearer than a limit, and then raises the limit (near and far piles [2]_).

A distance is final if every vertex that still waits is farther away. If there are targets, the search stops
once the distance of the farthest target is final.

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
from dask_graphflow.kernels.csr import Light
from dask_graphflow.showing.tables import counted

from .view import GraphView

__all__ = ["Relaxed", "relax", "relax_steps"]

SAMPLED = 16  # one edge in 16 is counted to find hubs


class Relaxed(NamedTuple):
    """Distances from sources.

    Attributes
    ----------
    rows : Rows
        Rows of outgoing edges, in whose order the distances are.
    distance : array of float64
        Distances of masters and mirrors, in the order of `rows`. They are infinite for vertices that were
        not reached and, if the search stopped at the farthest target, for vertices beyond it. Distances of
        mirrors are those that this member found.
    sources : array of integers
        Sources of this member, in the order of `rows`.
    labels, names : array of integers, shape (V_p,), or None
        The row of each position, and the position of each row; None if they are the same.
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
    """Relax edges until no distance decreases any more. All members call it at once.

    If there are targets, stop once their distances are final.

    Parameters
    ----------
    g : GraphView
        A graph with weights.
    sources : array of integers
        Positions of the sources that this member owns, each once.
    cutoff : float
        Maximum distance; infinite for none.
    targets : array of integers, optional
        Positions of the targets that this member owns. Either all members pass targets, or none does.

    Raises
    ------
    WeightError
        A weight of any member is negative or NaN.
    """
    delta = _width(g)
    light, labels, names = _light_first(g, delta)
    if labels is not None:
        sources = labels[sources]
        targets = None if targets is None else labels[targets]
    distance = g.column(np.inf, "float64", g.local("out").size)
    distance[sources] = 0
    _relax(g, light, distance, sources, delta, cutoff, targets)
    return Relaxed(light.rows, distance, sources, labels, names)


def relax_steps(
    g: GraphView, distance: Any, sources: Any, cutoff: float = math.inf, targets: Any = None
) -> Relaxed:
    """Relax as :func:`relax` does, with a weight of 1 for every edge.

    Parameters
    ----------
    g : GraphView
    distance : array of float64
        Distances of masters and mirrors: 0 for vertices that were reached, and infinite for others. Changed
        in place.
    sources, cutoff, targets
        See :func:`relax`. All edges that leave other reached vertices must lead to reached vertices.
    """
    rows = g.local("out").rows
    rows = rows._replace(first=0, weights=np.ones_like(rows.ends, "float32"))
    # All edges are light, because heavy ones are relaxed later, on the assumption that they leave the
    # bucket.
    light = Light(rows, rows.offsets[1:])
    _relax(g, light, distance, sources, 1.0, cutoff, targets)
    return Relaxed(rows, distance, sources)


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
    # Neither the width nor its reciprocal may overflow.
    return min(max(width, 1e-300), 1e300) if mean > 0 else 1.0


def _relax(
    g: GraphView,
    light: Light,
    distance: Any,
    sources: Any,
    delta: float,
    cutoff: float,
    targets: Any,
) -> None:
    mirrors = None if g.alone else g.mirrors("out")
    kernels = kernels_of("buckets", distance)
    buckets = kernels.Buckets(light, distance, sources, delta, cutoff=cutoff, threads=g.threads)
    low, before = 0.0, buckets.counts
    while low < math.inf:
        with g.superstep("push", 0, 0) as row:
            while buckets.relax(low, before["edges"] + kernels.AHEAD):
                pass
            after = buckets.counts
            sums = tuple(after[name] - before[name] for name in ("vertices", "edges"))
            late, low = buckets.late, buckets.lowest()
            if mirrors is not None:
                reached, found = buckets.take_mirrors()
                low = min(low, buckets.lowest_of(found))
                mirrors.reduce(distance, reached, (*sums, late), most=-low, values=found)
                totals = mirrors.receive(buckets.offer)
                sums, late, low = totals.sums[:2], bool(totals.sums[2]), -totals.most
            if row:
                row["frontier"], row["edges"] = sums
            # Unless some vertex is late, no waiting vertex is nearer than `low`.
            if targets is not None and not late:
                farthest = _farthest(g, distance, targets)
                if farthest < low:
                    distance[distance > farthest] = np.inf
                    return
        before = after


def _light_first(g: GraphView, delta: float) -> Labelled:
    """Return rows prepared for buckets of a width; a device caches them with the graph."""
    rows = g.local("out").rows._replace(first=0)
    if not g.shard.on_device:
        return Labelled(kernels_of("buckets", rows.ends).light_first(rows, delta), None, None)
    if g.shard.linked:  # there is no room on the device for a copy of its edges
        return Labelled(Light(rows, rows.offsets[1:]), None, None)

    def make() -> Labelled:
        labelled = _hubs_first(g) if g.alone else Labelled(rows, None, None)
        light_first = kernels_of("buckets", rows.ends).light_first
        return labelled._replace(rows=light_first(labelled.rows, delta))

    kept: Labelled = g.shard.kept("light first", make)
    return kept


def _hubs_first(g: GraphView) -> Labelled:
    """Return rows by labels, hubs first, so that the distances that are read most often are adjacent."""
    rows = g.local("out").rows._replace(first=0)
    kernels = kernels_of("rows", rows.ends)
    degrees = g.degrees
    if g.directed:  # a sample of the edges is enough to find hubs
        degrees = kernels.degrees(rows.ends[::SAMPLED], count=g.size)
    if not has_hubs(degrees):
        return Labelled(rows, None, None)
    labels = kernels.degree_labels(degrees if g.directed else 2 * degrees + g.exists)
    return Labelled(kernels.relabelled(rows, labels, threads=g.threads), labels, inverse(labels))
