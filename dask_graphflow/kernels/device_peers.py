"""Device memory that the members of a gang share: kernels of one member read and write that of the others.

Each member allocates memory of the same size, an *arena*, and the others open it by its handle (CUDA IPC).
The handle is that of a whole allocation, so arenas do not come from a pool.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .common.device import namespace as cupy
from .device_bitmap import new_words
from .launching import NULL, launch, launch_blocks, read
from .sources import instance

MEMBERS = 16  # most members of a gang that shares memory, as in gang.cuh
ALIGNMENT = 512  # columns begin at a multiple of this number of bytes
BLOCK = 1 << 21  # CUDA can put smaller allocations into one block, and would share all of it
SETS = 3  # as in gang.cuh
NOTHING = np.iinfo("int64").max

GANG = np.dtype(
    [
        *((name, "u4") for name in ("rank", "size")),
        ("bounds", "i8", MEMBERS + 1),
        ("mail", "u8", MEMBERS),
        *((name, "u8") for name in ("meetings", "stopped")),
    ]
)
"""The struct ``Gang`` in gang.cuh, which has the state of the meetings of several launches."""

TELLING = np.dtype(
    [("sent", "i8", MEMBERS), *((name, "i8") for name in ("edges", "largest", "least"))]
)
TOLD = np.dtype([(name, "i8") for name in ("here", "everywhere", "edges", "largest", "least")])
OUTCOME = np.dtype([("told", TOLD), ("failed", "i8")])


def _meetings_of(telling: np.dtype, told: np.dtype) -> list[tuple[Any, ...]]:
    numbers = ((name, "u4") for name in ("arrived", "over", "failed", "blocks"))
    return [("telling", telling, SETS), ("told", told), *numbers]


def meetings_of(telling: np.dtype, told: np.dtype) -> np.dtype:
    """Return the struct ``MeetingsOf`` in gang.cuh for what members tell, and what they are told."""
    return np.dtype(_meetings_of(telling, told))


MEETINGS = np.dtype([*_meetings_of(TELLING, TOLD), ("begin", "i8"), ("end", "i8")])
"""The struct ``Meetings`` in gang.cuh, the state of one launch."""

MET = 4096  # byte of an arena of mail at which the number of meetings is stored, after a struct ``Mail``

MIRRORED = np.dtype(
    [("counts", "u8", MEMBERS), ("which", "u8", MEMBERS), ("begins", "u8", MEMBERS)]
)
"""The struct ``Mirrored`` in peers.cu."""

COLUMNS = np.dtype([("of", "u8", MEMBERS)])
"""The struct ``Columns`` in gang.cuh."""

CannotShare = cupy.cuda.runtime.CUDARuntimeError
"""The error if there is no memory to share, or if another process' memory cannot be opened."""


class Column(NamedTuple):
    """A column of which each member has an entry per own vertex, and can use those of the others."""

    own: Any  # array, in this member's memory
    pointers: np.ndarray  # array of uint64, shape (MEMBERS,): where each member's column begins

    def of(self, member: int) -> Any:
        """Return the column of a member as an array, which must not be used after the own one is gone."""
        own, begin = self.own, int(self.pointers[member])
        memory = cupy.cuda.UnownedMemory(begin, own.nbytes, own, cupy.cuda.Device().id)
        return cupy.ndarray(own.shape, own.dtype, cupy.cuda.MemoryPointer(memory, 0))


def wait() -> None:
    """Wait for what this thread has queued."""
    cupy.cuda.get_current_stream().synchronize()


def address(array: Any) -> int:
    """Return where the memory of an array begins."""
    return int(array.data.ptr)


def pointers_of(column: Any) -> np.ndarray:
    """Return the pointers of a column, or of an array of the only member; null pointers of None."""
    if isinstance(column, Column):
        return column.pointers
    pointers = np.zeros(MEMBERS, "uint64")
    if column is not None:
        pointers[0] = address(column)
    return pointers


class Arena:
    """Memory of each member that all members can use.

    Parameters
    ----------
    size : int
        Bytes of each member's memory.

    Raises
    ------
    CannotShare
        Too little memory is free outside of the pools.
    """

    def __init__(self, size: int) -> None:
        self.size = max(size, BLOCK)
        self._device = cupy.cuda.Device()
        self._memory = cupy.cuda.Memory(self.size)
        cupy.cuda.runtime.memset(self._memory.ptr, 0, self.size)
        cupy.cuda.runtime.deviceSynchronize()
        self.handle = cupy.cuda.runtime.ipcGetMemHandle(self._memory.ptr)
        self._bases: list[int] = []
        self._opened: list[int] = []

    def open(self, handles: Sequence[bytes], rank: int) -> None:
        """Open the memory of the members, of which this one has a rank. May raise CannotShare."""
        for member, handle in enumerate(handles):
            if member == rank:
                self._bases.append(self._memory.ptr)
                continue
            base = cupy.cuda.runtime.ipcOpenMemHandle(handle)
            self._opened.append(base)
            self._bases.append(base)

    def columns(self, columns: Sequence[tuple[Any, int]], lease: Any) -> list[Column]:
        """Return columns with some dtypes and numbers of entries. They keep `lease` alive."""
        made = []
        sizes = [np.dtype(dtype).itemsize * count for dtype, count in columns]
        for (dtype, count), begin in zip(columns, starts(sizes), strict=False):
            nbytes = np.dtype(dtype).itemsize * count
            memory = cupy.cuda.UnownedMemory(self._memory.ptr + begin, nbytes, (self, lease))
            own = cupy.ndarray(count, dtype, cupy.cuda.MemoryPointer(memory, 0))
            made.append(Column(own, self.pointers(begin)))
        return made

    def pointers(self, begin: int) -> np.ndarray:
        """Return the address of a byte in each member's memory: array of uint64, shape (MEMBERS,)."""
        pointers = np.zeros(MEMBERS, "uint64")
        pointers[: len(self._bases)] = np.array(self._bases, "uint64") + np.uint64(begin)
        return pointers

    def close(self) -> None:
        """Close the memory of the other members, once the kernels that were started have ended.

        Any thread may call this. The own memory is freed when no array uses it.
        """
        opened, self._opened = self._opened, []
        with self._device:
            self._device.synchronize()
            for base in opened:
                cupy.cuda.runtime.ipcCloseMemHandle(base)


def starts(sizes: Sequence[int]) -> list[int]:
    """Return the byte at which each column of an arena begins, and where the last one ends."""
    whole = (-(-size // ALIGNMENT) * ALIGNMENT for size in sizes)
    return list(itertools.accumulate(whole, initial=0))


class Stop:
    """A number in host memory that kernels read; any thread may set it to end them."""

    def __init__(self) -> None:
        self._memory = cupy.cuda.alloc_pinned_memory(64)
        self._words = np.frombuffer(self._memory, "uint32", 16)
        self._words[:] = 0
        self.pointer = self._memory.ptr

    def set(self) -> None:
        """End the kernels that wait for other members."""
        self._words[0] = 1


def meet(memory: Any, *, sent: Any = NULL, report: Any = NULL) -> Any:
    """End a step: return what all members told, each in an array ``Telling`` or a report of counts.cuh."""
    after = read(align(memory, sent=sent, report=report)).view(OUTCOME)[0]
    memory.check(after["failed"])
    return after["told"]


def align(memory: Any, *, sent: Any = NULL, report: Any = NULL, tail: int = -1) -> Any:
    """Let this member's next kernels wait until all members have done what they queued before.

    This member's list then ends at `tail`, if that is not negative. Returns an array ``Outcome`` of what
    all members told; see :func:`meet`.
    """
    outcome = cupy.empty(OUTCOME.itemsize // 8, "int64")
    launch_blocks("meet", 1, 32, 0, memory.gang, sent, report, np.int64(tail), outcome)
    return outcome


def tell_least() -> tuple[Any, Any]:
    """Return an array ``Telling``, and its entry for a number of which all members learn the smallest."""
    sent = cupy.zeros(TELLING.itemsize // 8, "int64")
    return sent, sent[-1:]


def least_told(outcome: Any) -> Any:
    """Return the entry of an array ``Outcome`` for that smallest number, before ``failed``."""
    return outcome[-2:-1]


def spread(members: Any, words: Any, everyone: Column) -> None:
    """Write a bitmap of this member's vertices to the bitmap of all vertices of each member."""
    launch(
        "spread",
        len(words),
        members,
        words,
        np.uint64(len(words)),
        np.array((everyone.pointers,), COLUMNS),
    )


class SharedMirrors:
    """Writes entries of a member to their mirrors, in columns that members share.

    Parameters
    ----------
    memory : SharedMemory
    which : sequence of array or None
        The positions of the entries that each member mirrors, in the order of the mirrors; None for all.
    own : int
        Number of the member's entries, which come first in its columns.
    begins : sequence of int
        Where these mirrors begin in a column of each member.
    """

    def __init__(self, memory: Any, which: Sequence[Any], own: int, begins: Sequence[int]) -> None:
        self.memory, self._which, self._begins = memory, which, begins
        (self._ids,) = {str(some.dtype) for some in which if some is not None} or {"int32"}
        counts = [own if some is None else len(some) for some in which]
        self._most = max(counts)
        self._mirrored = np.zeros((), MIRRORED)
        self._mirrored["counts"][: len(which)] = counts
        self._mirrored["begins"][: len(which)] = begins
        for q, some in enumerate(which):
            self._mirrored["which"][q] = 0 if some is None else address(some)

    def send(self, column: Column, marks: Any = None) -> None:
        """Write the entries of marked vertices, by default all, to their mirrors. Do not wait."""
        self._launch(instance("publish", _copied(column.own), self._ids), self._most, column, marks)

    def update(self, own: Any, column: Column, changed: Any = None) -> Any:
        """Update a wide column, and the mirrors in those of all members, with a member's entries.

        Mirrors are written to if the entry differs from that of the wide column, or the vertex is in the
        bitmap `changed`. Return a bitmap of these vertices. Do not wait.
        """
        marks = new_words(len(own)) if changed is None else changed.copy()
        count, kernel = len(own), instance("take_changes", _copied(own))
        launch(kernel, count, own, count, column.own, marks)
        self.send(column, marks)
        return marks

    def send_marks(self, marks: Column) -> None:
        """Mark the mirrors of marked vertices. Mirrors must not be marked before. Do not wait."""
        self._launch(instance("publish_marks", self._ids), self._most + 32, marks)

    def publication(self, column: Column) -> Publication:
        """Return what sends a column to its mirrors again and again."""
        return Publication(self, column)

    def copies(self, column: Column) -> np.ndarray:
        """Return where other members have copies of all entries, or none if one mirrors only some.

        The result is a struct ``Columns``. The last copy is followed by a null pointer.
        """
        copies = np.zeros((), COLUMNS)
        if all(some is None for some in self._which):
            others = [q for q in range(len(self._which)) if q != self.memory.gang["rank"]]
            begins = np.array(self._begins, "uint64")[others] * np.uint64(column.own.itemsize)
            copies["of"][: len(others)] = column.pointers[others] + begins
        return copies

    def _launch(self, kernel: str, items: int, column: Column, *arguments: Any) -> None:
        align(self.memory)  # no member uses the mirrors any longer
        columns = np.array((column.pointers,), COLUMNS)
        launch(kernel, items, self.memory.gang, self._mirrored, columns, *arguments)
        align(self.memory)


class Publication:
    """A column that a member sends to its mirrors again and again, unless a kernel writes there, too."""

    def __init__(self, mirrors: SharedMirrors, column: Column) -> None:
        self._mirrors, self._column = mirrors, column
        self._copies, self._sent = mirrors.copies(column), False

    def open(self) -> np.ndarray:
        """Return where a kernel is to write all entries too; see :meth:`SharedMirrors.copies`.

        No member reads the last entries any more when the kernel begins.
        """
        if self._copies["of"][0]:
            align(self._mirrors.memory)
        return self._copies

    def close(self) -> None:
        """Let the other members read what a kernel has written. It need not be sent again."""
        if self._copies["of"][0]:
            align(self._mirrors.memory)
            self._sent = True

    def send(self) -> None:
        """Send the entries, once no member reads the last ones. Do not wait."""
        if not self._sent:
            self._mirrors.send(self._column)
        self._sent = False


def _copied(column: Any) -> str:
    """Return a type of a column's entries that is only copied."""
    return "bool" if column.dtype.itemsize == 1 else f"uint{8 * column.dtype.itemsize}"


def gang(
    rank: int, size: int, bounds: Sequence[int], mail: Arena | None = None, stop: Stop | None = None
) -> np.ndarray:
    """Return the struct ``Gang`` in gang.cuh. With a single member, the last two are not needed."""
    made = np.zeros((), GANG)
    made["rank"], made["size"] = rank, size
    made["bounds"][: size + 1] = bounds
    if mail is not None and stop is not None:
        made["mail"] = mail.pointers(0)
        made["meetings"] = mail.pointers(MET)[rank]
        made["stopped"] = stop.pointer
    return made


def meetings(kind: np.dtype = MEETINGS) -> np.ndarray:
    """Return the struct ``Meetings``, or ``MeetingsOf``, in gang.cuh, as a launch begins with it."""
    state = np.zeros(1, kind)
    state["telling"]["least"] = NOTHING
    return state
