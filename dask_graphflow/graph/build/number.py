"""The first step of a build: number the vertices in the order of their ids.

Integers close together are numbered by arithmetic, and no ids are sent. All other ids are sent to the
owners of ranges of their order, as in :mod:`~dask_graphflow.graph.renumber`. The owners send back the
numbers, and keep the ids.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.comm.resources import Resources
from dask_graphflow.graph import dtypes, frames, renumber
from dask_graphflow.graph.edgelist import Ends
from dask_graphflow.graph.numbering import number_sorted, stacked, swap
from dask_graphflow.graph.vertices import Vertices, base_of
from dask_graphflow.kernels import as_stored, disk, index_dtype, kernels_for


def consume(items: list[Any]) -> Iterator[Any]:
    """Yield the items of a list one by one, emptying it so that each item can be freed after use."""
    items.reverse()
    while items:
        yield items.pop()


def number(
    exchange: Exchange, ends: list[tuple[Ends, Ends | None]]
) -> tuple[Vertices, list[tuple[Any, Any]]]:
    """Number the vertices of a graph, and return them with the numbers of all ends. All members call it.

    `ends` has this member's sources and targets, part by part; targets are None for a part with vertices
    that may have no edge. The list is emptied. At least one member has a part. The arrays of numbers, int32
    or int64, may be unaligned; see :func:`.aligned`. A gang with one member may get the ids themselves, in
    their own integer type.
    """
    own = (ends[0][0].like if ends else None), *_span(ends)
    likes, low, high, edges = zip(*swap(exchange, [own] * exchange.size), strict=True)
    like = next(like for like in likes if like is not None)
    if _are_integers(like):
        filled = [rank for rank, count in enumerate(edges) if count]
        least = min((low[rank] for rank in filled), default=0)
        most = max((high[rank] for rank in filled), default=-1)
        base = base_of(least, most, sum(edges), like.iloc[:, 0].dtype)
        if base is not None:
            vertices = Vertices(like, most - base + 1, base)
            cast = exchange.size > 1
            return vertices, [
                (
                    _near(source, vertices, cast),
                    None if target is None else _near(target, vertices, cast),
                )
                for source, target in consume(ends)
            ]
    return _renumbered(exchange, ends, like)


def _are_integers(like: Any) -> bool:
    return len(like.columns) == 1 and dtypes.is_integer(like.iloc[:, 0].dtype)


def _span(ends: list[tuple[Ends, Ends | None]]) -> tuple[int, int, int]:
    """Return the least and the greatest id, if ids are integers, and the number of rows."""
    filled = [pair for pair in ends if len(pair[0])]
    edges = sum(len(source) for source, _ in filled)
    if not filled or not _are_integers(filled[0][0].like):
        return 0, -1, edges
    bounds = [_bounds(source, source if target is None else target) for source, target in filled]
    return min(low for low, _ in bounds), max(high for _, high in bounds), edges


def _bounds(source: Ends, target: Ends) -> tuple[int, int]:
    if source.bounds and target.bounds:
        return min(source.bounds[0], target.bounds[0]), max(source.bounds[1], target.bounds[1])
    ends = frames.values(source.only), frames.values(target.only)
    low, high = kernels_for(source.only).bounds(*ends)
    return low, high


def _near(side: Ends, vertices: Vertices, cast: bool) -> Any:
    ids = values = frames.values(side.only)
    if vertices.base:  # as int64, because 127 - -128 does not fit int8
        values = values.astype("int64", copy=False) - vertices.base
    elif not cast:
        return values
    return as_stored(ids, values.astype(index_dtype(vertices.count), copy=False))


def _renumbered(
    exchange: Exchange, ends: list[tuple[Ends, Ends | None]], like: Any
) -> tuple[Vertices, list[tuple[Any, Any]]]:
    """Number ids by their order."""
    resources, threads = exchange.resources, exchange.resources.threads
    folder = next((source.folder for source, _ in ends), None)
    if exchange.size == 1 and folder is None:
        return _renumbered_alone(ends, like, resources)
    codes: list[tuple[Any, Any]] = []
    uniques = [like]
    for source, target in consume(ends):
        if target is None:
            (own,), ids = renumber.distinct([source.frame], threads=threads)
            codes.append((own, None))
        else:
            both, ids = renumber.distinct([source.frame, target.frame], threads=threads)
            codes.append((disk.stored(both[0], folder), disk.stored(both[1], folder)))
        uniques.append(ids)
        resources.relieve()
    ids, places = renumber.union(uniques, threads=threads)
    uniques.clear()
    resources.relieve()
    ids, order = renumber.sort(ids)

    owned, homes, by_row = number_sorted(exchange, ids)
    by_row = by_row[order]
    numbers = []
    for (source, target), place in zip(consume(codes), places[1:], strict=True):
        own = by_row[place]
        of_target = None if target is None else disk.stored(own[target], folder)
        numbers.append((disk.stored(own[source], folder), of_target))
    return Vertices(like, homes[-1], ids=owned, first=homes[exchange.rank]), numbers


def _renumbered_alone(
    ends: list[tuple[Ends, Ends | None]], like: Any, resources: Resources
) -> tuple[Vertices, list[tuple[Any, Any]]]:
    """Number ids by their order, if this member has all edges."""
    sides = [None if side is None else side.frame for pair in consume(ends) for side in pair]
    filled = [side for side in sides if side is not None]
    ids, numbers = renumber.number(filled, threads=resources.threads)
    resources.relieve()
    each = iter(numbers)
    parts = [None if side is None else next(each) for side in sides]
    return Vertices(like, len(ids), ids=ids), list(zip(parts[::2], parts[1::2], strict=True))


def ids_of_range(exchange: Exchange, vertices: Vertices, bounds: Sequence[int]) -> Any:
    """Return the ids of this member's range of vertices, or None if ids are integers close together.

    All members have the same `bounds`.
    """
    if vertices.ids is None or exchange.size == 1:
        return vertices.ids
    has = len(vertices.ids)
    cuts = [min(max(bound - vertices.first, 0), has) for bound in bounds]
    return stacked(swap(exchange, [vertices.ids.iloc[a:b] for a, b in itertools.pairwise(cuts)]))
