"""The Dask expressions of connected components: edges that stream through chains of tasks end in forests.

:class:`Chains` is the task graph of the chains::

    start      state that all chains of a process share; omitted if each process has one chain
    hook       one partition after another along each chain, in place, including the reading if possible

The forests stay on their workers. A gang with one member per worker does the rest, as it does if workers
hold all edges in memory: see :mod:`dask_graphflow.calls.components.members`. So the number of tasks depends
only on the partitions and chains, not on the data. A level of the task graph costs a cluster some
milliseconds, and a task nearly one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from dask._task_spec import Task, TaskRef
from dask.dataframe.dask_expr._expr import Expr

from dask_graphflow.showing.tables import counted

from . import placement, plugins
from .expr import Replaced, Resident, Source
from .gang_expr import LocalResults, read_partition
from .names import named, pinned
from .trees import Chain

RESIDENT = 4  # partitions that one task takes, if they are already in the worker's memory


class ForestGang(Replaced):
    """The components that a gang has found. `frame` is its result; the other operands describe the plan."""

    _parameters: ClassVar = [
        "frame",
        "chains",
        "merges",
        "parts",
        "members",
        "by_tasks",
        "reason",
    ]

    def __str__(self) -> str:
        members = counted(self.operand("members"), "member")
        way = f"{members}: a gang"
        if self.operand("by_tasks"):
            way = f"{counted(len(self.operand('chains')), 'chain')}, {members}: tasks"
        return f"{type(self).__name__}({way}, as {self.operand('reason')})"

    @functools.cached_property
    def _name(self) -> str:
        return named("label", self.deterministic_token)


class Chains(LocalResults):
    """Chains that hook the partitions of some frames into forests. The operands end with the frames.

    The last hook of a chain returns it. `call` makes the tasks of one call its own: the members of a gang
    change the forests.
    """

    _parameters: ClassVar = ["program", "chains", "shared", "members", "call"]

    @property
    def _frames(self) -> list[Any]:
        return list(self.operands[len(self._parameters) :])

    @functools.cached_property
    def _name(self) -> str:
        return named("chains", self.deterministic_token)

    def _lower(self) -> Expr | None:
        frames = [Source.of(f) or f if isinstance(f, Expr) else f for f in self._frames]
        if all(new is old for new, old in zip(frames, self._frames, strict=True)):
            return None
        return type(self)(*self.operands[: len(self._parameters)], *frames)

    def _tune_down(self) -> Expr | None:
        # Wrap sources before Dask combines their partitions: these are already assigned to chains.
        return self._lower()

    @property
    def keys(self) -> list[Any]:
        """The key of the last hook of each chain."""
        return [list(self._runs(chain))[-1][0] for chain in range(len(self.operand("chains")))]

    @functools.cached_property
    def _chunks(self) -> list[tuple[int, Any, int]]:
        return [
            (position, frame, partition)
            for position, frame in enumerate(self._frames)
            for partition in range(frame.npartitions)
        ]

    def _runs(self, chain: int) -> Iterator[tuple[tuple[Any, ...], list[int]]]:
        """Yield the key of each task of a chain, and the partitions that it hooks."""
        one: Chain = self.operand("chains")[chain]
        # Partitions in a worker's memory are taken several at a time, but not all: some may be spilled.
        are_held = all(isinstance(self._chunks[chunk][1], Resident) for chunk in one.chunks)
        each = RESIDENT if are_held else 1
        for i in range(0, len(one.chunks), each):
            # A chain's first task has its own name: it runs where there is room, or on the worker with
            # the data. The tasks after it run on the worker with the forest.
            stage = pinned("hook" if i else "hook-first", one.worker)
            yield (named(stage, self.deterministic_token), chain, i), one.chunks[i : i + each]

    def _layer(self) -> dict[Any, Task]:
        tasks: dict[Any, Task] = {}
        start = None
        if self.operand("shared"):
            key = (named("start", self.deterministic_token),)
            tasks[key] = Task(key, self.operand("program").start)
            start = TaskRef(key)
        for frame in self._frames:
            if isinstance(frame, Resident):
                tasks.update(frame.layer)
        for chain in range(len(self.operand("chains"))):
            state = start
            for key, chunks in self._runs(chain):
                tasks[key] = Task.fuse(*self._hooks(key, chunks, state), key=key)
                state = TaskRef(key)
        return tasks

    def _hooks(self, key: Any, chunks: Sequence[int], state: TaskRef | None) -> list[Task]:
        """Return the steps of a task that hooks partitions. Each passes the forest on, in place."""
        steps: list[Task] = []
        hook: Callable[..., Any] = self.operand("program").hook
        for chunk in chunks:
            position, frame, partition = self._chunks[chunk]
            call: tuple[Any, ...]
            if isinstance(frame, Source):
                reader = _PartitionReader(frame.task(partition))
                call, loads = (_read_and_hook, hook, state, reader), reader.loads
            else:
                reads, source = read_partition(frame, partition)
                steps += reads
                call, loads = (hook, state, source), False
            step = ("hook", chunk, *key)
            steps.append(Task(step, *call, position, partition, _data_producer=loads))
            state = TaskRef(step)
        return steps


class _PartitionReader:
    """Reads one partition when called. It hides the task from Dask, which would run it beforehand."""

    def __init__(self, task: Task) -> None:
        self._task = task

    @property
    def loads(self) -> bool:
        """Whether Dask would recognize this task as one that loads data, which it schedules differently."""
        return bool(self._task.data_producer)

    def __call__(self) -> Any:
        return self._task()


def _read_and_hook(
    hook: Callable[..., Any], state: Any, read: _PartitionReader, position: int, partition: int
) -> Any:
    """Read a partition, hook it, and free it, together with the memory that reading took."""
    plugins.watch_worker()
    hooked = hook(state, read(), position, partition)
    placement.resources().relieve()
    return hooked
