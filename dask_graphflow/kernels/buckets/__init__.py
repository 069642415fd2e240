"""Shortest paths: vertices wait in buckets by their distance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Light, Rows

LISTS = 6  # of the device: two for each of its piles


class SharedBuckets:
    """What members share that find shortest paths with one launch for many steps.

    Parameters
    ----------
    memory : SharedMemory
    distance : Column of float64
        For all members' vertices. Each member knows the distances of its own vertices. Those of the others
        are upper bounds, until :meth:`publish`.
    predecessors : Column of index
        For all members' vertices, like the distances.
    turns, waiting, lists, tails, sizes : Column
        See the struct ``Search`` in buckets.cu.
    """

    def __init__(self, memory: Any, distance: Any, predecessors: Any, *columns: Any) -> None:
        self.memory, self.distance, self.predecessors = memory, distance, predecessors
        self._turns, self._waiting, self._lists, self._tails, self._sizes = columns
        rank, bounds = int(memory.gang["rank"]), memory.gang["bounds"].tolist()
        self._low, self._high = bounds[rank], bounds[rank + 1]

    def own(self, column: Any) -> Any:
        """Return the part of a column of all members' vertices that has those of this member."""
        return column.own[self._low : self._high]

    def begin(self, light: Light) -> tuple[Any, ...]:
        """Return the columns of a search that has not begun, in the order of ``Search`` in buckets.cu."""
        self.distance.own[: self._low] = self.distance.own[self._high :] = math.inf
        for column in (self._turns, self._waiting, self._tails):
            column.own[:] = 0
        offsets = light.rows.offsets
        sizes = self._sizes.own.reshape(-1, 2)[: self._high - self._low]
        sizes[:, 0], sizes[:, 1] = light.middle - offsets[:-1], offsets[1:] - light.middle
        return (
            *(self.distance, self._turns, self._waiting),
            *(self._lists, self._tails, self._sizes),
        )

    def publish(self) -> None:
        """Send the distances of this member's vertices to all members, which do the same."""
        own, members = self.own(self.distance), int(self.memory.gang["size"])
        # These entries begin at the same place in the columns of all members.
        pointers = self.distance.pointers + np.uint64(own.itemsize * self._low)
        column = self.distance._replace(own=own, pointers=pointers)
        self.memory.mirrors([None] * members, len(own), [0] * members).send(column)


class VertexBuckets(Protocol):
    """The distances of a search, and the buckets of the vertices that wait to be relaxed.

    Vertices past the rows are mirrors. Their edges are stored by other members; see :meth:`take_mirrors`.
    A *position* is a lower bound on distances: no vertex that waits at a position has a smaller distance.

    Parameters
    ----------
    light : Light
        Rows of all outgoing edges, with weights of at least 0.
    distance : array of float32 or float64, shape (V,)
        Infinite for vertices that were not reached yet; changed in place.
    sources : array of integers
        The vertices to start from. They are in the first bucket.
    delta : float
        Width of a bucket, greater than 0.
    cutoff : float
        Maximum distance. Vertices that are farther away are not reached.
    """

    @property
    def counts(self) -> dict[str, int]:
        """Number of edges and of vertices relaxed so far."""

    @property
    def late(self) -> bool:
        """Whether a waiting vertex came nearer after its bucket was emptied.

        Such a vertex waits in a later bucket, so its distance can be less than :meth:`lowest`.
        """

    def relax(self, low: float, most: int) -> bool:
        """Relax the vertices in the lowest bucket, unless it is time to send messages to other members.

        Returns
        -------
        bool
            Whether the bucket was relaxed. This is the case if its position was at most `low`, or if it was
            small and fewer than `most` edges had been relaxed. Afterwards, it can contain vertices again.
        """

    def lowest(self) -> float:
        """Return the lowest position at which vertices can wait; infinite if none wait."""

    def offer(self, vertices: Array, values: Array) -> None:
        """Lower the distances of vertices to those that other members found, if these are smaller.

        Parameters
        ----------
        vertices : array of integers, shape (n,)
            Without duplicates. Vertices whose bucket was already emptied wait in the present bucket.
        values : array of the distances' dtype, shape (n,)
        """

    def lowest_of(self, distances: Array) -> float:
        """Return the lowest position of some distances; infinite if there are none."""

    def take_mirrors(self) -> tuple[Array, Array]:
        """Return the mirrors in buckets that were emptied since the last call, and their distances.

        The mirrors are in ascending order and numbered from 0.
        """


class BucketsKernels(Protocol):
    """What :mod:`.buckets.host` and :mod:`.buckets.device` can do."""

    AHEAD: int

    def weigh(self, weights: Array, *, threads: int = 1) -> tuple[int, float]:
        """Return how many weights are negative or NaN, and the mean of the other finite weights.

        Parameters
        ----------
        weights : array of numbers, shape (e,)
        """

    def bucket_width(self, mean: float, degree: float) -> float:
        """Return the width of a bucket for a mean weight and a mean number of edges per vertex.

        The width is a multiple of the mean weight divided by the mean degree.
        """

    def light_first(self, rows: Rows, delta: float) -> Light:
        """Return rows in which edges that weigh less than `delta` come first, if the search needs that."""

    def new_buckets(
        self,
        light: Light,
        distance: Array,
        sources: Array,
        delta: float,
        *,
        cutoff: float = float("inf"),
        threads: int = 1,
        shared: SharedBuckets | None = None,
    ) -> VertexBuckets:
        """Return a :class:`VertexBuckets` with these parameters.

        If members share the search, `distance` is the part of the shared column for this member's vertices,
        and all members call all methods at once, with the same arguments.
        """

    def predecessors(
        self,
        rows: Rows,
        distance: Array,
        sources: Array,
        *,
        names: Array | None = None,
        threads: int = 1,
    ) -> Array | None:
        """Find the smallest predecessor of every vertex on a shortest path.

        Edges of weight 0 can join vertices at the same distance. If all possible predecessors of a vertex
        are at its own distance, the smallest of those with the fewest such edges behind them is chosen. So
        predecessors lead to a source and never form a cycle.

        Parameters
        ----------
        rows : Rows
            Rows of all outgoing edges, with weights.
        distance : array of float32 or float64, shape (V,)
            The distances.
        sources : array of integers
            The vertices that have no predecessor.
        names : array of integers, shape (V,), optional
            The vertex of each label, if rows are indexed by labels.

        Returns
        -------
        array of int32 or int64, shape (V,), or None
            The dtype's maximum for sources and for vertices that were not reached. On a device, the result
            with `names` is None if some vertices are as far away as a vertex that leads to them. Call the
            function without `names` in that case.
        """

    def offer_nearer(
        self, rows: Rows, names: Array, distance: Array, predecessor: Array, *, threads: int = 1
    ) -> bool:
        """Offer each vertex that has a row as predecessor to the next, farther vertices on shortest paths.

        Parameters
        ----------
        rows : Rows
        names : array of the predecessors' dtype, shape (r,) or (0,)
            The number under which each vertex is offered. If empty, this is the index of its row.
        distance : array of float32 or float64, shape (n,)
        predecessor : array of int32 or int64, shape (n,)
            Changed in place to the smallest vertex that was offered.

        Returns
        -------
        bool
            Whether a shortest path also has edges between vertices at the same distance. Over these,
            nothing was offered.
        """

    def offer_level(
        self,
        rows: Rows,
        names: Array,
        distance: Array,
        predecessor: Array,
        settled: Array,
        frontier: Array,
    ) -> Array:
        """Offer a frontier as predecessors to unsettled neighbors, along edges that add no distance.

        Takes the parameters of :func:`offer_nearer`, and the following ones.

        Parameters
        ----------
        settled : array of bool, shape (n,)
            Vertices that do not receive offers.
        frontier : array of integers, shape (f,)
            Vertices that have a row.

        Returns
        -------
        array of integers, shape (k,)
            Vertices that got their first predecessor.
        """


def shared_predecessors(rows: Rows, shared: SharedBuckets) -> Array | None:
    """Find the smallest predecessors of this member's vertices, of a search that the members share.

    See :meth:`BucketsKernels.predecessors`. The result is None if some vertices are as far away as a vertex
    that leads to them. The shared distances are then those that the search found.
    """
    from . import device

    found: Array | None = device.shared_predecessors(rows, shared)
    return found


of: Callable[[Any], BucketsKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: BucketsKernels = host
    _device: BucketsKernels = device
