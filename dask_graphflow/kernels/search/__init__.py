"""Breadth-first search: one level by push or by pull, with the smallest predecessor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Reached, Rows


class SharedSearch:
    """What members share that search with one launch for several levels.

    Parameters
    ----------
    memory : SharedMemory
    lists : Column
        The vertices that each member has reached by pushes, in this order.
    predecessors, levels, degrees : Column
        See :class:`.Reached`. Predecessors are numbers.
    front : Column of uint64
        A bitmap of all members' vertices that are in the frontier of a pull.
    """

    def __init__(
        self, memory: Any, lists: Any, predecessors: Any, levels: Any, degrees: Any, front: Any
    ):
        self.memory, self.lists, self.predecessors = memory, lists, predecessors
        self.levels, self.degrees, self.front = levels, degrees, front
        self.end = 0
        self._last: Any = None

    def list(self, frontier: Any) -> bool:
        """Append a frontier to this member's list, unless it is the end. Return whether it was appended."""
        if frontier is self._last:
            return False
        self.end += len(frontier)
        self.lists.own[self.end - len(frontier) : self.end] = frontier
        self._last = frontier
        return True

    def found(self, begin: int, count: int) -> Any:
        """Return the vertices that were appended to this member's list, as the next frontier."""
        self.end = begin + count
        self._last = self.lists.own[begin : self.end]
        return self._last


class PullRule(NamedTuple):
    """When to pull: if more than `least` edges leave a level and, times `factor`, more than `limit`."""

    factor: int
    limit: int
    shrinking: bool  # whether each level reduces the limit by its number of edges
    least: int
    # If this is not negative, pulls go on until a frontier shrinks and has at most so many vertices.
    narrow: int


class LevelPlan(NamedTuple):
    """What :func:`SearchKernels.bfs_levels` is to do."""

    levels: int  # maximum number of levels
    leaving: int  # number of edges that leave the first frontier
    pull: bool  # whether the first level is pulled
    rule: PullRule  # the direction of later levels
    # Array of int64, or None. Stop after a large level once all of these vertices are reached.
    targets: Any


class SearchKernels(Protocol):
    """What :mod:`.search.host` and :mod:`.search.device` can do."""

    # Maximum number of edges that leave the first frontier of :func:`bfs_levels`, by its direction.
    FUSED: dict[str, int]

    def bfs_pull(
        self,
        rows: Rows,
        frontier: Array,
        following: Array,
        reached: Reached,
        depth: int,
        degrees: Array,
        *,
        threads: int = 1,
        shared: SharedSearch | None = None,
    ) -> tuple[int, Any]:
        """Set the predecessor of each unseen vertex to its smallest neighbor in the frontier.

        Parameters
        ----------
        rows : Rows
            Rows of incoming edges; see the module docstring.
        frontier, following : array of uint64, shape (ceil(V / 64),)
            Bitmaps of the last level and of the next level. New vertices are added to `following`.
        reached : Reached
            Updated in place. The level of new vertices is `depth`.
        depth : int
            The next level.
        degrees : array of int64
            The degrees of the vertices that have rows.

        Returns
        -------
        found, leaving : int
            Number of new vertices, and the sum of their degrees.
        """

    def bfs_push(
        self, rows: Rows, frontier: Array, reached: Reached, depth: int, *, threads: int = 1
    ) -> Array:
        """Set the predecessor of each unseen vertex to the smallest frontier vertex with an edge to it.

        Parameters
        ----------
        rows : Rows
            Rows of outgoing edges; see the module docstring.
        frontier : array of the ends' dtype, shape (f,)
            Vertices of the last level that have a row here.
        reached, depth, threads
            See :func:`bfs_pull`. `reached.seen` is not changed: if several ranges of rows are pushed one
            after another, each can still find a smaller predecessor. Call :func:`mark_seen` after the last
            range.

        Returns
        -------
        array, shape (n,)
            New vertices in no particular order, without duplicates.
        """

    def bfs_levels(
        self,
        sides: tuple[Rows, Rows | None, Array],
        frontier: Array,
        reached: Reached,
        depth: int,
        plan: LevelPlan,
        *,
        threads: int = 1,
        shared: SharedSearch | None = None,
    ) -> tuple[Array, tuple[int, int] | None, Array, Array, Array]:
        """Search level after level in one call, by push and by pull.

        A level can take less time than the call of a kernel. The first level is always done, if at most
        :data:`FUSED` edges leave its frontier. The kernel goes on until nothing is left to search, the
        limits of the plan are reached, or a level follows that it would rather leave to the caller.

        Parameters
        ----------
        sides : tuple of Rows, Rows or None, and array of int64
            Rows of all vertices, with outgoing edges; those with incoming edges, without which no level is
            pulled; and the vertices' degrees.
        frontier, reached, depth
            See :func:`bfs_push`; `reached.seen` is updated.
        plan : LevelPlan

        Returns
        -------
        frontier : array
            The next frontier; empty if the search is complete.
        total : tuple of int and int, or None
            Number of its vertices, and of edges that leave them, over all members that share the search;
            None if the kernel did not count them.
        sizes, edges : array of int64, shape (n,)
            Size of the frontier of each level that was done, and number of edges that leave it; n can be 0.
        pulled : array of numbers, shape (n,)
            Whether each level was pulled.
        """

    def mark_seen(self, seen: Array, vertices: Array) -> None:
        """Set the bits of `vertices`."""

    def reach(
        self,
        rows: Rows,
        frontier: Array,
        reached: Reached,
        depth: int,
        degrees: Array,
        *,
        edges: int,
        low: int,
        names: Array | None = None,
        threads: int = 1,
    ) -> tuple[Array, int, Array]:
        """Push from one member's vertices to its own vertices and to its mirrors.

        Parameters
        ----------
        rows : Rows
            Rows of the member's own vertices, which are numbered from 0. Mirrors have the numbers after
            these.
        frontier, reached, depth
            See :func:`bfs_push`; `reached.seen` is updated.
        degrees : array of int64, shape (V_p,)
            Number of edges that leave each of the member's own vertices.
        edges : int
            Number of edges that leave the frontier.
        low : int
            Global number of the member's first vertex. It is used to make predecessors global numbers.
        names : array, shape (V_p,), optional
            Global numbers of the member's own vertices, ascending, if they are not consecutive.

        Returns
        -------
        own : array
            New vertices that the member owns, in no particular order.
        edges : int
            Number of edges that leave them.
        mirrors : array
            New mirrors, in ascending order.
        """

    def take_offers(
        self,
        rows: Rows,
        vertices: Array,
        offers: Array,
        reached: Reached,
        depth: int,
        degrees: Array,
    ) -> tuple[Array, int]:
        """Apply the predecessors that another member offers for this member's vertices.

        Parameters
        ----------
        rows, reached, depth, degrees
            See :func:`reach`.
        vertices : array of integers, shape (k,)
            Vertices that get an offer, without duplicates.
        offers : array, shape (k,)
            The predecessor that is offered for each vertex.

        Returns
        -------
        fresh : array
            Vertices that had no predecessor.
        edges : int
            Number of edges that leave them.
        """


def push_to_all(
    rows: Rows, frontier: Array, reached: Reached, depth: int, *, shared: SharedSearch
) -> tuple[Array, tuple[int, int]]:
    """Push one level to the vertices of all members, which share memory.

    See :meth:`SearchKernels.bfs_near` for the parameters. Returns the next frontier, and the number of its
    vertices and of the edges that leave them, over all members.
    """
    from . import device

    pushed: tuple[Array, tuple[int, int]] = device.bfs_push_to_all(
        rows, frontier, reached, depth, shared=shared
    )
    return pushed


of: Callable[[Any], SearchKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: SearchKernels = host
    _device: SearchKernels = device
