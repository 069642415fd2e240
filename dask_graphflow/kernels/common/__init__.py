"""Functions for arrays and frames, and forests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.csr import Array


class CommonKernels(Protocol):
    """What :mod:`.common.host` and :mod:`.common.device` can do."""

    namespace: Any
    SAMPLED: int

    def asarray(self, series: Any) -> Array:
        """Return the values of a pandas Series or a NumPy array, without a copy if possible."""

    def to_host(self, array: Array) -> Array:
        """Return `array` in host memory."""

    def count_true(self, marks: Array) -> int:
        """Return how many entries of an array of bool are true."""

    def wait(self) -> None:
        """Return at once: on the host, no work is queued."""

    def hook(
        self,
        parent: Array,
        seen: Array,
        source: Array,
        target: Array,
        *,
        base: int = 0,
        step: int = 1,
        cache: dict[str, Any] | None = None,
        threads: int = 1,
    ) -> tuple[int, tuple[int, int] | None]:
        """Join the trees of both ends of every `step`-th edge.

        Parameters
        ----------
        parent : array of int32 or int64, shape (n,)
            The forest, changed in place.
        seen : array of uint8, shape (n,)
            Set to 1 for each vertex with a self-loop. Pass an empty array to skip this.
        source, target : array of integers, shape (m,)
            The edges. The forest contains the ids from `base` to ``base + n - 1``. Edges with other ids are
            skipped.
        base : int
            The id of the forest's first vertex.
        step : int
            1 to hook every edge, or more to hook a sample. A device samples other edges than the host.
        cache : dict, optional
            Information about this forest that is kept between calls. The host kernels do not use it. The
            device kernels store the giant tree in it.

        Returns
        -------
        hooked : int
            Number of edges whose ends had different parents.
        outside : tuple of int, or None
            The smallest and the largest id of the skipped edges, or None if no edge was skipped.

        References
        ----------
        .. [1] J. Jaiganesh, M. Burtscher, "A High-Performance Connected Components Implementation for
           GPUs", HPDC 2018.
        """

    def hook_sampled(
        self,
        parent: Array,
        seen: Array,
        source: Array,
        target: Array,
        *,
        base: int = 0,
        step: int,
        cache: dict[str, Any] | None = None,
        threads: int = 1,
    ) -> tuple[int, tuple[int, int] | None]:
        """Hook every `step`-th edge, flatten the trees, then hook all edges (Afforest).

        Returns
        -------
        tuple
            The same values as :func:`hook`.

        References
        ----------
        .. [1] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via
           Subgraph Sampling", IPDPS 2018.
        """

    def absorb(
        self,
        parent: Array,
        entries: Array,
        *,
        first: int = 0,
        shift: int = 0,
        slots: Any = None,
        threads: int = 1,
    ) -> int:
        """Hook the entries ``(i, entries[i])`` of another forest, or of a slice of it.

        Parameters
        ----------
        parent : array of int32 or int64, shape (n,)
            The forest, changed in place.
        entries : array of int32 or int64, shape (m,)
            The parents in the other forest, starting at its vertex `first`.
        first : int
            The first vertex of the slice.
        shift : int
            Index in this forest of the other forest's first vertex.
        slots : array of integers, optional
            Index in this forest of each vertex of the other forest. Replaces `shift`.

        Returns
        -------
        int
            Number of entries whose ends had different parents.
        """

    def compress(
        self, parent: Array, *, start: int = 0, stop: int | None = None, threads: int = 1
    ) -> None:
        """Point each vertex from `start` to ``stop - 1`` at its root (multiple pointer jumping)."""

    def mark_members(self, parent: Array, seen: Array, *, threads: int = 1) -> None:
        """Set ``seen`` to 1 for each vertex in a tree with other vertices; `parent` must be flat."""

    def labels(
        self, parent: Array, seen: Array, start: int, stop: int, *, base: int, dtype: Any
    ) -> tuple[Array, Array]:
        """Return the ids of the seen vertices from `start` to ``stop - 1``, and the ids of their roots.

        `parent` must be flat. Its first vertex has the id `base`.
        """

    def bounds(self, source: Array, target: Array, *, step: int = 1) -> tuple[int, int]:
        """Return the smallest and the largest id among every `step`-th edge."""

    def identity(self, size: int, dtype: Any) -> Array:
        """Return a forest of `size` roots."""

    def from_pandas(self, frame: Any) -> Any:
        """Return a pandas frame of ids in the form that these kernels use, with rows numbered from 0."""

    def to_pandas(self, frame: Any) -> Any:
        """Return a frame of these kernels as a pandas frame."""


if TYPE_CHECKING:
    from . import device, host

    _host: CommonKernels = host
    _device: CommonKernels = device
