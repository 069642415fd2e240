"""The edges that an update changed, without their directions, and the rows of their ends.

Several members send each other these rows, so that each member can intersect all of them.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.graph.change import Change
from dask_graphflow.graph.make_rows import make_rows
from dask_graphflow.graph.offsets import offsets_of
from dask_graphflow.kernels import disk, is_on_disk, lookup
from dask_graphflow.operators.access import entries_of, gather
from dask_graphflow.operators.view import GraphView

logger = logging.getLogger(__name__)

ROOM = 1 << 18  # row entries for which every member has room


class NeighborRows(NamedTuple):
    """Some rows of the new graph, the same on every member."""

    starts: Any  # array of int64. Where each row begins in `ends`.
    stops: Any  # array of int64. Where it ends.
    ends: Any  # numbers of vertices, which ascend in each row


class ChangedEdges(NamedTuple):
    """Both directions of the edges between different vertices that are in one of two versions of a graph.

    They ascend by source and target.
    """

    sources: Any  # array of int64
    targets: Any  # array of int64
    inserted: Any  # array of bool. Whether each edge is in the new version.
    vertices: Any  # array of int64. The sources, and maybe further vertices, ascending.
    # The neighbors of these vertices in the new version. Some may be there several times.
    rows: NeighborRows


def changed_edges(g: GraphView) -> ChangedEdges | None:
    """Return the edges that the update of a graph changed. All members call it.

    None if it takes less time to count all triangles: on a device, or if the shorter rows of the edges have
    more entries than the graph. Also None if the members have no room for the rows of each other.
    """
    if g.member.shard.on_device:
        return None
    change: Change | None = g.member.shard.change
    assert change is not None, "an earlier result is given only if an update made the graph"
    apart = np.flatnonzero(change.sources != change.targets)
    sources, targets = (side[apart].astype("int64") for side in (change.sources, change.targets))
    before, after = change.before[apart], change.after[apart]
    if g.directed:
        return _without_directions(g, sources, targets, before)
    at = np.flatnonzero(before != after)
    sources, targets = sources[at], targets[at]
    vertices = np.unique(sources)
    rows = _rows_of(g, ["out"], vertices, sources, targets)
    if rows is None:
        return None
    return ChangedEdges(sources, targets, after[at], vertices, rows[0])


def _without_directions(
    g: GraphView, sources: Any, targets: Any, before: Any
) -> ChangedEdges | None:
    """Return the changed edges of a directed graph, given the pairs that the batch named.

    Two vertices are neighbors if there is an edge in at least one direction.
    """
    vertices = np.unique(np.concatenate([sources, targets]))
    sides = _rows_of(g, ["out", "into"], vertices, sources, targets)
    if sides is None:
        return None
    named = len(sources)
    sources, targets = np.concatenate([sources, targets]), np.concatenate([targets, sources])
    order = np.lexsort((targets, sources))
    sources, targets = sources[order], targets[order]
    once = np.ones(len(order), bool)
    once[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
    pair = np.empty(len(order), np.int64)
    pair[order] = np.cumsum(once) - 1
    sources, targets = sources[once], targets[once]
    now = _contain(sides[0], np.searchsorted(vertices, sources), targets)
    earlier = now.copy()
    earlier[pair[:named]] = before
    back = np.lexsort((sources, targets))  # for each pair, that of the other direction
    now, earlier = now | now[back], earlier | earlier[back]
    at = np.flatnonzero(now != earlier)
    lengths = [side.stops - side.starts for side in sides]
    made = make_rows(
        [
            np.repeat(np.arange(len(vertices), dtype=side.ends.dtype), n)
            for side, n in zip(sides, lengths, strict=True)
        ],
        [side.ends for side in sides],
        count=len(vertices),
        columns=g.size,
        multi="first",
        resources=g.member.exchange.resources,
    )
    rows = NeighborRows(made.offsets[:-1], made.offsets[1:], made.ends)
    return ChangedEdges(sources[at], targets[at], now[at], vertices, rows)


def _contain(rows: NeighborRows, row: Any, ends: Any) -> Any:
    """Return whether some rows contain an end each."""
    first, stop = rows.starts[row], rows.stops[row]
    lookup.of(first).narrow((rows.ends,), (ends.astype(rows.ends.dtype),), first, stop)
    return first < stop


def _rows_of(
    g: GraphView, sides: list[str], vertices: Any, sources: Any, targets: Any
) -> list[NeighborRows] | None:
    """Return rows of vertices on each side, if the shorter rows of some pairs have few enough entries."""
    rows, shard = [g.member.rows(side) for side in sides], g.member.shard
    own = vertices[(vertices >= shard.low) & (vertices < shard.high)] - shard.low
    lengths = [gather(g, one.offsets[own + 1] - one.offsets[own]) for one in rows]
    total, edges = np.sum(lengths, axis=0), g.edges * len(sides)
    shorter = np.minimum(*(total[np.searchsorted(vertices, ends)] for ends in (sources, targets)))
    steps = int(shorter.sum()) // (1 if g.directed else 2)  # an undirected edge is there twice
    copies = g.directed or not g.member.alone_in_memory
    room = max(ROOM, edges // g.member.exchange.size)
    if any(is_on_disk(one.ends) for one in rows):
        room = disk.budget() // rows[0].ends.itemsize
    if g.all_sum(steps > edges or (copies and int(total.sum()) > room)):
        logger.debug("All triangles are counted: the changed edges have rows of %d entries", steps)
        return None
    if not copies:
        return [NeighborRows(rows[0].offsets[own], rows[0].offsets[own + 1], rows[0].ends)]
    return [_copy(g, *of_side, own) for of_side in zip(rows, lengths, strict=True)]


def _copy(g: GraphView, rows: Any, lengths: Any, own: Any) -> NeighborRows:
    """Return rows of all members, given those of this one and the lengths of all."""
    _, _, entries = entries_of(rows, own, g.member.threads)
    offsets = offsets_of(lengths)
    return NeighborRows(offsets[:-1], offsets[1:], gather(g, disk.take(rows.ends, entries)))
