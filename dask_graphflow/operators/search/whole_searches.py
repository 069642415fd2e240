"""Whole searches: each thread, or each team of a device's blocks, searches from a source by itself.

Only a single member can do this, because it has all edges. A search then takes no superstep per level.
Several members, and a single one with fewer sources than threads, share each search instead. Sums are added
up in the same way, so both give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.kernels import count_true, is_on_disk
from dask_graphflow.kernels import searches as searches_kernels
from dask_graphflow.kernels import tight_edges as tight_edges_kernels
from dask_graphflow.operators.view import GraphView

ROOM = 1 << 20  # number of distances that are found before they are used
SMALL = 1 << 16  # edges per level that a thread follows before threads could have shared the level


def on_one_host(g: GraphView) -> bool:
    """Return whether a single member has the graph on the host."""
    return g.member.alone and not g.member.shard.on_device


def on_one_device(g: GraphView) -> bool:
    """Return whether a single member has the graph on a device."""
    return g.member.alone and g.member.shard.on_device


def suit_sources(g: GraphView, count: int, depth: Callable[[], int] | None = None) -> bool:
    """Return whether whole searches from `count` sources take less time than shared ones.

    `depth` returns the number of levels of a search, if levels can be too small to be shared.
    """
    member = g.member
    if not member.alone:
        return False
    if depth is None:
        return not member.shard.on_device and count >= member.threads
    if member.shard.on_device:
        return True
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
        g, _sort_sources(places), most, partial(kernels.distances, rows, threads=threads)
    ):
        yield from found


def find_levels(g: GraphView, sources: Any) -> Any:
    """Return the level of each vertex in the search from each source; -1 if it is not reached."""
    rows = g.member.local("out").rows
    search = partial(searches_kernels.of(rows.ends).levels, rows, threads=g.member.threads)
    return next(_batches(g, sources.astype("int64"), len(sources), search))


def add_dependencies(
    g: GraphView, places: Any, scores: Any, carried: Any = None, *, endpoints: bool = False
) -> bool:
    """Add what vertices, and edges if `carried` is given, contribute to the shortest paths from sources.

    Contributions are added in the order of the sources, in place. The graph does not have parallel edges
    and self-loops, and weights, if any, are positive and finite. Weights and `carried` need a graph on one
    host. `endpoints`: a path also counts for its first and its last vertex. Returns whether each weight
    changes the distance to which it is added. If not, the sums are wrong.
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
        found = search(rows, into, some, *sums, endpoints=endpoints, threads=g.member.threads)
        return found is not False

    return all(_batches(g, _sort_sources(places), kernels.AT_ONCE, add))


def find_paths(g: GraphView, places: Any) -> Iterator[tuple[Any, int, tuple[Any, ...]]]:
    """Yield the shortest paths from one source after another, on a device, without weights.

    Yields the source, the number of vertices that it reaches, and arrays of shape (V,): the level of each
    vertex, two arrays with the number of paths to it, and its dependency; see :class:`.Paths`.
    """
    sources, (rows, into) = _sort_sources(places), _both_ways(g)
    found = searches_kernels.paths(rows, into, sources)
    with g.superstep("push", len(sources), len(sources) * len(rows.ends)):
        for source, columns in zip(sources, found, strict=True):
            yield source[None], count_true(columns[0] >= 0), columns


def _sort_sources(places: Any) -> Any:
    """Return the positions of the sources of a single member, in the order of their places."""
    sources = np.flatnonzero(places >= 0)
    return sources[np.argsort(places[sources])]


def _batches(g: GraphView, sources: Any, most: int, search: Callable[[Any], Any]) -> Iterator[Any]:
    """Search from at most so many sources in a superstep, and yield what each superstep returns."""
    edges = len(g.member.local("out").rows.ends)
    for first in range(0, len(sources), most):
        some = sources[first : first + most]
        with g.superstep("push", len(some), len(some) * edges):
            found = search(some)
        yield found


def _both_ways(g: GraphView) -> tuple[Any, Any]:
    """Return the rows of leaving and of entering edges of a single member, numbered from 0."""
    return g.member.local("out").rows, g.member.local("into").rows
