"""Sets of edges, and how they are found from the vertices at their ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.graph.blocks import blocks, pieces_of
from dask_graphflow.kernels import disk, is_on_disk

from .access import entries_of, offsets_of, sources_of, wide_column
from .view import GraphView

MANY = 2  # all rows are read if the chosen ones have at least 1/2 of the edges
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
    rows, which = g.member.local("out").rows._replace(weights=None), np.flatnonzero(chosen)
    offsets = offsets_of(rows.offsets[which + 1] - rows.offsets[which])
    wide, leaving, found = wide_column(g, chosen), int(offsets[-1]), []

    def kept(vertices: Any, ends: Any) -> Any:
        inside = wide[vertices] & wide[ends]
        if g.member.alone and not g.directed:
            inside &= vertices <= ends  # the row of the other end has the edge, too
        return np.flatnonzero(inside)

    if leaving * MANY >= len(rows.ends):
        for edges, block in blocks(rows):
            vertices = sources_of(g, block, g.index)
            at = kept(vertices, block.ends)
            found.append(EdgeSet(vertices[at], at + edges.start))
    else:
        count = max(1, -(-leaving // BLOCK)) if is_on_disk(rows.ends) else 1
        for low, high in pieces_of(offsets, count):
            vertices, entries = edges_from(g, which[low:high])
            at = kept(vertices, disk.take(rows.ends, entries))
            found.append(EdgeSet(vertices[at], entries[at]))
    return EdgeSet(*map(np.concatenate, zip(*found, strict=True)))
