"""Intersections of sorted rows, for example to count triangles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class IntersectKernels(Protocol):
    """What :mod:`.intersect.host` and :mod:`.intersect.device` can do."""

    def directed(self, rows: Rows, label: Array, *, threads: int = 1) -> tuple[Array, Array]:
        """Return the edges whose end has a smaller label than the row, as labels of row and end.

        Parameters
        ----------
        rows : Rows
            Rows of the vertices from 0 on.
        label : array of integers
            The label of each vertex and each end.
        """

    def triangles(
        self,
        rows: Rows,
        entering: Rows,
        own: Rows,
        of_row: list[Array],
        of_own: Array,
        *,
        threads: int = 1,
    ) -> None:
        """Count the triangles whose last vertex has a row in `rows`, and whose middle one has one in `own`.

        Parameters
        ----------
        rows : Rows
            Rows of last vertices, in ascending order. These can be any vertices. If the rows have weights,
            the function adds weights instead of triangles: for each vertex, the weight of the opposite
            edge.
        entering : Rows
            For each vertex, the rows that contain it as an end, as indices into `rows`, with the same
            weights.
        own : Rows
            Rows of all vertices; empty for vertices that belong to other members.
        of_row : list of array of the unsigned type of ends, shape (ends of rows,)
            Counts per entry of `rows`. The first array is set for entries whose end is a middle vertex, to
            the number of triangles that contain the edge from the last to the middle vertex. The second
            array, if there is one, counts triangles for the edge from the last to the first vertex. With
            weights, both arrays are set for entries whose end is a middle vertex: to the sums for the last
            vertex, and to those for the middle vertex.
        of_own : array of the same dtype, shape (ends of own,)
            Triangles are added to the edge from the middle to the first vertex. With weights, this is the
            sum for the first vertex.
        """

    def credit(
        self, rows: Rows, last: Array, middle: Array, first: Array, *, threads: int = 1
    ) -> Array:
        """Return the total count of each vertex, over the triangles in which it is last, middle or first.

        Parameters
        ----------
        rows : Rows
            Rows of all vertices, from 0 on.
        last, middle, first : array of unsigned integers, shape (ends of rows,)
            Counts of :func:`triangles`. `last` counts for the vertex of the row, `middle` and `first` count
            for the end of the entry.

        Returns
        -------
        array of int64, shape (V,)
        """

    def lose(
        self,
        rows: Rows,
        state: Array,
        lost: Array,
        own: Rows,
        own_state: Array,
        own_lost: Array,
        row: Array,
        late: Array,
        early: Array,
        *,
        threads: int = 1,
    ) -> None:
        """Count the triangles that the remaining edges lose when other edges leave.

        Parameters
        ----------
        rows, own : Rows
            Rows of the late ends of the leaving edges, and rows of their early ends. Ends are in ascending
            order. The weight of an entry is the index of its edge.
        state, own_state : array of uint8
            For each edge of `rows` and of `own`: 0 if it remains, 1 if it leaves now, and 2 if it was
            removed before.
        lost, own_lost : array of unsigned integers
            For each remaining edge of `rows` and of `own`, the number of triangles that it loses is added.
        row : array of integers, shape (e,)
            The row in `rows` of the late end of each leaving edge.
        late, early : array of integers, shape (e,)
            The ends of these edges. `early` contains rows of `own`.
        """

    def settle(self, state: Array, lost: Array, support: Array, limit: int) -> Array:
        """End a step: edges that leave are removed, and the others lose triangles.

        Parameters
        ----------
        state, lost : array, shape (e,)
            See :func:`lose`. Nothing is lost any more afterwards.
        support : array of integers, shape (o,)
            Number of triangles of the first edges.
        limit : int

        Returns
        -------
        array of int64
            Those of the first edges that lost triangles, and are left with at most `limit`.
        """

    def common(
        self, rows: Rows, own: Rows, row: Array, own_row: Array, *, threads: int = 1
    ) -> Array:
        """Return, for each pair of rows, the sum of the weights of the ends that they have in common.

        Parameters
        ----------
        rows, own : Rows
            Ends are in ascending order. Weights are int64. A common end has two weights, and the smaller
            one counts. If only `own` has weights, these count. If neither has, each weight is 1.
        row, own_row : array of int64, shape (n,)
            The pairs, as indices of rows in `rows` and in `own`.

        Returns
        -------
        array of int64, shape (n,)
        """

    def two_hops(
        self, rows: Rows, without: Array, own: Rows, size: int, *, threads: int = 1
    ) -> tuple[Array, Array, Array]:
        """Return the distinct ends two hops from each row, with the total weight of the paths to each end.

        Parameters
        ----------
        rows : Rows
            Their ends are indices of rows in `own`. Weights are int64, and at least 0.
        without : array of int64
            For each row, an end to exclude from the result, or -1.
        own : Rows
            Their ends are from 0 to ``size - 1``. A path has two weights, and the smaller one counts. If
            only `rows` has weights, these count. If neither has, each weight is 1.
        size : int
            Number of possible ends.

        Returns
        -------
        lengths : array of int64
            Number of ends for each row.
        ends : array of the type of ends
            The ends of each row, in ascending order.
        sums : array of int64
            Total weight of the paths to each end.
        """

    def best(
        self, offsets: Array, scores: Array, count: int | None, *, threads: int = 1
    ) -> tuple[Array, Array]:
        """Return the entries of each row with the highest scores, and their number.

        Parameters
        ----------
        offsets : array of int64, shape (r + 1,)
            Start of each row's entries, followed by the end of the last row.
        scores : array of float64
            A score for each entry.
        count : int or None
            Maximum number of entries per row; None returns all.

        Returns
        -------
        entries : array of int64
            Indices of entries, by row and by descending score. Entries with equal scores keep their order.
        lengths : array of int64, shape (r,)
            Number of entries that are returned for each row.
        """


def peel_edges(
    rows: Rows, late: Array, early: Array, support: Array, truss: Array, limit: int, most: int
) -> None:
    """Remove edges of a graph on a device at increasing limits; see :meth:`.EdgeTriangles.remove_all`.

    One launch does all steps until half of the edges in the rows are removed. These are then dropped from
    the rows.

    Parameters
    ----------
    rows : Rows
        For each vertex, its neighbors in ascending order. The weight of an entry is the index of its edge.
    late, early : array of integers, shape (E,)
        The ends of each edge.
    support : array of integers, shape (E,)
        Number of triangles of each edge; may be overwritten.
    truss : array of int32, shape (E,)
        Set for removed edges.
    limit, most : int
        The first limit, and the largest one.
    """
    from . import device

    device.peel_edges(rows, late, early, support, truss, limit, most)


of: Callable[[Any], IntersectKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: IntersectKernels = host
    _device: IntersectKernels = device
