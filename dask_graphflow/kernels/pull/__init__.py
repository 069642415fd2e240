"""PageRank: one iteration by pull, with sums that do not depend on the order of edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows
from dask_graphflow.kernels.scores import RunningTotals


class Ranks(NamedTuple):
    """The columns of an iteration."""

    rank: Array  # array of float32 or float64, shape (n,)
    # Array of the ranks' dtype, shape (n,). The factor from each rank to its contribution per edge.
    share_out: Array
    # Array of the ranks' dtype, shape (V,). The contributions of the n vertices, then of the others that
    # are read.
    contribution: Array
    # Array of shape (n,). Sums of int64, which are 0, on a device. On the host, new contributions, because
    # other threads still read the old ones.
    spare: Array


class PullKernels(Protocol):
    """What :mod:`.pull.host` and :mod:`.pull.device` can do."""

    ONE: float
    CHANGE: float

    def readable(self, rows: Rows) -> Rows:
        """Return rows with weights that the kernels support: on the host, all types of weights."""

    def sum_contributions(
        self,
        rows: Rows,
        contribution: Array,
        sums: Array,
        totals: RunningTotals,
        *,
        threads: int = 1,
    ) -> None:
        """Begin an iteration: sum the contributions of the neighbors of each vertex.

        Parameters
        ----------
        rows : Rows
            Rows of incoming edges. Contributions are multiplied by the weights, if there are any.
        contribution : array of float32 or float64, shape (V,)
            The contribution of each vertex, times :data:`ONE`.
        sums : array of int64, shape (n,)
            Set to the sums of the vertices from ``rows.first`` on. On a device, they must be 0 before.
        totals : RunningTotals
            Set to the sum of all sums, and the other totals to 0.
        threads : int
            Threads to use. Each gets a range with about the same number of edges.
        """

    def row_totals(self, rows: Rows) -> Array:
        """Return the sum of each row's weights, which are at least 0, as float64.

        A weight counts as a whole multiple of a unit that depends on the row's largest weight, and the rest
        as one of a finer unit. So a sum has the same bits in every order.
        """

    def shares(
        self, total: Array, least: float, share_out: Array, *, threads: int = 1
    ) -> tuple[int, int]:
        """Divide :data:`ONE` by the total that leaves each vertex.

        Parameters
        ----------
        total : array of int64 or float64, shape (n,)
            The number of outgoing edges, or the sum of their weights.
        least : float
            The smallest share that fits; a smaller one, and one that is not finite, is set to NaN.
        share_out : array of float32 or float64, shape (n,)
            Set to the shares; 0 if the total is 0.

        Returns
        -------
        unfit, sinks : int
            Number of shares that do not fit, and of totals that are 0.
        """

    def new_ranks(self, rank: Array, share_out: Array, wide: Array) -> Ranks:
        """Return the columns that :func:`iterate` uses, with the first contributions.

        Parameters
        ----------
        rank : array of float32 or float64, shape (n,)
            The first ranks. They are changed in place.
        share_out : array of the ranks' dtype, shape (n,)
            :data:`ONE` divided by the degree, or by the sum of the weights; 0 for vertices without outgoing
            edges.
        wide : array of the ranks' dtype, shape (n + others,)
            It gets the contributions of the own vertices, which come first, and those of others.
        """

    def iterate(
        self,
        rows: Rows,
        ranks: Ranks,
        restart: Array,
        onward: Array | None,
        damping: float,
        dangling: Callable[[], float | None],
        totals: RunningTotals,
        *,
        publication: Any = None,
        threads: int = 1,
    ) -> Ranks:
        """Sum the contributions of the neighbors of each vertex, and compute ranks from these sums.

        Parameters
        ----------
        rows : Rows
            Rows of incoming edges. Contributions are multiplied by the weights, if there are any.
        ranks : Ranks
            The contributions of all vertices that are read are up to date.
        restart : array of float64, shape (1,) or (n,)
            The probability that a restart leads to each vertex.
        onward : array of float64, shape (n,), or None
            The probability that a step from a vertex without outgoing edges leads to each vertex; by
            default the same as for restarts.
        damping : float
            The fraction of rank that follows edges.
        dangling : callable
            Returns the sum of the ranks of vertices without outgoing edges; None for the one in the totals
            of the iteration before. A device sums contributions meanwhile.
        totals : RunningTotals
            Set to the sum of the absolute changes of ranks, and the sum of the ranks of vertices without
            outgoing edges, both times :data:`CHANGE`. They are integers, so they do not depend on the order
            of vertices.
        publication : Publication, optional
            Of the contributions. If members read all of them, they are written to their memory too.

        Returns
        -------
        Ranks
            With the new ranks, and the new contributions of the vertices that have them.
        """

    def sum_batch(self, rows: Rows, contribution: Array, sums: Array, *, threads: int = 1) -> None:
        """Sum the contributions of the neighbors of each vertex, for several columns at once.

        The sums of each column are bitwise identical to those of :func:`sum_contributions`.

        Parameters
        ----------
        rows : Rows
            Rows of incoming edges.
        contribution : array of float64, shape (V, b)
            The contributions of each vertex, times :data:`ONE`. A device accepts at most 16 columns.
        sums : array of int64, shape (n, b)
            Set to the sums. On a device, they must be 0 before.
        """

    def apply_batch(
        self,
        sums: Array,
        rank: Array,
        share_out: Array,
        contribution: Array,
        at: Array,
        base: Array,
        damping: float,
        *,
        threads: int = 1,
    ) -> Array:
        """Compute the ranks of several columns from sums, and contributions from ranks.

        On a device, the sums are set to 0.

        See :func:`iterate`.

        Parameters
        ----------
        sums : array of int64, shape (n, b)
        rank : array of float64, shape (n, b)
            Changed in place.
        share_out : array of float64, shape (n,)
        contribution : array of float64, shape (n, b)
            Set to ``rank * share_out``.
        at : array of int64, shape (b,)
            The only vertex of each column whose rank gets more than its sum, or -1.
        base : array of float64, shape (b,)
            In host memory. The rank that is added for this vertex.
        damping : float

        Returns
        -------
        array of int64, shape (2, b)
            In host memory. For each column, the two totals of :func:`iterate`.
        """


def iterate_until(
    rows: Rows,
    ranks: Ranks,
    restart: Array,
    onward: Array | None,
    damping: float,
    dangling: Callable[[], float | None],
    totals: RunningTotals,
    *,
    most: int,
    limit: float,
    threads: int = 1,
) -> tuple[Ranks, int]:
    """Repeat :meth:`PullKernels.iterate` in one call on the host, and return the number of iterations too.

    Parameters
    ----------
    most : int
        Maximum number of iterations; 1 if contributions of other members are read.
    limit : float
        Stop after an iteration whose ranks change by less than this, added up over all vertices.
    """
    from . import host

    given = rows, ranks, restart, onward, damping, dangling, totals
    several: Callable[..., tuple[Ranks, int]] = host.iterate_until
    return several(*given, most=most, limit=limit, threads=threads)


of: Callable[[Any], PullKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: PullKernels = host
    _device: PullKernels = device
