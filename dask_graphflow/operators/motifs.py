"""Counts of patterns of four vertices, which all members add up over the whole graph.

The edges and the numbers of their triangles are gathered in the host memory of each member. Each member
counts what its share of the vertices contributes to any vertex.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import motifs as motifs_kernels
from dask_graphflow.kernels import move_to
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.motifs import CHORDS, CLIQUES, CYCLES, OPPOSITE, TAILS

from .access import check_host_room, gather_on_host, sources_of
from .intersect import count_triangles
from .intersect.orientation import orient
from .view import GraphView

EDGE_BYTES = 80  # bytes per edge while edges are gathered, and of the rows that are made from them
ADVICE = (
    "Every member needs all edges to count patterns of four vertices. Give size=3, count in a part of the "
    "graph, or give each worker more memory"
)


class FourVertices(NamedTuple):
    """Counts per owned vertex: arrays of int64, shape (V_p,). See :class:`.MotifsKernels`."""

    triangles: Any
    tails: Any
    chords: Any
    opposite: Any
    cycles: Any
    cliques: Any


def count_four_vertices(g: GraphView) -> FourVertices:
    """Return the counts of patterns of four vertices in a simple, undirected graph. All members call it.

    Raises
    ------
    GraphMemoryError
        A member does not have enough memory for the edges.
    """
    member = g.member
    needed = float(EDGE_BYTES * g.edges // 2 + 8 * (motifs_kernels.COUNTS + 2) * g.size)
    check_host_room(g, needed, "counting patterns of four vertices", ADVICE)
    triangles = count_triangles(g, supports=True)
    oriented = orient(g)

    source, target = (
        gather_on_host(g, oriented.places[labels])
        for labels in (sources_of(g, oriented.rows), oriented.rows.ends)
    )
    supports = gather_on_host(g, triangles.supports)
    kernels = rows_kernels.of(source)
    degrees = np.bincount(source, minlength=g.size) + np.bincount(target, minlength=g.size)
    label = kernels.degree_labels(degrees)
    rows = kernels.rows(
        label[source],
        label[target],
        supports,
        count=g.size,
        undirected=True,
        threads=member.threads,
    )
    del source, target, supports
    with g.superstep("push", g.count, len(rows.ends)):
        share = member.exchange.rank, member.exchange.size
        counts = motifs_kernels.of(rows.ends).count(rows, *share, threads=member.threads)
        shape, own = counts.shape, label[member.shard.low : member.shard.high]
        counts = g.elementwise_sum(counts.ravel()).reshape(shape)[:, own]
    counts[CLIQUES] //= 6
    tails, chords, opposite, cycles, cliques = (
        move_to(g.numbers, counts[at]) for at in (TAILS, CHORDS, OPPOSITE, CYCLES, CLIQUES)
    )
    return FourVertices(triangles.totals, tails, chords, opposite, cycles, cliques)
