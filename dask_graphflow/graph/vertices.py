"""Vertices: the ids, and the places, for which the numbers 0 to n - 1 of a graph stand.

A vertex has a *number*, which follows the order of the ids. In a hybrid, it also has a *place*. Results use
numbers, and ties are broken by them. The places of one shard are a contiguous range, in which vertices
ascend by number. The rows and columns of a shard are in the order of places. The ids themselves stay in
ranges of numbers, the *homes*, one per shard.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import kernels_for

from . import frames, renumber
from .search_ids import search_ids
from .vertex_ids import brought, to_frame


@dataclass(frozen=True)
class Vertices:
    """The ids of vertices, in the order of their numbers."""

    like: Any  # frame. An empty frame with the ids' columns and dtypes.
    count: int  # how many numbers there are
    # The id of vertex 0, if ids are integers close together: vertex i is ``base + i``, and not every such
    # integer needs to have an edge.
    base: int = 0
    # Frame or None. Otherwise, row i is the id of vertex ``first + i``, and rows are in order. Other
    # members have the other ids, if there are some.
    ids: Any = None
    first: int = 0

    @functools.cached_property  # pandas takes longer to get it than to make a small column
    def _column(self) -> Any:
        return self.like.iloc[:, 0]

    def named(self, numbers: Any) -> list[Any]:
        """Return the ids of vertices, one array or series per part of an id."""
        if self.ids is None:
            numbers = numbers.astype("int64") + self.base if self.base else numbers
            return [frames.column(numbers, self._column)]
        return [frames.take(self.ids[name], numbers) for name in self.ids.columns]

    def numbers(self, ids: Any) -> Any:
        """Return the numbers of the ids in a frame or an array, as int64; -1 for ids that are not vertices.

        If integers are close together, they may be in other memory than the graph, in which the numbers
        are then.
        """
        if self.ids is None:
            values = (
                ids if isinstance(ids, np.ndarray) else kernels_for(ids).asarray(ids.iloc[:, 0])
            )
            values = values.astype("int64") - self.base
            values[(values < 0) | (values >= self.count)] = -1
            return values
        ids = brought(to_frame(ids, self.like), self.like)
        if (rows := search_ids(self.ids, ids)) is not None:
            return rows
        # The graph's ids are unique, so their codes are their numbers.
        codes, _ = renumber.factorize(frames.stack([self.ids, ids]))
        numbers = codes[self.count :].astype("int64")
        numbers[numbers >= self.count] = -1
        return numbers


class Placed(NamedTuple):
    """The place of each vertex of a graph."""

    places: np.ndarray  # array of int32 or int64, shape (V,). The place of each vertex, by number.
    # Where the ranges of numbers begin whose ids each shard stores, followed by where the last one ends.
    homes: list[int]

    def numbers(self, low: int, high: int) -> np.ndarray:
        """Return the numbers of the vertices at places `low` to ``high - 1``; -1 at empty places."""
        numbers = np.full(high - low, -1, self.places.dtype)
        here = np.flatnonzero((self.places >= low) & (self.places < high))
        numbers[self.places[here] - low] = here
        return numbers


def base_of(low: int, high: int, edges: int, dtype: Any) -> int | None:
    """Return the id of vertex 0 if ids are integers close together, and None otherwise."""
    if low >= 0 and renumber.is_dense(0, high, edges):
        return 0
    if renumber.is_dense(low, high, edges) and (low >= 0 or dtype.kind != "u"):
        return low
    return None
