"""Sets of edges, and how they are found from the vertices at their ends."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.graph.blocks import blocks, pieces_of
from dask_graphflow.graph.offsets import offsets_of
from dask_graphflow.kernels import disk, is_on_disk, lookup
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.csr import Rows

from .access import at_ends, entries_of, sources_of, wide_column
from .view import GraphView

MANY = 2  # rows on disk are read in place if the chosen ones have at least 1/2 of the edges
SCANNED = 32  # edges that are scanned in the time in which one is found in the row of its other end
BLOCK = 1 << 20  # about the number of edges on disk that are read at a time


class EdgeSet(NamedTuple):
    """Some edges of a member's rows, in their order."""

    vertices: Any  # array of index, shape (e,). Position of the vertex in whose row each edge is.
    entries: Any  # array of int64, shape (e,). Index of each edge in ``g.member.rows("out")``.


def edges_where(g: GraphView, marks: Any) -> EdgeSet:
    """Return the edges that an array of bool, with one entry per edge, marks."""
    rows = g.member.local("out").rows
    vertices = sources_of(g, rows, g.index)
    entries = np.flatnonzero(marks)
    return EdgeSet(disk.take(vertices, entries), entries)


def edges_from(g: GraphView, which: Any) -> EdgeSet:
    """Return the edges that leave some owned vertices, given by their positions in ascending order."""
    _, row, entries = entries_of(g.member.local("out").rows, which, g.member.threads)
    return EdgeSet(which.astype(g.index, copy=False)[row], entries)


def edges_at(g: GraphView, which: Any) -> EdgeSet:
    """Return the edges of an undirected graph that have an end among some owned vertices.

    The vertices are given by their positions in ascending order. All members call it. An edge is listed in
    the row of its end with the smaller number, and may be listed in that of the other end.
    """
    if g.member.alone_in_memory:
        rows = g.member.rows("out")
        leaving = int((rows.offsets[which + 1] - rows.offsets[which]).sum())
        if leaving * SCANNED <= len(rows.ends):
            return _move_to_smaller_ends(edges_from(g, which), rows)
    chosen = g.column(False, "bool")
    chosen[which] = True
    return edges_where(g, at_ends(g, chosen, operator.or_))


def _move_to_smaller_ends(edges: EdgeSet, rows: Rows) -> EdgeSet:
    """Return the same edges, each once, in the rows of their ends with the smaller numbers."""
    (vertices, entries), ends = edges, rows.ends[edges.entries]
    there = ends >= vertices
    # Parallel edges follow one another in a row, and are found together in the other row.
    new = np.ones(len(ends), bool)
    new[1:] = (ends[1:] != ends[:-1]) | (vertices[1:] != vertices[:-1])
    near, far = ends[new & ~there], vertices[new & ~there]
    first, stop = rows.offsets[near], rows.offsets[near + 1]
    lookup.of(rows.ends).narrow((rows.ends,), (far,), first, stop)
    offsets = offsets_of(stop - first)
    moved = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], stop - first)
    vertices = np.concatenate(
        [vertices[there], np.repeat(near.astype(vertices.dtype), stop - first)]
    )
    entries, at = np.unique(np.concatenate([entries[there], moved]), return_index=True)
    return EdgeSet(vertices[at], entries)


def edges_among(g: GraphView, ids: Any) -> tuple[Any, Any]:
    """Return the edges that leave this member's vertices among some, as row numbers of `ids`, a frame.

    All members call it. Each id occurs once.
    """
    places, rows, low = g.places(ids), g.member.rows("out"), g.member.shard.low
    order = np.argsort(places)
    own = np.flatnonzero((places >= low) & (places < low + g.owned))
    _, row, entries = entries_of(rows, places[own] - low, g.member.threads)
    ends = disk.take(rows.ends, entries)
    at = order[np.minimum(np.searchsorted(places[order], ends), len(order) - 1)]
    hits = np.flatnonzero(places[at] == ends)
    return own[row[hits]], at[hits]


def edges_between(g: GraphView, chosen: Any) -> EdgeSet:
    """Return the edges between the chosen vertices, a mask. All members call it.

    Only the rows of these vertices are read, unless they have a large part of the edges.
    """
    rows, which = g.member.local("out").rows, np.flatnonzero(chosen).astype(g.index)
    # If one member has both rows of an undirected edge, the row of the smaller end lists it.
    once = g.member.alone and not g.directed
    between = partial(
        rows_kernels.of(rows.ends).between,
        inside=chosen if g.member.alone else wide_column(g, chosen), later=once, threads=g.member.threads,
    )  # fmt: skip
    offsets = offsets_of(rows.offsets[which + 1] - rows.offsets[which])
    leaving, found = int(offsets[-1]), []
    if not is_on_disk(rows.ends) or leaving * MANY >= len(rows.ends):
        return EdgeSet(*between(rows, which))
    for low, high in pieces_of(offsets, max(1, -(-leaving // BLOCK))):
        own = which[low:high]
        starts, _, entries = entries_of(rows, own, g.member.threads)
        near = Rows(starts, disk.take(rows.ends, entries), None, 0)
        vertices, at = between(near, np.arange(len(own)), names=own)
        found.append(EdgeSet(vertices, entries[at]))
    return EdgeSet(*map(np.concatenate, zip(*found, strict=True)))


def repeated_neighbors(g: GraphView) -> Any:
    """Return which owned vertices have two edges to the same other vertex: array of bool, shape (V_p,)."""
    rows, found = g.member.local("out").rows, g.column(False, "bool")
    for _, block in blocks(rows):
        sources, ends = sources_of(g, block, g.index), block.ends
        again = (ends[1:] == ends[:-1]) & (sources[1:] == sources[:-1]) & (ends[1:] != sources[1:])
        found[sources[1:][again]] = True
    return found
