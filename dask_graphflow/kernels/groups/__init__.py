"""Groups of neighbors: the best one for each vertex, and the sums of weights between groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class SharedGroups(NamedTuple):
    """What members share on their devices to sweep together.

    Each column has entries for the vertices, or the labels, of all members; see
    :meth:`GroupsKernels.sweep`.
    """

    memory: Any  # SharedMemory
    awake: Any
    labels: Any
    load: Any
    skew_load: Any  # or None
    alone: Any  # bool: which vertices are alone during a sweep; False before and after


class GroupsKernels(Protocol):
    """What :mod:`.groups.host` and :mod:`.groups.device` can do."""

    def best_groups(
        self,
        sides: Sequence[Rows],
        labels: Array,
        vertices: Array | None = None,
        masses: tuple[Array, Array, float] | None = None,
        limits: tuple[Array, Array] | None = None,
        skew: tuple[Array, Array] | None = None,
        *,
        tables: dict[int, Any],
        threads: int = 1,
    ) -> Array:
        """Return the best label for each of some vertices.

        Without masses, this is the label whose neighbors have the largest sum of weights, and the smallest
        one if there is a tie. A self-loop counts: its vertex is its own neighbor. A vertex without
        neighbors keeps its label.

        With masses, the score of a label is the sum of the weights of a vertex's edges to other vertices
        with that label, minus ``factor * mass * load``. For the vertex's own label, its mass is first
        subtracted from the load. If the largest score is greater than the score of its own label, the
        vertex takes the smallest label with that score.

        Parameters
        ----------
        sides : sequence of 1 or 2 Rows
            Rows of all vertices. With two, the neighbors are those of both rows of a vertex. Weights are
            int64, or None for 1 each. An edge with weight 0 does not count. Weights are at least 0; with
            masses, they can be negative on the host. A vertex then takes no label whose sum is 0.
        labels : array of integers, shape (masters + mirrors,)
        vertices : array of integers, shape (f,), optional
            Rows, without duplicates. Defaults to all rows.
        masses : tuple, optional
            The mass of each vertex (int64, shape (masters,)), the load of each label (int64, the total mass
            of its vertices), and the factor (float). Sums of weights and loads are whole numbers below
            2**62, so that scores do not depend on the order of edges. Masses require a single side.
        limits : tuple, optional
            Only with masses. The first item is an array of the dtype of `labels`, shape (masters +
            mirrors,). Neighbors whose value there differs from that of the vertex do not count. The second
            item is an array of bool: the labels that no vertex takes.
        skew : tuple, optional
            Only with masses. The skew of each vertex (int64, shape (masters,)), and the total skew of each
            label (int64). Then ``factor * skew * total`` is added to each score. For the vertex's own
            label, its skew is first subtracted from the total.
        tables : dict
            Keeps each thread's sums between calls on the same rows.

        Returns
        -------
        array of the dtype of `labels`, shape (f,)
        """

    def sweep(
        self,
        rows: Rows,
        labels: Array,
        masses: tuple[Array, Array, float],
        draw: tuple[Array, int],
        awake: Array,
        within: Array | None = None,
        skew: tuple[Array, Array] | None = None,
        *,
        room: dict[Any, Any],
        threads: int = 1,
        shared: SharedGroups | None = None,
    ) -> int:
        """Move the awake vertices to the labels with the best scores; return how many vertices moved.

        Vertices are drawn into 8 classes. All vertices of a class choose their labels before any of them
        moves; see :func:`best_groups`. Then the next class chooses.

        Parameters
        ----------
        rows : Rows
            Rows of all vertices of a graph. Vertices and labels have the same numbers. Self-loops do not
            count.
        labels : array of integers, shape (V,)
            Changed in place.
        masses : tuple
            The mass of each vertex and the load of each label (int64, shape (V,)), and the factor. Loads
            are changed in place.
        draw : tuple
            A rank per vertex (integers, shape (V,)) and a seed: the class of a vertex is in the lowest bits
            of its :func:`.priorities`.
        awake : array of int32, shape (V,)
            1 for vertices that can move, and 0 for others. It is replaced by the neighbors of vertices that
            moved, if these are in other groups, unless `within` is given.
        within : array of the dtype of `labels`, shape (V,), optional
            If given, only neighbors with the same value as the vertex count. A vertex moves only while it
            is alone with its own number as label, and takes no label of such a vertex of its class.
        skew : tuple, optional
            See :func:`best_groups`. The total skew of each label is changed in place.
        room : dict
            Keeps work space between calls on the same rows.
        shared : SharedGroups, optional
            If given, several members that share memory sweep their own vertices at once. `rows` are the
            member's rows, with numbers as ends. Masses, ranks and skews are those of its vertices. Other
            arrays have entries for all vertices. They begin the member's own columns, and it only reads
            the labels at the ends of its rows. The result counts the moves of all members.

        Returns
        -------
        int
        """

    def numbered(self, labels: Array, load: Array) -> tuple[Array, Array]:
        """Number the labels that have a load, in ascending order.

        Parameters
        ----------
        labels : array of integers, shape (n,)
            Negative at positions that are not vertices.
        load : array of int64, shape (V,)

        Returns
        -------
        array of the narrowest index dtype, shape (n,)
            The number of each label, or -1 if it is negative or has no load.
        array of int64, shape (count,)
            The loads by number.
        """

    def sums_between(self, rows: Rows, number: Array, count: int, *, threads: int = 1) -> Rows:
        """Return rows of groups of vertices, with the sums of the weights of the edges between two groups.

        Parameters
        ----------
        rows : Rows
            Rows of an undirected graph: each edge is in the rows of both of its ends. Weights are int64, or
            None for 1 each.
        number : array of int32 or int64, shape (masters + mirrors,)
            Group of each vertex, from 0 on. Negative for vertices that only have edges of weight 0.
        count : int
            Number of groups.

        Returns
        -------
        Rows
            For each group, the other groups with an edge from a vertex of `rows`, each once, in any order.
            The weights are the sums, which are not 0. Edges inside a group are left out.
        """

    def weight_between(self, rows: Rows, labels: Array, *, threads: int = 1) -> int:
        """Return the sum of the weights of the edges in some rows whose ends have different labels.

        Parameters
        ----------
        rows : Rows
            Weights are int64, or None for 1 each.
        labels : array of integers, shape (masters + mirrors,)
        """

    def edges_inside(self, rows: Rows, labels: Array) -> tuple[Array, Array]:
        """Return the edges of some rows whose ends have the same label, each with its smaller end first."""


of: Callable[[Any], GroupsKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: GroupsKernels = host
    _device: GroupsKernels = device
