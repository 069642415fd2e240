"""The Dask expression of connected components: edges are streamed into forests, which are merged.

:class:`ForestReduction` is the task graph of everything that is reduced to a forest in one pass::

    start      state that all chains of a process share; omitted if each process has one chain
    hook       one partition after another along each chain, in place, including the reading if possible;
               the last hook of a chain closes it: the result is a fragment
    survey     statistics of each fragment
    number     whether the ids are dense and, if not, where to cut their order
    piece      the ids of one worker's fragments in the range of each owner; none if ids are dense
    own        an owner merges the ids of its range, and returns their number (size) and codes (codes)
    renumber   convert each fragment to forests over the whole graph; unchanged if ids are dense
    merge      by policy, down to one forest; the last merge finishes it; see below
    head       each owner's roots that name components in some later ranges
    label      a share of an owner's range of the result

The number of tasks depends only on the partitions and chains, not on the data. A level of the task graph
costs a cluster some milliseconds, and a task nearly one, so there are few of both. All chains that are
known to be on one worker are cut together for each owner, and there are at most as many owners as
threads. If the ids are known to be dense, there are only start, hook, merge and label. The *program* that
is passed in has a method for each step; see :mod:`dask_graphflow.components.connected_components`.

If workers hold all edges in memory, a gang does the same in a single level: see :class:`ForestGang`.

A merge is one task, which begins once the whole other forest is available. It can also run in slices::

    cut        cut the other forest, on its worker; each slice becomes a task, so that it is sent separately
    slice      send a slice to the worker of the target forest. Dask fetches inputs for a task only once all
               of them exist, so without this task a slice would wait for the previous step
    merge      slice after slice, in place
    tokens     identify the cut from which the merged slices came
    mend       the whole other forest, if the slices come from several cuts; the last step then merges it
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from dask._task_spec import List, Task, TaskRef
from dask.dataframe.dask_expr._expr import Expr

from dask_graphflow.showing.tables import counted

from . import placement, plugins
from .expr import Held, Replaced, Resident, Source
from .names import brought, named, pinned
from .trees import Chain, Merge, together

RESIDENT = 4  # partitions that one task takes, if they are already in the worker's memory
# Number of consecutive owners that get the same roots. They get some roots that they do not need, but a
# worker usually runs several owners.
TOGETHER = 4


class ForestReduction(Expr):  # type: ignore[misc]
    """The partitions of some frames, hooked into forests, merged and labeled."""

    _parameters: ClassVar = [
        "program",
        "result",
        "chains",
        "merges",
        "merge_chunks",
        "owners",
        "shares",
        "shared",
        "reason",
    ]

    def __str__(self) -> str:
        chains, owners = self.operand("chains"), self.operand("owners")
        sizes = f"{counted(len(chains), 'chain')}, {counted(owners, 'owner')}"
        return f"{type(self).__name__}({sizes}: tasks, as {self.operand('reason')})"

    @property
    def _frames(self) -> list[Any]:
        return list(self.operands[len(self._parameters) :])

    @property  # a cached one would be pickled
    def _meta(self) -> Any:
        return self.operand("result").frame

    def _divisions(self) -> tuple[None, ...]:
        return (None,) * (int(self.operand("owners")) * int(self.operand("shares")) + 1)

    @functools.cached_property
    def _name(self) -> str:
        return named("label", self.deterministic_token)

    def _lower(self) -> Expr | None:
        frames = [Source.of(f) or f if isinstance(f, Expr) else f for f in self._frames]
        if all(new is old for new, old in zip(frames, self._frames, strict=True)):
            return None
        return type(self)(*self.operands[: len(self._parameters)], *frames)

    def _tune_down(self) -> Expr | None:
        # Wrap sources before Dask combines their partitions: these are already assigned to chains.
        return self._lower()

    def _layer(self) -> dict[Any, Task]:
        return _Layer(self).build()


class ForestGang(Replaced):
    """The same result, by a gang: one member per worker hooks, merges and labels.

    `frame` is the result of the gang. The other operands say what the members do.
    """

    _parameters: ClassVar = [
        "frame",
        "program",
        "chains",
        "merges",
        "owners",
        "shares",
        "reason",
    ]

    def __str__(self) -> str:
        members = counted(len(self.operand("chains")), "member")
        return f"{type(self).__name__}({members}: a gang, as {self.operand('reason')})"

    @functools.cached_property
    def _name(self) -> str:
        return named("label", self.deterministic_token)


def _later(owners: int) -> list[tuple[int, range]]:
    """Return pairs of an owner and a range of later owners, which all get the same roots from it."""
    bounds = range(0, owners, TOGETHER)
    return [
        (owner, range(max(owner + 1, first), min(first + TOGETHER, owners)))
        for owner in range(owners)
        for first in bounds
        if owner + 1 < min(first + TOGETHER, owners)
    ]


class _Layer:
    """Builds the tasks of one :class:`ForestReduction`."""

    def __init__(self, expr: ForestReduction) -> None:
        self.name = expr._name
        self.token = expr.deterministic_token
        self.program: Any = expr.operand("program")
        self.chains: Sequence[Chain] = expr.operand("chains")
        self.merges: Sequence[Merge] = expr.operand("merges")
        self.merge_chunks: int = expr.operand("merge_chunks")
        self.owners: int = expr.operand("owners")
        self.shares: int = expr.operand("shares")
        self.shared: bool = expr.operand("shared")
        self.chunks = [
            (position, frame, partition)
            for position, frame in enumerate(expr._frames)
            for partition in range(frame.npartitions)
        ]
        self.tasks: dict[Any, Task] = {}

    def build(self) -> dict[Any, Task]:
        program, owners = self.program, range(self.owners)
        start = self._add("start", (), program.start) if self.shared else None
        fragments = [self._hooks(c, start) for c in range(len(self.chains))]
        if program.dense:
            if self.shared:
                # A merge makes a forest grow, so no other chain may still be hooking into it.
                done = self._surveys(fragments)
                fragments = [
                    self._add(self._beside(c, "plain"), (c,), program.plain, f, done)
                    for c, f in enumerate(fragments)
                ]
            forest, parts = self._merge(fragments), self.owners * self.shares
            for part in range(parts):
                key = (self.name, part)
                self.tasks[key] = Task(key, program.label_plain, forest, part, parts)
            return self.tasks
        surveys = self._surveys(fragments)
        numbering = self._add("number", (), program.number, surveys, self.owners, self.shares)
        groups = together(self.chains)
        pieces: list[list[TaskRef]] = [[] for _ in owners]
        for group in groups:
            stage, own = self._beside(group[0], "piece"), List(*(fragments[c] for c in group))
            for o in owners:
                index = group[0], o
                pieces[o].append(self._add(stage, index, program.piece, own, numbering, o))
        owned = [self._add("own", (o,), program.own, List(*pieces[o])) for o in owners]
        sizes = List(*(self._add("size", (o,), program.size, owned[o]) for o in owners))
        forests, first = fragments[:], 0
        for group in groups:
            codes = List(
                *(
                    self._add("codes", (group[0], o), program.codes, owned[o], first, len(group))
                    for o in owners
                )
            )
            first += len(group)
            for place, c in enumerate(group):
                arguments = fragments[c], numbering, c, sizes, codes, place
                stage = self._beside(c, "renumber")
                forests[c] = self._add(stage, (c,), program.renumber, *arguments)
        forest = self._merge(forests)
        # A root is the smallest vertex of its component: its range is the same or an earlier one.
        heads = {
            (o, later): self._add(
                "head", (o, later.start), program.head, forest, owned[o], sizes, o, later
            )
            for o, later in _later(self.owners)
        }
        for o in owners:
            before = [heads[b, later] for b, later in heads if b < o and o in later]
            arguments = forest, owned[o], numbering, sizes, o, List(*before)
            for share in range(self.shares):
                key = (self.name, o * self.shares + share)
                self.tasks[key] = Task(key, program.label, *arguments, share, self.shares)
        return self.tasks

    def _hooks(self, chain: int, state: TaskRef | None) -> TaskRef:
        """Add the hook tasks of a chain. Each passes the forest on to the next, in place."""
        chunks, worker = self.chains[chain].chunks, self.chains[chain].worker
        # Partitions in a worker's memory are taken several at a time, but not all: some may be spilled.
        are_held = all(isinstance(self.chunks[chunk][1], Resident) for chunk in chunks)
        each = RESIDENT if are_held else 1
        for i in range(0, len(chunks), each):
            # A chain's first task has its own name: it runs where there is room, or on the worker with
            # the data. The tasks after it run on the worker with the forest.
            stage = pinned("hook" if i else "hook-first", worker)
            key = (named(stage, self.token), chain, i)
            steps: list[Task] = []
            for chunk in chunks[i : i + each]:
                position, frame, partition = self.chunks[chunk]
                step: tuple[Any, ...] = ("hook", chunk, *key)
                hook: tuple[Callable[..., Any], ...] = (self.program.hook,)
                source: Any
                loads = False
                if isinstance(frame, Source):
                    hook, source = (
                        (_read_and_hook, self.program.hook),
                        _Reader(frame.task(partition)),
                    )
                    loads = source.loads
                elif isinstance(frame, Held):
                    steps.append(frame.task(partition))
                    source = TaskRef(steps[-1].key)
                elif isinstance(frame, Resident):
                    self.tasks.update(frame.layer)
                    source = TaskRef(frame.keys[partition])
                else:
                    source = TaskRef((frame._name, partition))
                asked = state, source, position, partition
                steps.append(Task(step, *hook, *asked, _data_producer=loads))
                state = TaskRef(step)
            if i + each >= len(chunks):
                alone = self.program.dense and not self.shared
                for name in ("close", "plain") if alone else ("close",):
                    step = (name, *key)
                    steps.append(Task(step, getattr(self.program, name), state))
                    state = TaskRef(step)
            self.tasks[key] = Task.fuse(*steps, key=key)
            state = TaskRef(key)
        return state

    def _surveys(self, fragments: list[TaskRef]) -> List:
        """Add a survey of each fragment. Anything that depends on all of them runs after all hooks."""
        survey = self.program.survey
        return List(
            *(
                self._add(self._beside(c, "survey"), (c,), survey, f)
                for c, f in enumerate(fragments)
            )
        )

    def _merge(self, forests: list[TaskRef]) -> TaskRef:
        """Add the merges; the last one finishes the forest."""
        for step, (source, target) in enumerate(self.merges):
            key = (named(self._beside(target, "merge"), self.token), step, source, target)
            if self.merge_chunks > 1:
                steps = [self._merge_slices(key, forests[source], forests[target])]
            else:
                steps = [Task(key, self.program.merge, forests[target], forests[source])]
            if step == len(self.merges) - 1:
                steps.append(Task(("finish", *key), self.program.finish, TaskRef(key)))
            self._fuse(key, *steps)
            forests[target] = TaskRef(key)
        if not self.merges:
            return self._add("finish", (), self.program.finish, forests[0])
        return forests[0]

    def _merge_slices(self, key: tuple[Any, ...], source: TaskRef, target: TaskRef) -> Task:
        """Add a merge in slices; return its last task, whose key is `key`."""
        # The tasks of each slice form a group of their own. Dask would spread a group of many tasks with
        # few dependencies over the cluster, wherever their inputs are.
        program, (_, *merge) = self.program, key
        cut = self._add("merge-0-cut", merge, program.cut, source, self.merge_chunks)
        slices = []
        for i in range(self.merge_chunks):
            part = self._add(f"merge-{i}-slice", merge, operator.getitem, cut, i)
            there = brought(f"merge-{i}-slice")
            slices.append(self._add(there, merge, _there, part, target))
        into = target
        for i, part in enumerate(slices):
            self.tasks[*key, i] = Task((*key, i), program.absorb, into, part)
            into = TaskRef((*key, i))
        # After this point no slice is kept: any that are lost from here on are lost together.
        tokens = self._add("merge-0-tokens", merge, program.tokens, into)
        mend = self._add("merge-0-mend", merge, program.mend, source, tokens)
        return Task(key, program.mended, into, mend)

    def _beside(self, chain: int, stage: str) -> str:
        """Return the name of a stage that takes a chain's result, pinned to the chain's worker."""
        return pinned(stage, self.chains[chain].worker)

    def _fuse(self, key: Any, *steps: Task) -> None:
        """Add consecutive steps as one task."""
        self.tasks[key] = Task.fuse(*steps, key=key) if len(steps) > 1 else steps[0]

    def _add(self, stage: str, index: Sequence[int], function: Any, *arguments: Any) -> TaskRef:
        key = (named(stage, self.token), *index)
        self.tasks[key] = Task(key, function, *arguments)
        return TaskRef(key)


def _there(part: Any, beside: Any) -> Any:
    """Return a slice, which was sent to the worker of this task: the one with `beside` (:mod:`.pins`)."""
    return part


class _Reader:
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
    hook: Callable[..., Any], state: Any, read: _Reader, position: int, partition: int
) -> Any:
    """Read a partition, hook it, and free it, together with the memory that reading took."""
    plugins.watch_worker()
    hooked = hook(state, read(), position, partition)
    placement.resources().relieve()
    return hooked
