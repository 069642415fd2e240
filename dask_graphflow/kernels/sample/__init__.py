"""Random choices of edges: random walks, and samples of the edges that leave vertices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class SampleKernels(Protocol):
    """What :mod:`.sample.host` and :mod:`.sample.device` can do."""

    OPEN: int

    def hashes(self, ranks: Array, seed: int | Array) -> Array:
        """Return the SplitMix64 hash of each rank: array of uint64, shape (n,).

        Parameters
        ----------
        ranks : array of int32 or int64, shape (n,)
        seed : int, or array of int64, shape (n,)
            One for all ranks, or one for each.
        """

    def walk(
        self,
        rows: Rows,
        sums: Array | None,
        starts: Array,
        keys: Array,
        length: int,
        bias: Array,
        *,
        first: int = 0,
        before: Array | None = None,
        threads: int = 1,
    ) -> Array:
        """Return random walks, or the next steps of walks, over rows that include all vertices.

        Parameters
        ----------
        rows : Rows
            Rows of all vertices, from 0 on.
        sums : array of int64, or None
            See :func:`cumulate`; None if edges have no weights.
        starts : array of integers, shape (w,)
            The vertex of each walk.
        keys : array of uint64, shape (w,)
        length : int
            Number of steps.
        bias : array of float64, shape (4,)
            Factor for the weights of edges back to the previous vertex, factor for other edges, and the
            probability to accept another vertex if the previous vertex has an edge to it, and if it has
            none.
        first : int
            Number of steps that the walks have done; 0 by default.
        before : array of the dtype of the rows' ends, shape (w,), optional
            The previous vertex of each walk, unless `first` is 0.

        Returns
        -------
        array of the dtype of the rows' ends, shape (w, length + 1)
            Vertices of each walk; -1 after its end.
        """

    def propose(
        self,
        rows: Rows,
        sums: Array | None,
        vertices: Array,
        before: Array,
        keys: Array,
        step: int,
        bias: Array,
        attempts: Array,
        slots: int,
        *,
        threads: int = 1,
    ) -> tuple[Array, Array]:
        """Return the next vertices of walks, as far as this member's rows can decide them.

        Parameters
        ----------
        rows, sums, keys, bias, threads
            See :func:`walk`. Ends are numbers of all members' vertices.
        vertices : array of integers, shape (w,)
            The row of each walk's vertex.
        before : array of the dtype of the rows' ends, shape (w,)
            Number of the previous vertex, or -1.
        step : int
        attempts : array of int64, shape (w,)
            The number of attempts at this step that each walk has made so far; the new ones are added.
        slots : int
            Maximum number of candidates per walk.

        Returns
        -------
        tests : array of the dtype of the rows' ends, shape (w, slots)
            Candidates to test: does the previous vertex have an edge to them? The walk takes the first one
            that passes. Unused slots are -1.
        decided : array of the same dtype, shape (w,)
            The next step if no candidate passes: a vertex; -1, which ends the walk; or :data:`OPEN`.
        """

    def connected(self, rows: Rows, vertices: Array, others: Array, *, threads: int = 1) -> Array:
        """Return whether each row has an entry for another vertex: array of bool, shape (f,).

        Parameters
        ----------
        rows : Rows
        vertices : array of integers, shape (f,)
            Rows.
        others : array of the dtype of the rows' ends, shape (f,)
        """

    def pick_edges(
        self,
        rows: Rows,
        vertices: Array,
        keys: Array,
        wanted: int,
        replace: bool,
        first: Array,
        *,
        threads: int = 1,
    ) -> tuple[Array, Array]:
        """Return random edges that leave some vertices.

        Parameters
        ----------
        rows : Rows
        vertices : array of integers, shape (f,)
            Rows; a row can occur several times.
        keys : array of uint64, shape (f,)
        wanted : int
            Number of edges per vertex; -1 for all.
        replace : bool
            Whether an edge can be picked several times.
        first : array of int64, shape (f + 1,)
            Start of each vertex's edges in the result, followed by the end of the last ones.

        Returns
        -------
        edges : array of int64, shape (e,)
            Indices of entries in the rows.
        items : array of int64, shape (e,)
            Index in `vertices` of each edge's vertex.
        """

    def cumulate(self, rows: Rows, *, threads: int = 1) -> Array:
        """Return the running sums of each row's weights as integers: int64, shape (e,).

        The unit of a row is a power of two that depends on its number of entries and on its largest weight,
        so the sums of a row do not depend on other rows.

        Parameters
        ----------
        rows : Rows
            Weights are finite and at least 0.
        """


of: Callable[[Any], SampleKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: SampleKernels = host
    _device: SampleKernels = device
