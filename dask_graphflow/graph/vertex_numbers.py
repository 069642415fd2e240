"""Vertex numbers: the values of ``src``, ``dst`` and "vertex" columns in an edge program.

The n vertices of a graph are numbered 0 to n - 1 in the order of their ids, whatever their type: a vertex's
number is its row in the result. A graph may index its vertices differently: if ids are integers close
together, it also has indices for integers that no edge uses. These are not counted here, so that a program
means the same for every kind of ids.

Functions that take an :class:`~.exchange.Exchange` are called by all members of a gang at once.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import ExpressionError
from dask_graphflow.kernels import index_dtype, kernels_for

from .numbering import occurs
from .restore_ids import restore_ids
from .shard import Shard


class Numbered(NamedTuple):
    """The numbers of a graph's vertices."""

    # Array of int32 or int64. The number of each vertex of this process. Indices that no edge uses also
    # have an arbitrary number.
    own: Any
    vertices: int  # number of vertices in the whole graph
    # Array of int64, or None. The index of each number from ``starts[rank]`` on, for this member. None if
    # indices and numbers are the same.
    indices: Any = None
    # Where the numbers of each member's `indices` begin, followed by where the last ones end.
    starts: tuple[int, ...] = ()


def number(shard: Shard, exchange: Exchange, threads: int) -> Numbered:
    """Number the vertices of a graph."""
    if shard.ids is not None:  # only ids that edges use
        return Numbered(shard.numbers, shard.count)
    has = occurs(shard, exchange)
    if shard.placed is not None:  # bring the marks into the order of the ids
        way = restore_ids(shard, exchange)
        has = way.bring(exchange, has, way.order, threads)
    indices = np.flatnonzero(has)
    counts = exchange.all_gather(np.array([len(indices)]))
    starts = tuple(itertools.accumulate((int(count[0]) for count in counts), initial=0))
    if starts[-1] == shard.count:
        return Numbered(shard.numbers, shard.count)
    first, last = shard.homes[shard.rank : shard.rank + 2]
    own = _count(has, starts[shard.rank], index_dtype(shard.size))
    if shard.placed is not None:
        # A member's places ascend by number, so they are grouped by home, in the order of homes.
        owners = shard.host.owners(shard.placed.places[first:last])
        received = exchange.all_to_all([own[owners == rank] for rank in range(exchange.size)])
        own = np.zeros(shard.owned, own.dtype)
        own[: shard.filled] = np.concatenate(received)
        own = kernels_for(shard.degrees).namespace.asarray(own)
    return Numbered(own, starts[-1], indices + first, starts)


def _count(has: Any, first: int, dtype: Any) -> Any:
    return np.maximum(np.cumsum(has) + (first - 1), 0).astype(dtype)


def indices(numbered: Numbered, shard: Shard, exchange: Exchange, numbers: Any) -> Any:
    """Return the indices of numbers. Each is requested from the member that has it."""
    if numbered.indices is None:
        return numbers
    kernels = kernels_for(numbers)
    if shard.placed is not None:  # the indices are in host memory
        numbers = kernels.to_host(numbers)
    distinct, places = np.unique(numbers, return_inverse=True)
    cuts = np.searchsorted(distinct, np.array(numbered.starts, like=distinct)).tolist()
    pieces = zip(itertools.pairwise(cuts), numbered.starts, strict=False)
    asked = exchange.all_to_all([distinct[a:b] - start for (a, b), start in pieces])
    received = exchange.all_to_all([numbered.indices[rows] for rows in asked])
    return kernels.namespace.asarray(np.concatenate(received)[places])


def check(
    program: str, column: str, numbered: Numbered, shard: Shard, exchange: Exchange, values: Any
) -> None:
    """Raise in all members if a program put a number that belongs to no vertex into a "vertex" column."""
    wrong = _wrong(numbered, values, occurs(shard, exchange))[:1]
    all_wrong = np.concatenate(exchange.all_gather(kernels_for(wrong).to_host(wrong)))
    if len(all_wrong):
        raise _not_a_vertex(program, column, numbered, int(all_wrong[0]))


def _wrong(numbered: Numbered, values: Any, has: Any) -> Any:
    return values[has & ((values < 0) | (values >= numbered.vertices))]


def _not_a_vertex(program: str, column: str, numbered: Numbered, value: int) -> ExpressionError:
    return ExpressionError(
        f'{program}: column {column!r} begins as "vertex" and received the message {value}, but the '
        f"vertices have the numbers 0 to {numbered.vertices - 1}; send a vertex, such as src or "
        f"{column}[src], or begin the column with a number"
    )
