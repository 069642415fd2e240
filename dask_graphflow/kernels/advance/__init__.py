"""Advance: run any edge program on the edges of a frontier; and lists and bitmaps of vertices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows
from dask_graphflow.kernels.program import Program


class Moved(NamedTuple):
    """The result of an advance."""

    # Array. The vertices whose value changed: a list in no particular order for a push, a bitmap for a
    # pull.
    changed: Array
    edges: int = 0  # number of edges that were read
    chunks: int = 0  # number of mini-chunks that were taken, or of tiles that were processed
    appends: int = 0  # number of atomic appends to lists
    balance: str = "auto"  # the policy
    # With ``twc``, the number of rows that went to a thread, to a warp and to a block.
    bins: tuple[int, ...] = (0, 0, 0)
    # Array of uint64, shape (blocks,). Number of edges that each block examined, on a device.
    work: Array | None = None
    words: Array | None = None  # array of uint64, optional. A bitmap of the vertices in the list.
    # On a device: how many vertices have a new value, how many of them the member owns, and how many edges
    # leave the owned ones.
    found: int | None = None
    owned: int | None = None
    leaving: int | None = None
    # Number of mini-chunks that a thread took from another thread's range, on the host.
    steals: int = 0


class SharedRun(NamedTuple):
    """What members whose devices share memory use in a :class:`Run`."""

    memory: Any  # SharedMemory
    target: Any  # Column that receives messages. It begins with an entry for each own vertex.
    # Column of the dtype of the ends, whose size :func:`ring_of` returns. Vertices of the frontiers.
    lists: Any
    stamps: Any  # Column of uint32. The last superstep that listed each own vertex.
    offsets: Any  # Column of int64. Where the row of each own vertex begins, and where the last one ends.


class Run(Protocol):
    """Pushes of one frontier after another in one call, while few edges leave them.

    Parameters
    ----------
    program, rows
        See :func:`push`. The rows are those of all own vertices, and their ends the numbers of vertices.
    columns : tuple of array, shape (V_p,) each
        The vertex columns; only :meth:`push` changes the target column.
    before : array, shape (V_p,), optional
        A copy of the target column, which messages read. It is updated after each superstep.
    shared : SharedRun, optional
        If the devices of several members share memory: all members then call :meth:`push` at once. Messages
        read columns at their source alone.
    """

    def push(
        self,
        params: tuple[Any, ...],
        frontier: Array,
        sizes: tuple[int, int],
        first: int,
        most: int,
        dense: tuple[int, int, bool],
    ) -> tuple[Array, tuple[int, int], Array]:
        """Push from a frontier, then from the vertices that change, and so on.

        Parameters
        ----------
        params : tuple of number
            The values of the program's parameters.
        frontier : array of integers, shape (f,)
            The own vertices to begin with, each once.
        sizes : tuple of int
            Number of vertices to begin with, of all members, and of edges that leave them.
        first : int
            Number of supersteps before this call.
        most : int
            Maximum number of supersteps.
        dense : tuple of int, int and bool
            A superstep is left to the caller if its number of edges, times the first item, is greater than
            the second item. If the third item is true, the edges of each superstep are subtracted from the
            second one.

        Returns
        -------
        frontier : array
            Own vertices of the next frontier; empty if none changed.
        sizes : tuple of int
            Number of vertices in it, of all members, and of edges that leave them.
        done : array of int64, shape (n, 2)
            For each superstep, the size of its frontier and the number of edges that leave it. n can be 0.
        """


class AdvanceKernels(Protocol):
    """What :mod:`.advance.host` and :mod:`.advance.device` can do."""

    SMALL_FRONTIER: int

    def to_words(self, vertices: Array, size: int) -> Array:
        """Return a list of vertices as a bitmap of `size` bits, in 64-bit words."""

    def listed(self, marks: Array, dtype: Any) -> Array:
        """Return the vertices whose entries in an array of bool are true, each once, in any order."""

    def from_words(self, words: Array, dtype: Any, count: int | None = None) -> Array:
        """Return the vertices of a bitmap, `count` if that is known, in ascending order."""

    def tally(self, words: Array, degrees: Array | None = None) -> tuple[int, int]:
        """Return the number of vertices in a bitmap, and the sum of their degrees."""

    def sum_degrees(self, vertices: Array, degrees: Array) -> int:
        """Return the sum of the degrees of a list of vertices."""

    def push(
        self,
        program: Program,
        rows: Rows,
        columns: tuple[Array, ...],
        frontier: Array | None = None,
        *,
        changed: Array | None = None,
        threads: int = 1,
        balance: str = "auto",
        leaving: int | None = None,
        degrees: Array | None = None,
        step: int | None = None,
    ) -> Moved:
        """Send messages along the rows of a frontier.

        Parameters
        ----------
        program : HostProgram or DeviceProgram
            The edge program.
        rows : Rows
            Rows of outgoing edges.
        columns : tuple of array, shape (V,) each
            The vertex columns in the order of ``op.columns``, followed by the values of the parameters.
            The target column is changed in place.
        frontier : array of integers, shape (f,), optional
            The rows to push from, without duplicates. Defaults to all rows.
        changed : array of uint64, shape (ceil(V / 64),), optional
            A bitmap to which changed vertices are added, if several ranges of rows are handled one after
            another. A push does not list the vertices that are already in it.
        threads : int
            Threads to use. Each gets a range with about the same number of edges.
        balance : str
            The policy: "auto", "thread", or "all_edges", which does not accept a frontier. All of them do
            the same on the host; :mod:`.advance.device` describes more policies.
        leaving : int, optional
            Number of edges in the rows of the frontier. If it is known, a push need not wait for it.
        step : int, optional
            Number of the superstep, to do what the program does with the vertices that changed; see
            :func:`after`. By default, it is not done.
        degrees : array of int64, shape (V_p,), optional
            Degrees of the vertices that the member owns. Required with `step`. A device adds up those of
            the vertices that change.

        Returns
        -------
        Moved
            Its `changed` is a list of the vertices that changed, without duplicates.

        Raises
        ------
        OptionError
            The policy does not exist, or "all_edges" was given a frontier.
        """

    def pull(
        self,
        program: Program,
        rows: Rows,
        columns: tuple[Array, ...],
        frontier: Array | None = None,
        *,
        changed: Array | None = None,
        threads: int = 1,
        balance: str = "auto",
        degrees: Array | None = None,
        step: int | None = None,
    ) -> Moved:
        """Fetch messages from the neighbors that are in a frontier.

        Parameters
        ----------
        program, columns, changed, threads
            As for :func:`push`.
        rows : Rows
            Rows of incoming edges.
        frontier : array of uint64, shape (ceil(V / 64),), optional
            A bitmap of the vertices that send messages. By default, every vertex sends.
        balance, degrees, step
            See :func:`push`.

        Returns
        -------
        Moved
            Its `changed` is a bitmap of the vertices that changed.

        Raises
        ------
        OptionError
            The policy does not exist.
        """

    def new_run(
        self,
        program: Program,
        rows: Rows,
        columns: tuple[Array, ...],
        before: Array | None = None,
        shared: SharedRun | None = None,
    ) -> Run:
        """Return a :class:`Run` with these parameters."""

    def after(
        self,
        program: Program,
        columns: tuple[Array, ...],
        vertices: Array,
        step: int,
        degrees: Array,
    ) -> tuple[Array, int]:
        """Do what a program does with the vertices that changed, once for each.

        Parameters
        ----------
        program, columns
            See :func:`push`.
        vertices : array of integers, shape (f,)
            The vertices that changed, each once.
        step : int
            Number of the superstep.
        degrees : array of int64, shape (V,)

        Returns
        -------
        kept : array
            The vertices that are in the next frontier.
        leaving : int
            The sum of their degrees.
        """

    def after_words(
        self,
        program: Program,
        columns: tuple[Array, ...],
        words: Array,
        step: int,
        degrees: Array | None,
    ) -> tuple[int, int]:
        """Do what :func:`after` does with the vertices of a bitmap, and keep only the next frontier in it.

        Returns the number of vertices in the next frontier, and the sum of their degrees.
        """


def deliver(
    program: Program,
    memory: Any,
    positions: Array,
    slots: Array,
    target: Any,
    marks: Any,
    neutral: Any = None,
) -> None:
    """Send what mirrors have gathered to the members that own the vertices, whose devices share memory.

    All vertices that change are marked by their owners. Does not wait.

    Parameters
    ----------
    program : DeviceProgram
    memory : SharedMemory
    positions : array of integers
        The masters and the mirrors that a push has changed, each once.
    slots : array of integers
        The number of the vertex of each mirror.
    target : Column
        The program's target, with an entry for each master and then for each mirror.
    marks : Column of uint64
        A bitmap of each member's vertices.
    neutral : number, optional
        What to set these mirrors to. By default they keep their values.
    """
    from . import device

    device.deliver(program, memory, positions, slots, target, marks, neutral)


def ring_of(most: int) -> int:
    """Return the size of the lists of a :class:`SharedRun`, from the largest number of own vertices."""
    from . import device

    return device.ring_of(most)


of: Callable[[Any], AdvanceKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: AdvanceKernels = host
    _device: AdvanceKernels = device
