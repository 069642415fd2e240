"""Vertices: what ids the numbers 0 to n - 1 of a graph stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dask_graphflow.kernels import kernels_for

from . import renumber
from .frames import series, stack

__all__ = ["Vertices", "base_of"]


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
