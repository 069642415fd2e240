"""Whole searches: each thread, or each team of a device's blocks, searches from a source by itself.

This takes a member with all edges. A search then takes no superstep per level. A single member has all
edges. The devices of several members copy the rows of each other if they share memory and have room, and
then share out the sources. Otherwise several members, and a single one with fewer sources than threads,
share each search instead. Sums are added up in the same way, so all give the same bits.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.kernels import device_room, is_on_disk, kernels_for
from dask_graphflow.kernels import searches as searches_kernels
from dask_graphflow.kernels import tight_edges as tight_edges_kernels
from dask_graphflow.operators.access import gather
from dask_graphflow.operators.view import GraphView

Columns = tuple[Any, ...]

ROOM = 1 << 20  # number of distances that are found before they are used
SMALL = 1 << 16  # edges per level that a thread follows before threads could have shared the level
SEARCHING = 64  # most bytes per vertex that a search takes on a device
SHARE = 8  # the part of a device's room, 1 / SHARE, for what a member finds before members send it


def on_one_host(g: GraphView) -> bool:
    """Return whether a single member has the graph on the host."""
    return g.member.alone and not g.member.shard.on_device


def on_one_device(g: GraphView) -> bool:
    """Return whether each search without weights can run on one device. All members call it.

    A single member's device has all edges. Those of several members can copy them if all have room.
    """
    member = g.member
    if member.alone:
        return member.shard.on_device
    if member.shared_memory() is None:
        return False
    own = member.rows("out")
    sides, edges = 2 if g.directed else 1, g.edges
    # What the others send, the copy that is made from it, and a search.
    copied = 2 * sides * (edges * own.ends.itemsize + g.size * own.offsets.itemsize)
    full = member.shard.linked or copied + SEARCHING * g.size > device_room()
    return not g.all_sum(full)


def suit_sources(g: GraphView, count: int, depth: Callable[[], int] | None = None) -> bool:
    """Return whether whole searches from `count` sources take less time than shared ones.

    `depth` returns the number of levels of a search, if levels can be too small to be shared. All members
    call it.
    """
    member = g.member
    if depth is None:
        return member.alone and not member.shard.on_device and count >= member.threads
    if on_one_device(g):
        return True
    if not member.alone:
        return False
    edges = member.shard.out.ends
    if is_on_disk(edges):  # each thread would need memory for all edges
        return False
    return count >= member.threads or len(edges) < SMALL * depth()


def find_distances(g: GraphView, places: Any) -> Iterator[Any]:
    """Yield the weighted distances from one source after another, on one host; infinite if not reached.

    `places` has the index of each source among all sources, and -1 for other vertices.
    """
    rows, threads = g.member.local("out").rows, g.member.threads
    kernels = tight_edges_kernels.of(rows.ends)
    most = max(threads, min(kernels.AT_ONCE, ROOM // g.owned))
    for found in _batches(
        g, _sort_sources(g, places), most, partial(kernels.distances, rows, threads=threads)
    ):
        yield from found


def find_levels(g: GraphView, sources: Any) -> Any:
    """Return the level of each owned vertex in the search from each source; -1 if it is not reached.

    `sources` are the positions of the sources that this member owns. All members call it; see
    :func:`on_one_device`. The rows of the result are in the same order on all members.
    """
    rows = g.member.all_rows("out")
    search = partial(searches_kernels.of(rows.ends).levels, rows, threads=g.member.threads)
    sources = gather(g, sources.astype("int64") + g.member.shard.low)

    def find(sources: Any) -> Any:
        if g.member.alone:
            return search(sources)
        levels = np.empty_like(sources, "int32", shape=(len(sources), g.owned))
        found = _find_in_order(g, sources, ("int32",), lambda some: iter([(search(some),)]))
        for row, (level,) in zip(levels, found, strict=True):
            row[:] = level
        return levels

    return next(_batches(g, sources, len(sources), find))


def add_dependencies(
    g: GraphView, places: Any, scores: Any, carried: Any = None, *, endpoints: bool = False
) -> bool:
    """Add what vertices, and edges if `carried` is given, contribute to the shortest paths from sources.

    Contributions are added in the order of the sources, in place. The graph does not have parallel edges
    and self-loops, and weights, if any, are positive and finite. Weights and `carried` need a graph on one
    host. `endpoints`: a path also counts for its first and its last vertex. Returns whether each weight
    changes the distance to which it is added. If not, the sums are wrong. All members call it; see
    :func:`on_one_device`.
    """
    rows, into = _both_ways(g)
    kernels: Any
    sums: tuple[Any, ...]
    if carried is None and not g.weighted:
        kernels, sums = searches_kernels.of(rows.ends), (scores,)
        search = kernels.add_dependencies
    else:
        kernels = tight_edges_kernels.of(rows.ends)
        sums = scores, np.empty(0) if carried is None else carried
        search = kernels.add_contributions

    def add(some: Any) -> bool:
        if not g.member.alone:
            several = partial(searches_kernels.dependencies, rows, into, endpoints=endpoints)
            for (part,) in _find_in_order(g, some, ("float64",), several):
                np.add(scores, part, out=scores)
            return True
        found = search(rows, into, some, *sums, endpoints=endpoints, threads=g.member.threads)
        return found is not False

    return all(_batches(g, _sort_sources(g, places), kernels.AT_ONCE, add))


def find_paths(g: GraphView, places: Any) -> Iterator[tuple[Any, int, Columns]]:
    """Yield the shortest paths from one source after another, without weights.

    All members call it; see :func:`on_one_device`. Yields the position of the source, if this member owns
    it, the number of vertices that it reaches, and arrays of shape (V_p,): the level of each vertex, two
    arrays with the number of paths to it, and its dependency; see :class:`.Paths`.
    """
    sources, (rows, into) = _sort_sources(g, places), _both_ways(g)
    at = sources - g.member.shard.low
    owns = kernels_for(at).to_host((at >= 0) & (at < g.owned)).tolist()
    dtypes = "int32", "float64", "int32", "float64"
    found = _find_in_order(g, sources, dtypes, partial(searches_kernels.paths, rows, into))
    with g.superstep("push", len(sources), len(sources) * len(rows.ends)):
        for i, columns in enumerate(found):
            yield at[i : i + owns[i]], g.count_true(columns[0] >= 0), columns


def _sort_sources(g: GraphView, places: Any) -> Any:
    """Return the numbers of the sources of all members, in the order of their places."""
    own = np.flatnonzero(places >= 0)
    sources = gather(g, own + g.member.shard.low)
    return sources[np.argsort(gather(g, places[own]))]


def _find_in_order(
    g: GraphView,
    sources: Any,
    dtypes: tuple[str, ...],
    search: Callable[[Any], Iterator[Columns]],
) -> Iterator[Columns]:
    """Yield the columns of this member's vertices, which have some dtypes, for one source after another.

    ``search(sources)`` yields columns of all vertices for a few sources at a time, with one row per source.
    Members take turns at the sources.
    """
    if g.member.alone:
        for columns in search(sources):
            yield from zip(*columns, strict=True)
        return
    exchange = g.member.exchange
    rank, size = exchange.rank, exchange.size
    each = SHARE * sum(np.dtype(dtype).itemsize for dtype in dtypes) * g.size
    at_once = size * max(1, int(-g.all_reduce(most=-float(device_room())).most) // each)
    for first in range(0, len(sources), at_once):
        some = sources[first : first + at_once]
        boxes = _find_for_each(g, some[rank::size].copy(), dtypes, search)
        parts = [exchange.all_to_all([box.ravel() for box in column]) for column in boxes]
        del boxes
        turns = [len(range(member, len(some), size)) for member in range(size)]
        found = [
            [part.reshape(count, g.owned) for part, count in zip(column, turns, strict=True)]
            for column in parts
        ]
        for turn in range(len(some)):
            yield tuple(column[turn % size][turn // size] for column in found)


def _find_for_each(
    g: GraphView,
    sources: Any,
    dtypes: tuple[str, ...],
    search: Callable[[Any], Iterator[Columns]],
) -> list[list[Any]]:
    """Return, for each column and each member, what is found for its vertices: a row per source."""
    ranges = [*itertools.pairwise(g.member.shard.bounds)]
    boxes = [
        [np.empty_like(sources, dtype, shape=(len(sources), high - low)) for low, high in ranges]
        for dtype in dtypes
    ]
    done = 0
    for columns in search(sources) if len(sources) else ():
        rows = slice(done, done + len(columns[0]))
        for column, parts in zip(columns, boxes, strict=True):
            for part, (low, high) in zip(parts, ranges, strict=True):
                part[rows] = column[:, low:high]
        done = rows.stop
    return boxes


def _batches(g: GraphView, sources: Any, most: int, search: Callable[[Any], Any]) -> Iterator[Any]:
    """Search from at most so many sources in a superstep, and yield what each superstep returns."""
    edges = len(g.member.all_rows("out").ends)
    for first in range(0, len(sources), most):
        some = sources[first : first + most]
        with g.superstep("push", len(some), len(some) * edges):
            found = search(some)
        yield found


def _both_ways(g: GraphView) -> tuple[Any, Any]:
    """Return the rows of leaving and of entering edges of all vertices, by number."""
    return g.member.all_rows("out"), g.member.all_rows("into")
