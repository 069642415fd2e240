"""Simple paths in edges that all members have. Members take turns at the pairs of ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import bounded_paths as bounded_paths_kernels
from dask_graphflow.kernels import kernels_for, move_to
from dask_graphflow.kernels.bounded_paths import Searches
from dask_graphflow.operators.access import send_groups, sort_rows
from dask_graphflow.operators.gathered import Gathered
from dask_graphflow.operators.view import GraphView
from dask_graphflow.showing.tables import counted

from .room import rows_that_fit, too_many


def find_paths(g: GraphView, edges: Gathered, pairs: tuple[Any, Any], length: int) -> list[Any]:
    """Return the columns of the simple paths that this member lists, in the order of their pairs.

    The columns are the vertex numbers of both ends, the number of the path, the step, and the vertex
    number. The paths of a pair are sorted by length and by vertices. All members call it.

    Parameters
    ----------
    g : GraphView
    edges : Gathered
        The edges that can be on paths of at most `length` edges.
    pairs : two arrays of int64
        The places of the first and of the last vertices of paths, the same for all members.
    length : int

    Raises
    ------
    GraphMemoryError
        There are more paths than fit in memory. All members raise it.
    """
    rank, members = g.member.exchange.rank, g.member.exchange.size
    ends = [_numbers_at(g, places) for places in pairs]
    length = max(1, min(length, len(edges.numbers) - 1))
    turn = slice(rank, None, members)
    starts, stops = (edges.find(side[turn]) for side in ends)
    counts = np.zeros((len(starts), length + 1), np.int64)
    known = (starts >= 0) & (stops >= 0)
    counts[known & (starts == stops), 0] = 1
    some = np.flatnonzero(known & (starts != stops))
    above = np.full(len(some), -1, np.int64)
    searches = Searches(starts[some], stops[some], above, 1, length, undirected=False)
    order = np.arange(len(edges.numbers), dtype="int32")
    rows = edges.rows(g.member.threads)
    kernels, threads = bounded_paths_kernels.of(order), g.member.threads
    limit = rows_that_fit(g) // (length + 1)
    with g.superstep("push", len(some), len(edges.sources)):
        found = kernels.count(*rows, searches, limit, threads=threads)
    total = limit + 1
    if found is not None:
        counts[some] = found
        total = int(counts.sum())
    total = g.all_sum(total)
    if total > limit:
        raise too_many(
            f"paths of at most {counted(length, 'edge')}",
            limit,
            length + 1,
            " Give a smaller max_length or fewer pairs at a time, or use workers with more memory",
        )
    # The rows of a pair's paths of each length follow one another.
    widths = np.arange(1, length + 2)
    sizes = counts * widths
    places = (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)
    listed = np.empty(int(sizes.sum()), "int32")
    listed[places[:, 0][counts[:, 0] > 0]] = starts[counts[:, 0] > 0]
    kernels.write(*rows, searches, places[some], order, listed, threads=threads)
    path, width = _number_paths(g, counts, len(ends[0]))
    first = np.cumsum(width) - width
    step = np.arange(len(listed)) - np.repeat(first, width)
    columns = [np.repeat(path, width), step.astype("int32"), edges.numbers[listed]]
    columns[:0] = [np.repeat(side[turn], sizes.sum(axis=1)) for side in ends]
    if members > 1:
        send = send_groups(g, columns[2], max(total, 1))
        path, *others = (send(columns[at]) for at in (2, 0, 1, 3, 4))
        path, *others = sort_rows([path, *others], 1)
        columns = [*others[:2], path, *others[2:]]
    return [move_to(g.numbers, column) for column in columns]


def _numbers_at(g: GraphView, places: Any) -> Any:
    numbers = g.member.shard.numbers_at(places.astype(g.index), g.member.threads)
    return kernels_for(numbers).to_host(numbers)


def _number_paths(g: GraphView, counts: Any, pairs: int) -> tuple[Any, Any]:
    """Return the number of each path that this member found, among those of all pairs, and its vertices.

    `counts` has the numbers of paths of this member's pairs by length.
    """
    exchange = g.member.exchange
    every = np.empty((pairs, counts.shape[1]), np.int64)
    for rank, part in enumerate(exchange.all_gather(counts.ravel())):
        every[rank :: exchange.size] = part.reshape(-1, counts.shape[1])
    first = (np.cumsum(every) - every.ravel()).reshape(every.shape)
    own = counts.ravel()
    before = np.cumsum(own) - own
    first = first[exchange.rank :: exchange.size].ravel()
    path = np.repeat(first - before, own) + np.arange(own.sum())
    return path, np.repeat(np.tile(np.arange(1, counts.shape[1] + 1), len(counts)), own)
