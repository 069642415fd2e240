"""Advance on the device: follow the edges of a frontier by push or by pull, for any edge program.

:class:`.AdvanceKernels` describes :func:`push` and :func:`pull`, which the host has too. Here a
*policy*, `balance`, assigns the edges to threads (Gunrock [1]_):

``thread``
    One thread processes each row.
``twc``
    A block processes each long row, a warp each row of medium length, and a thread each other row [2]_.
``lb``
    All blocks process the same number of edges. The sizes of the rows are summed up, and the row of an edge
    is found by searching the sums.
``lb_light``
    A block takes 256 rows at a time and distributes their edges evenly. Nothing is summed up beforehand.
``lb_cull``, ``lb_light_cull``
    Like ``lb`` and ``lb_light``, but vertices go through the culling filter in the same launch. The other
    policies list all vertices that change, some of them several times, and filter the list in a launch of
    its own. A pull has nothing to cull.
``all_edges``
    The edges of all rows are distributed evenly, and the filter runs in the same launch. A push with this
    policy takes no frontier.
``auto``
    Chooses one of these policies.

A kernel is compiled for an edge program when it first runs. The host waits once per call for the number of
vertices found. Before a push from a frontier, it also waits for the number of edges of the frontier.

:class:`Run` pushes many small supersteps in one launch. One block does very small ones, and all blocks do
the others, with a barrier between them.

.. [1] Y. Wang, Y. Pan, A. Davidson et al., "Gunrock: GPU Graph Analytics", ACM Transactions on Parallel
   Computing 4(1), 2017.
.. [2] D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU Graph Traversal", PPoPP 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from dask_graphflow.exceptions import OptionError
from dask_graphflow.kernels.advance import Moved
from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.device_bitmap import (
    APPENDS,
    COUNTS,
    EDGES,
    LARGE,
    LEAVING,
    OWNED,
    SMALL,
    TAIL,
    TILES,
    of_owned,
    tally_into,
)
from dask_graphflow.kernels.device_bitmap import from_words as from_words
from dask_graphflow.kernels.device_bitmap import listed as listed
from dask_graphflow.kernels.device_bitmap import new_words as new_words
from dask_graphflow.kernels.device_bitmap import sum_degrees as sum_degrees
from dask_graphflow.kernels.device_bitmap import tally as tally
from dask_graphflow.kernels.device_bitmap import to_words as to_words
from dask_graphflow.kernels.device_peers import (
    COLUMNS,
    MEETINGS,
    MEMBERS,
    Column,
    gang,
    pointers_of,
)
from dask_graphflow.kernels.launching import (
    blocks_for,
    launch,
    launch_blocks,
    launch_gang,
    read,
    struct_of,
)
from dask_graphflow.kernels.policies import (
    CULLING,
    KERNELS,
    STAGES,
    check,
    expression,
    other_expression,
    text,
)
from dask_graphflow.kernels.program import DeviceProgram
from dask_graphflow.kernels.sources import OPTIONS, THREADS, instance
from dask_graphflow.showing.suggestions import nearest

LIGHT = 1 << 17  # with fewer edges, summing up the sizes of rows costs more than it saves
SMALL_FRONTIER = 1 << 18  # maximum edges that leave a frontier in a launch of many supersteps
LONG = 1 << 13  # maximum edges of a row in such a launch, where a single warp takes a long row
SPAN = 1 << 14  # maximum supersteps of such a launch, since other work may wait for it to end
FEW = 100  # supersteps whose numbers are read together with those of the launch
THRESHOLDS = 32, 512  # number of edges from which a row goes to a warp, and to a block

_TASK = struct_of(
    "offsets ends weights first items count costs warp_from block_from frontier changed list stages "
    "degrees owned report work"
)
_RAN = np.dtype([("meetings", MEETINGS), ("steps", "i8"), ("left", "i8")])
_RUN = struct_of(
    "offsets ends weights frontier count everywhere ring stamp before first_step most_steps most_edges "
    "longest dense left shrinking ran trace"
)
_RUN_COLUMNS = np.dtype(
    [(name, "u8", MEMBERS) for name in ("lists", "targets", "stamps", "offsets")]
)


@cache
def _kernel(program: DeviceProgram, name: str) -> Any:
    module = cupy.RawModule(code=text(program), options=OPTIONS, name_expressions=(name,))
    return module.get_function(name)


# For tests of the policies: `thresholds` has the numbers of edges from which ``twc`` gives a row to a warp,
# and to a block. `stages` has the stages of the culling filter; without "exact", a vertex may be listed
# twice.
def push(
    program,
    rows,
    columns,
    frontier=None,
    *,
    changed=None,
    threads=1,
    balance="auto",
    thresholds=THRESHOLDS,
    stages=tuple(STAGES),
    leaving=None,
    degrees=None,
    step=None,
):
    check(balance, frontier=frontier is not None)
    culling = _stages(stages)
    size = len(columns[program.target])
    with rows.ends.device:
        room = _Room(size, changed)
        costs = outputs = None
        if frontier is None:
            costs, outputs = rows.offsets, len(rows.ends)
        else:
            frontier = cupy.ascontiguousarray(frontier, rows.ends.dtype)
            outputs = leaving
        if outputs is None:
            costs = gather_degrees(rows.offsets, frontier)
            outputs = int(read(costs[-1:])[0])
        if balance == "auto":
            balance = _push_policy(frontier, outputs)
        if not outputs:
            none = cupy.empty(0, rows.ends.dtype)
            return Moved(none, balance=balance, words=room.words, found=0, owned=0, leaving=0)
        if costs is None and KERNELS[balance] == "advance_balanced":
            costs = gather_degrees(rows.offsets, frontier)
        culls, exact = balance in CULLING, "exact" in stages
        most = min(size, outputs) if exact else outputs
        listed = cupy.empty(most if culls else outputs, rows.ends.dtype)
        moving = _Moving(program, rows, columns, balance, thresholds, room, pulls=False)
        moving.task["items"], moving.task["count"] = _at(frontier), _count(rows, frontier)
        moving.task["costs"], moving.task["stages"] = _at(costs), culling
        moving.task["list"] = listed.data.ptr
        counted = degrees if step is None else None
        if culls:
            moving.task["degrees"], moving.task["owned"] = of_owned(counted).item()
        moving.launch(outputs)
        last = 0
        if not culls:
            found, listed, last = listed, cupy.empty(most, listed.dtype), 1
            _uniquify(
                found, room.reports[0, TAIL:], room.words, culling, listed, counted, room.reports[1]
            )
        if step is not None:
            given = columns, listed, room.reports[last, TAIL:], step
            listed, last = _after(program, *given, degrees, room.reports[2]), 2
        return moving.done(listed, last, listed=True)


# With `first_hit`, a thread or a warp leaves a row at its first hit. A warp examines 32 edges at once, and
# several warps on one row leave it independently of each other. The first hit of the row is always among
# the hits that they find.
def pull(
    program,
    rows,
    columns,
    frontier=None,
    *,
    changed=None,
    threads=1,
    balance="auto",
    thresholds=THRESHOLDS,
    degrees=None,
    step=None,
):
    check(balance)
    with rows.ends.device:
        room = _Room(len(columns[program.target]), changed)
        if balance == "auto":
            # With first_hit, twc leaves a row at its first hit.
            balance = "twc" if program.first_hit else "all_edges"
        if not len(rows.ends):
            return Moved(room.words, balance=balance, found=0, owned=0, leaving=0)
        moving = _Moving(program, rows, columns, balance, thresholds, room, pulls=True)
        moving.task["count"], moving.task["costs"] = _count(rows, None), rows.offsets.data.ptr
        moving.task["frontier"] = _at(frontier)
        moving.launch(len(rows.ends))
        if step is None:
            tally_into(room.words, degrees, room.reports[1])
        else:
            _after_words(program, columns, room.words, step, degrees, room.reports[1])
        return moving.done(room.words, 1, listed=False)


class _Room:
    """A bitmap of the vertices that change, and the reports of the three kernels of a step."""

    def __init__(self, size: int, changed: Any) -> None:
        # One array, so that clearing them takes one launch.
        words = 0 if changed is not None else -(-size // 64)
        cleared = cupy.zeros(words + 3 * COUNTS, "uint64")
        self.words = cleared[:words] if changed is None else changed
        self.reports = cleared[words:].reshape(3, COUNTS)


class _Moving:
    """One launch of the kernel of a policy."""

    def __init__(
        self,
        program: DeviceProgram,
        rows: Any,
        columns: tuple[Any, ...],
        balance: str,
        thresholds: tuple[int, int],
        room: _Room,
        *,
        pulls: bool,
    ) -> None:
        self.balance = balance
        self.kernel = _kernel(program, expression(program, balance, pulls=pulls))
        self.program = _struct(program, columns)
        self.room = room
        self.work: Any = None
        self.task = np.zeros((), _TASK)
        self.task["offsets"], self.task["first"] = rows.offsets.data.ptr, rows.first
        self.task["ends"] = rows.ends.data.ptr
        self.task["weights"] = _at(rows.weights if program.weighted else None)
        self.task["warp_from"], self.task["block_from"] = thresholds
        self.task["changed"], self.task["report"] = _at(room.words), room.reports.data.ptr

    def launch(self, outputs: int) -> None:
        """Run the kernel. The number of blocks depends on the rows, or on the edges if it balances them."""
        by_edges = KERNELS[self.balance] == "advance_balanced"
        blocks = blocks_for(outputs if by_edges else int(self.task["count"]))
        self.work = cupy.empty(blocks, "uint64")
        self.task["work"] = self.work.data.ptr
        launch_blocks(self.kernel, blocks, THREADS, 0, self.program, self.task)

    def done(self, changed: Any, counted: int, *, listed: bool) -> Moved:
        """Wait for the reports, of which one has the number of vertices, and return the result."""
        reports = read(self.room.reports).tolist()
        own, last = reports[0], reports[counted]
        return Moved(
            changed[: last[TAIL]] if listed else changed,
            own[EDGES],
            own[TILES],
            own[APPENDS] + reports[1][APPENDS],
            self.balance,
            tuple(own[SMALL : LARGE + 1]),
            self.work,
            self.room.words if counted < 2 else None,  # not without the vertices that were dropped
            last[TAIL],
            last[OWNED],
            last[LEAVING],
        )


# The launch also ends before a superstep with a row of more than LONG edges, which a single warp would
# follow.
class DeviceRun:
    def __init__(self, program, rows, columns, before=None, shared=None):
        own, index, target = len(rows.offsets) - 1, rows.ends.dtype, columns[program.target]
        self._kernel = _kernel(program, other_expression("advance_run", program))
        if shared is None:
            members, offsets = gang(0, 1, [0, own]), rows.offsets
            lists = cupy.empty(ring_of(own), index)
            stamps = cupy.empty(own, "uint32")
        else:
            members, target = shared.memory.gang, shared.target
            lists, stamps, offsets = shared.lists, shared.stamps, shared.offsets
            offsets.own[: own + 1] = rows.offsets
        self._members, self._memory = members, None if shared is None else shared.memory
        self._lists, stamped = (_own(column) for column in (lists, stamps))
        stamped.fill(0)
        self._program, self._columns, self._rows = program, columns, rows
        # Columns are indexed by the numbers of vertices.
        self._low = int(members["bounds"][members["rank"]])
        # The numbers of the launch, followed by those of each superstep.
        words = _RAN.itemsize // 8
        self._ran = cupy.zeros(words + 2 * SPAN, "int64")
        self._before, self._kept = before, (lists, target, stamps, offsets)
        self._shared = np.array(tuple(map(pointers_of, self._kept)), _RUN_COLUMNS)
        self._task = task = np.zeros((), _RUN)
        task["offsets"], task["ends"] = rows.offsets.data.ptr, rows.ends.data.ptr
        task["weights"] = _at(rows.weights if program.weighted else None)
        task["ring"], task["before"] = len(self._lists) - 1, _at(before)
        task["most_edges"], task["longest"] = SMALL_FRONTIER, LONG
        task["ran"] = self._ran.data.ptr
        task["trace"] = self._ran[words:].data.ptr

    def push(self, params, frontier, sizes, first, most, dense):
        task, words = self._task, _RAN.itemsize // 8
        frontier = cupy.ascontiguousarray(frontier, self._lists.dtype)
        task["frontier"], task["count"] = frontier.data.ptr, len(frontier)
        task["everywhere"] = sizes[0]
        task["first_step"], task["most_steps"] = first, min(most, SPAN)
        task["dense"], task["left"], task["shrinking"] = dense
        self._ran[:words].fill(0)
        op = _struct(self._program, (*self._columns, *params), self._low)
        launch_gang(self._kernel, op, task, self._members, self._shared)
        numbers = read(self._ran[: words + 2 * FEW])
        ran = numbers[:words].view(_RAN)[0]
        steps, told = int(ran["steps"]), ran["meetings"]["told"]
        if self._memory is not None:
            self._memory.check(ran["meetings"]["failed"])
        task["stamp"] += steps
        done = numbers[words : words + 2 * steps]
        if steps > FEW:
            done = self._ran[words : words + 2 * steps].get()
        if steps:
            frontier = self._listed(int(ran["meetings"]["begin"]), int(ran["meetings"]["end"]))
        return frontier, (int(told["everywhere"]), int(told["edges"])), done.reshape(-1, 2)

    def _listed(self, begin, end):
        """Return a copy of a part of the list, which begins again at the end of its memory."""
        low = begin % len(self._lists)
        high, again = low + end - begin, low + end - begin - len(self._lists)
        if again <= 0:
            return self._lists[low:high].copy()
        return cupy.concatenate([self._lists[low:], self._lists[:again]])


def ring_of(most: int) -> int:
    """Return what :func:`.advance.ring_of` does."""
    # A member reads what one superstep listed and kept while others list what the next one changes.
    return 1 << (4 * min(max(most, 1), SMALL_FRONTIER) - 1).bit_length()


def after(program, columns, vertices, step, degrees):
    if not len(vertices):
        return vertices, 0
    report = cupy.zeros(COUNTS, "uint64")
    kept = _after(program, columns, vertices, None, step, degrees, report)
    counts = read(report).tolist()
    return kept[: counts[TAIL]], counts[LEAVING]


def _after(
    program: DeviceProgram,
    columns: tuple[Any, ...],
    vertices: Any,
    length: Any,
    step: int,
    degrees: Any,
    report: Any,
) -> Any:
    """Launch what :func:`after` does. If `length` is given, it is the number of vertices on the device."""
    kept, size = cupy.empty_like(vertices), len(vertices)
    kernel = _kernel(program, other_expression("advance_after", program))
    given = _struct(program, columns), vertices, size, length, step
    launch(kernel, len(vertices), *given, kept, of_owned(degrees), report)
    return kept


def after_words(program, columns, words, step, degrees):
    report = cupy.zeros(COUNTS, "uint64")
    _after_words(program, columns, words, step, degrees, report)
    counts = read(report).tolist()
    return counts[TAIL], counts[LEAVING]


def _after_words(
    program: DeviceProgram,
    columns: tuple[Any, ...],
    words: Any,
    step: int,
    degrees: Any,
    report: Any,
) -> None:
    kernel = _kernel(program, other_expression("advance_after_words", program))
    given = _struct(program, columns), words, len(words), step
    launch(kernel, 32 * len(words), *given, of_owned(degrees), report)


def _struct(program: DeviceProgram, columns: tuple[Any, ...], first: int = 0) -> np.ndarray:
    """Return the struct of a program: the pointers to its columns, and the values of its parameters.

    A kernel uses the index `first` for the first entries.
    """
    count = program.columns
    pointers = (column.data.ptr - first * column.itemsize for column in columns[:count])
    return np.array((*pointers, *columns[count:]), program.layout)


def deliver(
    program: DeviceProgram,
    memory: Any,
    positions: Any,
    slots: Any,
    target: Any,
    marks: Any,
    neutral: Any,
) -> None:
    """Do what :func:`.advance.deliver` does."""
    if not len(positions):
        return
    kernel = _kernel(program, other_expression("advance_deliver", program, slots.dtype))
    targets, marked = (np.array((column.pointers,), COLUMNS) for column in (target, marks))
    emptied = None if neutral is None else target.own
    value = target.own.dtype.type(0 if neutral is None else neutral)
    given = positions, len(positions), slots, targets, marked, emptied, value
    launch(kernel, len(positions), memory.gang, *given)


def uniquify(
    vertices: Any, words: Any, *, stages: Sequence[str] = tuple(STAGES)
) -> tuple[Any, int]:
    """Remove the vertices of a list that are in a bitmap, or that occur more than once in the list.

    Parameters
    ----------
    vertices : array of int32 or int64, shape (n,)
        The list.
    words : array of uint64, shape (ceil(V / 64),)
        The bitmap. All vertices of the list are added to it.
    stages : sequence of {"bitmask", "block", "warp", "exact"}
        The checks to make. "bitmask" reads the bitmap without waiting for other threads. "block" looks for
        the vertex in its slot of the block's table, which contains the last vertex of that slot. "warp"
        compares with the vertices that the warp has now. "exact" tests and sets the bit atomically. Only
        "exact" finds all duplicates.

    Returns
    -------
    array
        The vertices that are left, in no particular order.
    appends : int
        Number of atomic appends to this array.

    Raises
    ------
    OptionError
        A stage does not exist.
    """
    culling = _stages(stages)
    with vertices.device:
        vertices = cupy.ascontiguousarray(vertices)
        kept, report = cupy.empty_like(vertices), cupy.zeros(COUNTS, "uint64")
        if len(vertices):
            _uniquify(vertices, None, words, culling, kept, None, report)
        counts = read(report).tolist()
    return kept[: counts[TAIL]], counts[APPENDS]


def _uniquify(
    vertices: Any, length: Any, words: Any, stages: int, kept: Any, degrees: Any, report: Any
) -> None:
    kernel, size = instance("uniquify", vertices.dtype), len(vertices)
    into = kept, of_owned(degrees), report
    launch(kernel, size, vertices, size, length, words, np.uint32(stages), *into)


def gather_degrees(offsets: Any, rows: Any) -> Any:
    """Return the total number of edges of the rows before each of `rows`, and of all `rows`."""
    return gather_sizes(offsets, offsets[1:], rows)


def gather_sizes(begins: Any, stops: Any, rows: Any) -> Any:
    """Return what :func:`gather_degrees` does, for the edges between two indices of each row."""
    costs = cupy.empty(len(rows) + 1, "int64")
    kernel = instance("gather_degrees", rows.dtype)
    launch(kernel, len(costs), begins, stops, rows, len(rows), costs)
    cupy.cumsum(costs, out=costs)
    return costs


def _push_policy(frontier: Any, outputs: int) -> str:
    if frontier is None:
        return "all_edges"
    return "lb_light" if outputs < LIGHT else "lb"


def _stages(stages: Sequence[str]) -> int:
    for stage in stages:
        if stage not in STAGES:
            names = ", ".join(map(repr, STAGES))
            raise OptionError(f"a stage={stage!r}; allowed are {names}{nearest(stage, STAGES)}")
    return sum(STAGES[stage] for stage in set(stages))


def _own(column: Any) -> Any:
    """Return this member's part of a column, which may be an array of the only member."""
    return column.own if isinstance(column, Column) else column


def _at(array: Any) -> int:
    return 0 if array is None else int(array.data.ptr)


def _count(rows: Any, items: Any) -> int:
    return len(rows.offsets) - 1 if items is None else len(items)


new_run = DeviceRun
