"""Orientation: each edge of a graph leads from the end of lower degree to the end of higher degree.

Vertices are ordered by descending degree, and then by number. A row contains the neighbors of a vertex that
come before it in this order. In a graph with m edges, the longest row has at most sqrt(2 m) ends, even if
some vertices have far more neighbors (Shun, Tangwongsan, ICDE 2015).

A member *labels* its vertices and their mirrors with 0, 1 and so on, in this order, which is the same for
all members. Its rows contain labels, so ends that occur in many rows are small numbers and adjacent.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.graph import numbering
from dask_graphflow.graph.make_rows import make_rows
from dask_graphflow.graph.offsets import offsets_of
from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels import intersect as intersect_kernels
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.operators.access import positions_of
from dask_graphflow.operators.view import GraphView

PLAIN, COUNTED = "oriented", "oriented, edges counted"  # names under which orientations are cached


class Orientation(NamedTuple):
    """A member's rows by labels."""

    # For each label, the labels of the neighbors before it, in ascending order. The rows of mirrors are
    # empty. Weights, if any, are the numbers of edges to the neighbor.
    rows: Any
    # Array of index, shape (L,). The label of each position: owned vertices, then mirrors.
    label: Any
    # Array of index, shape (L,). The vertex of each label, as an index among those of all members.
    places: Any
    owner: Any  # array of int32, shape (L,). The member that owns the vertex of each label.


def orient(g: GraphView, *, counted: bool = False) -> Orientation:
    """Return this member's part of an undirected graph, oriented, without self-loops and parallel edges.

    All members call it. The result is made once, and cached with the graph. Weights are the numbers of
    parallel edges if they are `counted`.
    """
    shard, host = g.member.shard, g.member.shard.host
    name = COUNTED if counted else PLAIN
    on_host = numbering.kept_by_all(host, g.member.exchange, name, lambda: _orient(g, counted))
    made: Orientation = shard.here(name, on_host)
    return made


def invert_orientation(g: GraphView, o: Orientation) -> Rows:
    """Return, for each label, the labels of the rows in which it is an end; see :func:`invert_rows`.

    They are made once, and cached with the graph.
    """
    of = PLAIN if o.rows.weights is None else COUNTED
    host, name, count = g.member.shard.host, f"rows that contain labels, {of}", len(o.label)
    on_host = host.kept(name, lambda: invert_rows(g, host.made(of).rows, count))
    made: Rows = g.member.shard.here(name, on_host)
    return made


def invert_rows(g: GraphView, rows: Rows, count: int, among: Any = slice(None)) -> Rows:
    """Return, for each label, the rows in which it is an end, ascending, with the weights of `rows`.

    The ends of the rows are labels, 0 to `count` - 1. Only the entries `among` count; all by default.
    """
    owners = rows_kernels.of(rows.ends).owners(rows, rows.ends.dtype, threads=g.member.threads)
    weights = None if rows.weights is None else rows.weights[among]
    columns = max(count, len(rows.offsets) - 1)
    sides = rows.ends[among], owners[among]
    resources = g.member.exchange.resources
    return make_rows(*sides, weights, count=count, columns=columns, resources=resources)


def labels_of(g: GraphView, o: Orientation, places: Any) -> tuple[Any, Any]:
    """Return the labels of vertices of any member, and whether each vertex has a label on this member."""
    positions = positions_of(g, places)
    return o.label[np.maximum(positions, 0)], positions >= 0


def relabel(
    g: GraphView, o: Orientation, lengths: Any, places: Any, weights: Any = None
) -> tuple[Rows, Any]:
    """Convert rows of another member to labels of this one; also return which entries have a label here.

    `lengths` are the numbers of entries of the rows, and `places` the vertices of the entries.
    """
    labels, has_label = labels_of(g, o, places)
    weights = None if weights is None else weights[has_label]
    return Rows(
        offsets_of(has_label)[offsets_of(lengths)], labels[has_label], weights, 0
    ), has_label


def _orient(g: GraphView, counted: bool) -> Orientation:
    host = g.member.shard.host
    local = host.local("out", g.member.threads)
    rows = local.rows
    kernels = rows_kernels.of(rows.ends)
    degrees, slots = np.diff(rows.offsets), local.slots.astype(index_dtype(host.size), copy=False)
    own = np.arange(host.low, host.high, dtype=slots.dtype, like=slots)
    before = local.slot_bounds[host.rank]  # number of mirrors with places before the owned ones
    if len(slots) or g.member.exchange.size > 1:
        mirrored = numbering.mirrors(host, g.member.exchange, "out", g.member.threads).mirrored
        mirror_degrees = g.member.exchange.all_to_all(
            [degrees if indices is None else degrees[indices] for indices in mirrored]
        )
        mirror_degrees[host.rank] = degrees[:0]
        theirs = np.concatenate(mirror_degrees)
        degrees = np.concatenate([theirs[:before], degrees, theirs[before:]])
    # Labels of vertices in the order of their places: some mirrors are before, others after owned vertices.
    ordered = kernels.degree_labels(degrees).astype(rows.ends.dtype, copy=False)
    split = before, before + host.owned
    label = np.concatenate([ordered[split[0] : split[1]], ordered[: split[0]], ordered[split[1] :]])
    places, owner = np.empty_like(slots, shape=len(label)), np.empty_like(label, "int32")
    places[label] = np.concatenate([own, slots])
    ranks = np.empty_like(owner)
    ranks[: host.owned] = host.rank
    for rank, (low, high) in enumerate(itertools.pairwise(local.slot_bounds)):
        ranks[host.owned + low : host.owned + high] = rank
    owner[label] = ranks
    directed = intersect_kernels.of(rows.ends).directed
    source, target = directed(rows, label, threads=g.member.threads)
    weight = np.ones_like(source, "int32") if counted else None
    options: dict[str, Any] = {"count": len(label), "resources": g.member.exchange.resources}
    options["multi"] = "sum" if counted else "first"
    return Orientation(
        make_rows(source, target, weight, **options),
        label,
        places,
        owner,
    )
