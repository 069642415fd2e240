"""Advance on the device: edges leave a frontier by push or by pull, for any edge program.

:func:`push` and :func:`pull` have twins in :mod:`.host_advance`, where they are described. Here threads are
given edges by a *policy*, `balance` (Gunrock [1]_):

``thread``
    A thread walks along a row.
``twc``
    Long rows are a block's, rows of some length a warp's, the others a thread's [2]_.
``lb``
    Every block has as many edges as the others, found by summing up the rows' sizes and searching the sums.
``lb_light``
    Every 256 rows are a block's, which shares their edges out evenly: nothing is summed up beforehand.
``lb_cull``, ``lb_light_cull``
    The same, and vertices go through the culling filter at once. The other policies list all that change,
    some of them several times, and the filter is a launch of its own. To pull there is nothing to cull.
``all_edges``
    Every edge of all rows, shared out evenly, with the filter at once; there is no frontier to push from.
``auto``
    Chooses one of these.

A kernel is compiled for an edge program when it first runs. The host waits once per call for the number of
vertices found, and once more before a push from a frontier for the number of its edges.

.. [1] Y. Wang, Y. Pan, A. Davidson et al., "Gunrock: GPU Graph Analytics", ACM Transactions on Parallel
   Computing 4(1), 2017.
.. [2] D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU Graph Traversal", PPoPP 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.suggestions import nearest

from .device import namespace as cupy
from .device_bitmap import count_words, from_words, new_words, sum_words, to_words
from .edge_cuda import layout
from .launching import NULL, blocks_for, launch
from .policies import CULLING, KERNELS, POLICIES, STAGES, check, expression, text
from .sources import OPTIONS, THREADS, instance

if TYPE_CHECKING:
    from .edge_op import BoundOp

__all__ = [
    "LIGHT",
    "POLICIES",
    "STAGES",
    "THRESHOLDS",
    "Moved",
    "count_words",
    "from_words",
    "gather_degrees",
    "new_words",
    "pull",
    "push",
    "sum_words",
    "to_words",
    "uniquify",
]

LIGHT = 1 << 17  # edges below which summing up the rows' sizes costs more than what it evens out
THRESHOLDS = 32, 512  # edges that make a row a warp's, and a block's

# Of cuda/cull.cuh:
TAIL, EDGES, TILES, APPENDS, SMALL, MEDIUM, LARGE, COUNTS = range(8)

_TASK = np.dtype(
    [
        (name, "u8")
        for name in (
            "offsets",
            "ends",
            "weights",
            "first",
            "items",
            "count",
            "costs",
            "warp_from",
            "block_from",
            "frontier",
            "changed",
            "list",
            "stages",
            "report",
            "work",
        )
    ]
)


class Moved(NamedTuple):
    """What an advance did.

    Attributes
    ----------
    changed : array
        The vertices whose value changed: by push a list, in no order, by pull a bitmap in words.
    edges : int
        Edges looked at.
    chunks : int
        Tiles taken.
    appends : int
        Atomic appends to lists.
    balance : str
        The policy.
    bins : tuple of int
        By ``twc``, the rows that were a thread's, a warp's and a block's.
    work : array of uint64, shape (blocks,)
        Edges that each block looked at, on the device.
    """

    changed: Any
    edges: int = 0
    chunks: int = 0
    appends: int = 0
    balance: str = "auto"
    bins: tuple[int, ...] = (0, 0, 0)
    work: Any = None


@cache
def _kernel(bound: BoundOp, name: str) -> Any:
    module = cupy.RawModule(code=text(bound), options=OPTIONS, name_expressions=(name,))
    return module.get_function(name)


def push(
    bound: BoundOp,
    rows: Any,
    columns: tuple[Any, ...],
    frontier: Any = None,
    *,
    changed: Any = None,
    threads: int = 1,
    balance: str = "auto",
    thresholds: tuple[int, int] = THRESHOLDS,
    stages: Sequence[str] = tuple(STAGES),
) -> Moved:
    """Send messages along the rows of a frontier; see :func:`.host_advance.push`.

    Parameters
    ----------
    bound, rows, columns, changed, threads
        As on the host; `rows` are a :class:`.Rows` of arrays on the device.
    frontier : array of integers, shape (f,), optional
        The rows to go along, each once; by default all.
    balance : str
        A policy.
    thresholds : tuple of int
        For ``twc``.
    stages : sequence of {"bitmask", "block", "warp", "exact"}
        Stages of the culling filter; without "exact" a vertex may be listed several times.

    Returns
    -------
    Moved
        With a list of the vertices that changed.

    Raises
    ------
    OptionError
        A policy or a stage that does not exist; a frontier given to ``all_edges``.
    """
    check(balance, frontier=frontier is not None)
    culling = _stages(stages)
    with rows.ends.device:
        if changed is None:
            changed = new_words(len(columns[bound.target]))
        if frontier is None:
            costs, outputs = rows.offsets, len(rows.ends)
        else:
            frontier = cupy.ascontiguousarray(frontier, rows.ends.dtype)
            costs = gather_degrees(rows.offsets, frontier)
            outputs = int(costs[-1])
        if balance == "auto":
            balance = _push_policy(frontier, outputs)
        if not outputs:
            return Moved(cupy.empty(0, rows.ends.dtype), balance=balance)
        culls = balance in CULLING
        room = min(len(columns[bound.target]), outputs) if culls and "exact" in stages else outputs
        listed = cupy.empty(room, rows.ends.dtype)
        moving = _Moving(bound, rows, columns, balance, thresholds, pulls=False)
        moving.task["items"], moving.task["count"] = _at(frontier), _count(rows, frontier)
        moving.task["costs"], moving.task["stages"] = costs.data.ptr, culling
        moving.task["changed"], moving.task["list"] = changed.data.ptr, listed.data.ptr
        moving.launch(outputs)
        if not culls:
            listed = _filtered(listed, moving.report, changed, culling, len(columns[bound.target]))
        return moving.done(listed, listed=True)


def pull(
    bound: BoundOp,
    rows: Any,
    columns: tuple[Any, ...],
    frontier: Any = None,
    *,
    changed: Any = None,
    threads: int = 1,
    balance: str = "auto",
    thresholds: tuple[int, int] = THRESHOLDS,
) -> Moved:
    """Fetch messages from those neighbours that are in a frontier; see :func:`.host_advance.pull`.

    With `first_hit`, whoever goes along a row leaves it at the first hit: a warp looks at 32 edges at once,
    and several warps on one row leave it each for itself. The row's first hit is always among theirs.

    Parameters
    ----------
    bound, rows, columns, frontier, changed, threads
        As on the host.
    balance : str
        A policy.
    thresholds : tuple of int
        For ``twc``.

    Returns
    -------
    Moved
        With a bitmap of the vertices that changed.

    Raises
    ------
    OptionError
        A policy that does not exist.
    """
    check(balance)
    with rows.ends.device:
        if changed is None:
            changed = new_words(len(columns[bound.target]))
        if balance == "auto":
            # Shared out evenly, an edge is seldom looked at after its row was left.
            balance = "twc" if bound.op.first_hit else "all_edges"
        if not len(rows.ends):
            return Moved(changed, balance=balance)
        moving = _Moving(bound, rows, columns, balance, thresholds, pulls=True)
        moving.task["count"], moving.task["costs"] = _count(rows, None), rows.offsets.data.ptr
        moving.task["frontier"], moving.task["changed"] = _at(frontier), changed.data.ptr
        moving.launch(len(rows.ends))
        return moving.done(changed, listed=False)


class _Moving:
    """A launch of a policy's kernel."""

    def __init__(
        self,
        bound: BoundOp,
        rows: Any,
        columns: tuple[Any, ...],
        balance: str,
        thresholds: tuple[int, int],
        *,
        pulls: bool,
    ) -> None:
        self.balance = balance
        self.kernel = _kernel(bound, expression(bound, balance, pulls=pulls))
        count = len(bound.op.columns)
        pointers = (column.data.ptr for column in columns[:count])
        self.program = np.array((*pointers, *columns[count:]), layout(bound))
        self.report = cupy.zeros(COUNTS, "uint64")
        self.work: Any = None
        self.task = np.zeros((), _TASK)
        self.task["offsets"], self.task["first"] = rows.offsets.data.ptr, rows.first
        self.task["ends"] = rows.ends.data.ptr
        self.task["weights"] = _at(rows.weights if bound.weight_dtype else None)
        self.task["warp_from"], self.task["block_from"] = thresholds
        self.task["report"] = self.report.data.ptr

    def launch(self, outputs: int) -> None:
        """Run it, in as many blocks as suit the rows, or the edges where those are shared out."""
        by_edges = KERNELS[self.balance] == "advance_balanced"
        blocks = blocks_for(outputs if by_edges else int(self.task["count"]))
        self.work = cupy.empty(blocks, "uint64")
        self.task["work"] = self.work.data.ptr
        self.kernel((blocks,), (THREADS,), (self.program, self.task))

    def done(self, changed: Any, *, listed: bool) -> Moved:
        """Wait for what it reports."""
        counts = self.report.get().tolist()
        return Moved(
            changed[: counts[TAIL]] if listed else changed,
            counts[EDGES],
            counts[TILES],
            counts[APPENDS],
            self.balance,
            tuple(counts[SMALL : LARGE + 1]),
            self.work,
        )


def _filtered(listed: Any, report: Any, words: Any, stages: int, size: int) -> Any:
    """Let a list through the filter, as long as the report says; the new one's length is in there then."""
    exact = stages & STAGES["exact"]
    kept = cupy.empty(min(size, len(listed)) if exact else len(listed), listed.dtype)
    tail = cupy.zeros(1, "uint64")
    _uniquify(listed, report[TAIL:], words, stages, kept, tail, report[APPENDS:])
    report[TAIL:EDGES] = tail
    return kept


def uniquify(
    vertices: Any, words: Any, *, stages: Sequence[str] = tuple(STAGES)
) -> tuple[Any, int]:
    """Leave out vertices that are in a bitmap, or occur again in the list.

    Parameters
    ----------
    vertices : array of int32 or int64, shape (n,)
        The list.
    words : array of uint64, shape (ceil(V / 64),)
        The bitmap; all of the vertices are in it then.
    stages : sequence of {"bitmask", "block", "warp", "exact"}
        What to look at: the bitmap, without waiting for other threads; which vertices were the last ones in
        their slots of the block's table; those that the warp has now; the bitmap, exactly. All but the last
        leave some in.

    Returns
    -------
    array
        What is left, in no order.
    appends : int
        Atomic appends to it.

    Raises
    ------
    OptionError
        A stage that does not exist.
    """
    culling = _stages(stages)
    with vertices.device:
        vertices = cupy.ascontiguousarray(vertices)
        kept, counts = cupy.empty_like(vertices), cupy.zeros(2, "uint64")
        if len(vertices):
            _uniquify(vertices, NULL, words, culling, kept, counts, counts[1:])
        left, appends = counts.get().tolist()
    return kept[:left], appends


def _uniquify(
    vertices: Any, length: Any, words: Any, stages: int, kept: Any, tail: Any, appends: Any
) -> None:
    launch(
        instance("uniquify", vertices.dtype),
        len(vertices),
        vertices,
        np.uint64(len(vertices)),
        length,
        words,
        np.uint32(stages),
        kept,
        tail,
        appends,
    )


def gather_degrees(offsets: Any, rows: Any) -> Any:
    """Return how many edges the rows before each of `rows` have together, and all of them."""
    costs = cupy.empty(len(rows) + 1, "int64")
    launch(
        instance("gather_degrees", rows.dtype),
        len(costs),
        offsets,
        rows,
        np.uint64(len(rows)),
        costs,
    )
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


def _at(array: Any) -> int:
    return 0 if array is None else int(array.data.ptr)


def _count(rows: Any, items: Any) -> int:
    return len(rows.offsets) - 1 if items is None else len(items)
