"""A shard: the part of a graph that one of several processes has.

Vertices are cut into contiguous ranges, one a process (:func:`.partition.chunk`). A shard has the *rows* of
its range: of the edges that leave its vertices, and of those that enter them once that was asked for; which
are the same where edges have no direction. What it has of all others are the bounds of their ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphflow.kernels import on_device

from .kept import Kept
from .layout import Local, localize

__all__ = ["Shard"]


class Shard(Kept):
    """A process's part of a graph.

    Parameters
    ----------
    like : frame
        Without rows; of the ids' columns and dtypes.
    bounds : sequence of int
        Where the ranges of vertices begin, and the last one ends.
    rank : int
        Whose range this is.
    rows : Rows, optional
        Of the edges that leave the range's vertices: ``first`` is where it begins, ends are numbers of all
        vertices, ascending within a row.
    directed : bool
        Whether an edge leads from its source to its target only.
    base : int
        The id of vertex 0, where ids are integers close together: vertex i is ``base + i``, and not every
        one of them need have an edge.
    ids : frame or None
        Else row i is the id of the i-th vertex of this range, in order.
    entering : tuple of array, optional
        The edges that enter the range's vertices, where no rows are made of any yet.

    Attributes
    ----------
    low, high : int
        Where the range begins, and ends.
    size : int
        The vertices of all ranges.
    """

    def __init__(
        self,
        like: Any,
        bounds: Sequence[int],
        rank: int,
        rows: Any = None,
        *,
        directed: bool,
        base: int = 0,
        ids: Any = None,
        entering: Any = None,
    ) -> None:
        super().__init__()
        self.like, self.base, self.ids, self.directed = like, base, ids, directed
        self.bounds, self.rank = [int(bound) for bound in bounds], rank
        self.low, self.high = self.bounds[rank : rank + 2]
        self.size = self.bounds[-1]
        if rows is not None:
            self._made["out"] = rows
        if entering is not None:
            self._made["entering"] = entering

    def __sizeof__(self) -> int:
        ids = 0 if self.ids is None else int(self.ids.memory_usage(deep=True, index=False).sum())
        return ids + super().__sizeof__()

    @property
    def owned(self) -> int:
        """How many vertices the range has."""
        return self.high - self.low

    @property
    def on_device(self) -> bool:
        """Whether it lies on a device."""
        return on_device(self.like)

    @property
    def out(self) -> Any:
        """The rows of what leaves the range's vertices."""
        return self.made("out")

    def local(self, which: str = "out", threads: int = 1) -> Local:
        """Return rows by the numbers that vertices have in this shard: masters, and then mirrors.

        "out", or "into" once that is kept.
        """
        which = which if self.directed else "out"

        def make() -> Local:
            return localize(self._made[which], self.bounds, self.rank, threads=threads)

        found: Local = self.kept(f"local {which}", make)
        return found

    def owners(self, vertices: Any) -> Any:
        """Return the rank whose range each vertex lies in."""
        bounds = np.array(self.bounds[1:], like=vertices)
        return np.searchsorted(bounds, vertices, side="right")
