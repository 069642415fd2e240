"""A shard: the part of a graph that one of several processes stores.

Vertices are cut into contiguous ranges, one per process (:func:`.chunk_grains`). A shard stores the
*rows* of its range: the edges that leave its vertices and, once an algorithm needs them, the edges that
enter them. In an undirected graph these are the same rows. About other shards, it only stores the bounds of
their ranges.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphflow.comm.resources import Subset
from dask_graphflow.kernels import (
    allocate_like,
    count_true,
    index_dtype,
    kernels_for,
    on_device,
)
from dask_graphflow.kernels import rows as rows_kernels

from . import stored
from .change import Change
from .local_rows import Local, localize
from .memo import Memo
from .vertices import Placed, Vertices


class Shard(Memo, Subset):
    """One process's part of a graph.

    Parameters
    ----------
    like : frame, or array
        An empty frame with the columns and dtypes of the ids. If vertices have only numbers, an array in
        the memory of the rows.
    bounds : sequence of int
        Where the ranges of vertices begin, followed by where the last one ends.
    rank : int
        The index of this shard's range.
    rows : Rows, optional
        The rows of the edges that leave the range's vertices. ``first`` is where the range begins. Ends are
        numbers of all vertices, or places if they are placed; within a row they ascend by number.
    directed : bool
        Whether an edge leads from its source to its target only.
    base : int
        The id of vertex 0, if ids are integers close together: vertex i is ``base + i``, and not every
        such integer needs to have an edge.
    ids : frame or None
        Otherwise, row i is the id of the i-th vertex of this range, or of this shard's home if vertices
        are placed. Rows are in order.
    placed : Placed, optional
        The placement, if vertices are not stored in the order of their ids; then `bounds` are places.
    entering : tuple of array, optional
        The edges that enter the range's vertices, if no rows have been made yet.
    listed : array of bool, optional
        Which integers of the range are vertices even if no edge uses them.
    choice : str, optional
        Why the graph has this number of shards, if the build chose it.
    change : Change, optional
        How the graph differs from the one that it was made from, if an update made it.

    Attributes
    ----------
    members : int
        Number of shards. Processes with higher ranks have no vertices, and take part in nothing.
    low, high : int
        Where the range begins, and ends.
    size : int
        Number of places of all ranges; without a placement, this is the number of vertices.
    count : int
        Number of vertices of all ranges.
    homes : list of int
        Where the ranges of numbers begin whose ids each shard stores, followed by where the last one ends.
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
        placed: Placed | None = None,
        entering: Any = None,
        listed: Any = None,
        choice: str = "",
        for_device: bool = False,
        change: Change | None = None,
    ) -> None:
        super().__init__()
        self.for_device, self._change = for_device, change
        self.members, self.choice = len(bounds) - 1, choice
        self.device_view: Any = None  # set by device_shard.on_this_device
        self.like, self.base, self.ids, self.directed = like, base, ids, directed
        self.bounds, self.rank = [int(bound) for bound in bounds], rank
        self.low, self.high = (self.bounds[min(at, self.members)] for at in (rank, rank + 1))
        self.size = self.bounds[-1]
        self.placed = placed
        self.count = self.size if placed is None else len(placed.places)
        self.homes = self.bounds if placed is None else placed.homes
        if rows is not None:
            self._made["out"] = rows
        if entering is not None:
            self._made[stored.ENTERING] = entering
        if listed is not None:
            self._made[stored.LISTED] = listed

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"device_view": None}

    def __sizeof__(self) -> int:
        ids = 0 if self.ids is None else int(self.ids.memory_usage(deep=True, index=False).sum())
        return ids + super().__sizeof__()

    @functools.cached_property
    def vertices(self) -> Vertices:
        """The vertices of all ranges, with the ids that this shard stores."""
        return Vertices(self.like, self.count, self.base, self.ids, self.homes[self.rank])

    @property
    def owned(self) -> int:
        """Number of vertices, or places, in the range."""
        return self.high - self.low

    @property
    def host(self) -> Shard:
        """The shard on the host, if this is a view of one (:mod:`.device_shard`); otherwise itself."""
        return self

    @property
    def change(self) -> Change | None:
        """How the graph differs from the one that an update made it from; None if it was built."""
        return self.host._change

    @property
    def on_device(self) -> bool:
        """Whether the shard is on a device."""
        return on_device(self.like)

    @property
    def linked(self) -> bool:
        """Whether the shard is on a device that reads some of its edges over the link."""
        return False

    def here(self, name: str, value: Any) -> Any:
        """Return something that was made from :attr:`host`, in the memory of this shard."""
        return value

    @property
    def out(self) -> Any:
        """The rows of the edges that leave the range's vertices; on the host if :attr:`host` is."""
        return self.host.made(stored.OUT)

    @property
    def degrees(self) -> Any:
        """Number of edges that leave each of the range's vertices, as int64. Do not change the array."""
        out = self.out
        if on_device(out.ends):
            return self.here(stored.DEGREES, np.diff(out.offsets))

        def make() -> Any:
            made = allocate_like(out.ends, len(out.offsets) - 1, "int64")
            return np.subtract(out.offsets[1:], out.offsets[:-1], out=made)

        return self.here(stored.DEGREES, self.host.kept(stored.DEGREES, make))

    @property
    def filled(self) -> int:
        """Number of places in the range that have a vertex."""
        return self.owned if self.placed is None else count_true(self.numbers >= 0)

    @property
    def numbers(self) -> Any:
        """The number, in the order of all ids, of each vertex of the range; -1 at empty places."""
        dtype = index_dtype(self.size)
        if self.placed is None:
            own = np.arange(self.low, self.high, dtype=dtype, like=self.out.ends)
            return self.here(stored.NUMBERS, own)
        placed, low, high = self.placed, self.low, self.high
        return self.here(
            stored.NUMBERS, self.host.kept(stored.NUMBERS, lambda: placed.numbers(low, high))
        )

    def numbers_at(self, places: Any, threads: int = 1) -> Any:
        """Return the numbers of the vertices at places in any range."""
        if self.placed is None:
            return places
        kernels, names = kernels_for(places), self.all_numbers
        numbers = rows_kernels.of(names).renamed(kernels.to_host(places), names, threads=threads)
        return kernels.namespace.asarray(numbers)

    @property
    def all_numbers(self) -> np.ndarray:
        """The number of the vertex at each place, on the host; -1 at empty places."""
        assert self.placed is not None, "vertices are in the order of their numbers"
        placed = self.placed
        numbers: np.ndarray = self.host.kept(
            stored.ALL_NUMBERS, lambda: placed.numbers(0, self.size)
        )
        return numbers

    def slot_numbers(self, which: str = "out", threads: int = 1) -> Any:
        """Return the numbers of the vertices of which :meth:`local` has mirrors."""
        slots = self.host.local(which, threads).slots.astype(index_dtype(self.size), copy=False)
        return self.here(stored.slot_numbers(which), self.host.numbers_at(slots, threads))

    def local(self, which: str = "out", threads: int = 1) -> Local:
        """Return rows whose ends are positions of vertices in this shard: masters, then mirrors.

        `which` is "out", or "into" once those rows are cached.
        """
        which = which if self.directed else "out"
        if len(self.bounds) == 2 and self.placed is None and self.has(which):
            rows = self.made(which)  # there are no mirrors, so the vertices keep their numbers
            return Local(rows, rows.ends[:0], [0, 0], 0, self.owned)

        def make() -> Local:
            return localize(self._made[which], self.bounds, self.rank, threads=threads)

        local: Local = self.kept(stored.local(which), make)
        return local

    def owners(self, vertices: Any) -> Any:
        """Return the rank of the shard that owns each vertex."""
        bounds = np.array(self.bounds[1:], like=vertices)
        return np.searchsorted(bounds, vertices, side="right")

    def homes_of(self, numbers: Any) -> Any:
        """Return the rank of the shard that stores the id of each vertex."""
        homes = np.array(self.homes[1:], like=numbers)
        return np.searchsorted(homes, numbers, side="right")
