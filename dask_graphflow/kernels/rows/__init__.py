"""Rows: the edges of a graph grouped by source (CSR) or by target (CSC), made from an edge list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class RowsKernels(Protocol):
    """What :mod:`.rows.host` and :mod:`.rows.device` can do."""

    def degrees(self, ids: Array, *, first: int = 0, count: int, threads: int = 1) -> Array:
        """Count how often each of the vertices `first` to ``first + count - 1`` occurs.

        Parameters
        ----------
        ids : array of integers, shape (m,)
            One end of each edge; other vertices are ignored.
        first, count : int
            The range of vertices.
        threads : int
            Maximum number of threads. Each has its own counts, so no more threads are used than there are
            edges per vertex.

        Returns
        -------
        array of int64, shape (count,)
        """

    def degree_labels(self, degrees: Array) -> Array:
        """Return new numbers for vertices, by descending degree and then by id.

        The values of hubs are then adjacent and stay in the cache. On a power-law graph, a pass over all
        edges takes two thirds of the time. On a road network, the new numbers would scatter neighbors
        instead.

        Returns
        -------
        array of int32 or int64, shape (n,)
            The label of each vertex.
        """

    def rows(
        self,
        source: Array | list[Array],
        target: Array | list[Array],
        weight: Array | list[Array] | None = None,
        *,
        first: int = 0,
        count: int,
        columns: int | None = None,
        labels: Array | None = None,
        undirected: bool = False,
        multi: str = "keep",
        threads: int = 1,
    ) -> Rows:
        """Make rows from an edge list.

        Parameters
        ----------
        source, target : array of integers, shape (m,)
            The ends of the edges: ids from 0 to ``columns - 1``, which is not checked. Each row contains
            the edges that leave its vertex. Swap `source` and `target` to get rows of the edges that enter
            it.
        weight : array, shape (m,), optional
            The weights of the edges.

            Each of the three can be a list of at least one array. The arrays are read one after another,
            and are never concatenated. They do not have to be aligned in memory; see :func:`.aligned`.
        first, count : int
            The rows to make: those of the vertices `first` to ``first + count - 1``. Edges of other rows
            are ignored.
        columns : int, optional
            Number of vertices; by default ``first + count``.
        labels : array of integers, shape (columns,), optional
            New numbers for the vertices, a permutation. Rows are then indexed by labels, and contain
            labels. Within a row, ends are still in ascending order of their ids.
        undirected : bool
            Whether every edge is added to the row of its source and to the row of its target. A self-loop
            is added once.
        multi : {"keep", "sum", "min", "first"}
            How to handle several edges from one vertex to another. "keep" keeps all of them. The others
            keep one edge. Its weight is the sum, added in the order of the list, the minimum, or that of
            the first.

        Returns
        -------
        Rows
            They do not depend on the number of threads.

        Raises
        ------
        WeightError
            A sum of integers does not fit the dtype of the weights; see :func:`summable`. Or a device does
            not support their dtype.
        """

    def relabelled(
        self,
        rows_: Rows,
        labels: Array,
        *,
        places: Array | None = None,
        first: int = 0,
        count: int | None = None,
        threads: int = 1,
    ) -> Rows:
        """Make rows of labels from rows of ids.

        The result is the same as that of :func:`rows` with `labels`. This way takes half the time,
        including the time to make the rows of ids: hubs do not meet in buckets that are too large for the
        cache, and the degrees are known from the rows.

        Parameters
        ----------
        rows_ : Rows
            Rows of the vertices from 0 on.
        labels : array of int32 or int64, shape (V,)
            The label of each vertex, a permutation.
        places : array of int32 or int64, optional
            The value to store for each vertex that is an end; by default its label.
        first, count : int
            The labels to make rows of; by default all.

        Returns
        -------
        Rows
            Within a row, ends are in ascending order of their ids.
        """

    def owners(self, rows_: Rows, dtype: Any, *, threads: int = 1) -> Array:
        """Return, for each edge, the vertex whose row contains it."""

    def renamed(self, ids: Array, names: Array, *, threads: int = 1) -> Array:
        """Return the name of each id. Every id must have a name."""

    def between(
        self,
        rows_: Rows,
        which: Array,
        inside: Array,
        *,
        names: Array | None = None,
        later: bool = False,
        threads: int = 1,
    ) -> tuple[Array, Array]:
        """Return the edges of some rows whose other ends are marked, in their order.

        Parameters
        ----------
        rows_ : Rows
        which : array of integers, shape (n,)
            The indices of the rows, ascending.
        inside : array of bool
            Marks ends.
        names : array of integers, shape (n,), optional
            The vertex of each of these rows; by default its index.
        later : bool
            Whether to leave out the edges whose other end is smaller than the vertex of the row.
        threads : int
            Maximum number of threads.

        Returns
        -------
        vertices : array of the dtype of names, shape (k,)
            The vertex in whose row each edge is.
        entries : array of int64, shape (k,)
            The index of each edge in `rows_`.
        """


def count_all(
    sides: Sequence[Array], *, first: int = 0, count: int, shift: int = 0, threads: int = 1
) -> Array:
    """Count how often each vertex, or each range of vertices, occurs in several arrays in host memory.

    Parameters
    ----------
    sides : sequence of array of integers
    first, count : int
        The first vertex, and the number of ranges of ``2**shift`` vertices from there on. Other vertices
        are ignored.
    shift : int
    threads : int
        Maximum number of threads. Each has its own counts, so no more threads are used than there are ids
        per range. Sharing the counts by atomic additions took longer with two threads than with one,
        because hubs are counted over and over.

    Returns
    -------
    array of int64, shape (count,)
    """
    from . import host

    return host.count_all(sides, first=first, count=count, shift=shift, threads=threads)


of: Callable[[Any], RowsKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: RowsKernels = host
    _device: RowsKernels = device
