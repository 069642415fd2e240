"""Vertices: what ids the numbers 0 to n - 1 of a graph stand for."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dask_graphflow.kernels import index_dtype, kernels_for

from . import dtypes, renumber
from .edgelist import Ends
from .frames import empty_like, series, stack

__all__ = ["Vertices", "base_of", "number"]


@dataclass(frozen=True)
class Vertices:
    """The ids of vertices, in the order of their numbers.

    Attributes
    ----------
    like : frame
        Without rows; of the ids' columns and dtypes.
    count : int
        How many numbers there are.
    base : int
        The id of vertex 0, where ids are integers close together: vertex i is ``base + i``, and not every
        one of them need have an edge.
    ids : frame or None
        Else row i is the id of vertex i, and rows are in order.
    """

    like: Any
    count: int
    base: int = 0
    ids: Any = None

    def named(self, numbers: Any) -> list[Any]:
        """Return the ids of vertices, a series for each part of an id."""
        if self.ids is None:
            numbers = numbers.astype("int64") + self.base if self.base else numbers
            return [series(numbers, self.like[self.like.columns[0]])]
        frame = self.ids.iloc[numbers].reset_index(drop=True)
        return [frame[column] for column in frame.columns]

    def numbers(self, ids: Any) -> Any:
        """Return the numbers of a frame's ids, as int64; -1 for those that are no vertices'.

        Where `ids` is None, the frame may lie elsewhere than the graph, and the numbers do then.
        """
        if self.ids is None:
            values = kernels_for(ids).asarray(ids[ids.columns[0]]).astype("int64") - self.base
            values[(values < 0) | (values >= self.count)] = -1
            return values
        # Ids come once each, so their codes are their numbers.
        codes, _ = renumber.factorize(stack([self.ids, ids]))
        found = codes[self.count :].astype("int64")
        found[found >= self.count] = -1
        return found


def base_of(low: int, high: int, edges: int, dtype: Any) -> int | None:
    """Return the id of vertex 0, where ids are integers close together, or None."""
    if low >= 0 and renumber.is_dense(0, high, edges):
        return 0
    if renumber.is_dense(low, high, edges) and (low >= 0 or dtype.kind != "u"):
        return low
    return None


def number(ends: Sequence[tuple[Ends, Ends]]) -> tuple[Vertices, list[tuple[Any, Any]]]:
    """Number the vertices of a graph, of which all edges are here.

    Parameters
    ----------
    ends : sequence of pair of Ends
        Sources and targets, part by part; at least one part.

    Returns
    -------
    vertices : Vertices
    numbers : list of pair of array
        The ends' numbers; the ids themselves, not copied, where that is what they are.
    """
    edges = sum(len(source) for source, _ in ends)
    like = empty_like(ends[0][0].frame)
    if len(like.columns) == 1 and dtypes.is_integer(like.dtypes.iloc[0]):
        kernels = kernels_for(ends[0][0].only)
        arrays = [tuple(kernels.asarray(side.only) for side in pair) for pair in ends]
        bounds = [kernels.bounds(*pair) for pair in arrays if len(pair[0])]
        low, high = min((b[0] for b in bounds), default=0), max((b[1] for b in bounds), default=-1)
        base = base_of(low, high, edges, like.dtypes.iloc[0])
        if base == 0:
            return Vertices(like, high + 1), arrays
        if base is not None:
            dtype = index_dtype(high - low + 1)
            # Not in the ids' own type: 127 - -128 is no int8.
            near = [
                tuple((side.astype("int64", copy=False) - low).astype(dtype) for side in pair)
                for pair in arrays
            ]
            return Vertices(like, high - low + 1, base=low), near
    sides = [side.frame for pair in ends for side in pair]
    codes, uniques = renumber.factorize(stack(sides))
    ids, rank = renumber.sort(uniques)
    codes = rank[codes]
    stops = list(itertools.accumulate((len(side) for side in sides), initial=0))
    parts = [codes[low:high] for low, high in itertools.pairwise(stops)]
    return Vertices(like, len(ids), ids=ids), list(zip(parts[::2], parts[1::2], strict=True))
