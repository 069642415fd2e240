"""Dask expressions. Only this file and :mod:`.parquet` use Dask's private names.

:class:`ForestReduction` is the task graph of everything that is reduced to a forest in one pass::

    start      what all chains of a process share; none, where each has one chain
    hook       chunk after chunk along each chain, in place, reading included where it can be;
               the last hook of a chain closes it: a fragment
    survey     a look at each fragment
    number     are the ids dense, and if not, where to cut their order
    piece      a worker's fragments' ids in the range of each owner; none, if they are dense
    own        an owner merges the ids of its range, and says how many (size) and which (codes)
    renumber   each fragment as forests over the whole graph; as they are, if the ids are dense
    merge      by policy, down to one forest; the last merge finishes it; see below
    head       each owner's roots that name components in some later ranges
    label      a share of an owner's range of the result

The number of tasks depends on the partitions and chains alone, not on the data. A level of the graph
costs a cluster some milliseconds, and a task nearly one, so there are few: what is cut for each owner is
cut for all chains together that are known to lie on one worker, and there are no more owners than threads.
Where it is known that the ids are dense, there are only start, hook, merge and label. What each step does
is the business of the *program* that is handed in.

A merge is one task, which begins once the whole of the other forest is there; or in slices::

    cut        the other forest, where it lies; each slice is a task then, to travel by itself
    slice      brought to the forest that it is for: Dask fetches for a task no sooner than all that
               it takes exists, and so a slice would wait for the step before its own to end
    merge      slice after slice, in place
    tokens     which cut the slices that were merged are of
    mend       the other forest as a whole, if that is not one; the last step takes it then

:class:`Gang` is the task graph of what runs as one gang, a member a shard::

    gang       a member: it runs as long as the others do, and has a part of the result
    end        nothing, once a member has ended
    part       a member's part, once all have

A gang with one member has one task, which returns the part. In larger gangs on a cluster, the last two
tasks only say that the members need each other: to get one part, or one again after
its worker was lost, all members run. Elsewhere nothing makes sure that all members would run at once:
they and `end` hand their shards on, and the first `part` runs all of them as threads of its process.
"""

from __future__ import annotations

import functools
import itertools
import operator
import uuid
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

from dask._task_spec import List, Task, TaskRef
from dask.base import collections_to_expr
from dask.dataframe.dask_expr import new_collection
from dask.dataframe.dask_expr._expr import (
    Blockwise,
    Expr,
    Projection,
    optimize_blockwise_fusion,
)
from dask.dataframe.dask_expr.io import FromGraph
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.utils import key_split

from dask_graphflow.exceptions import UsageError, missing_column
from dask_graphflow.showing.tables import counted

from . import memory_limits
from .names import brought, gang, pinned
from .trees import Chain, Merge, together

RESIDENT = 4  # chunks that a task takes at a time where they lie already
TOGETHER = 4  # owners that get the same roots: some that one does not need, but a worker is several

__all__ = [
    "Empty",
    "ForestReduction",
    "Gang",
    "GangProgram",
    "Held",
    "Items",
    "Parts",
    "Program",
    "Resident",
    "Result",
    "as_computed",
    "collection",
    "delayed_parts",
    "held_by",
    "reduction_tasks",
]


class Result(Expr):  # type: ignore[misc]
    """The partitions of a lazy result, which only an optimized expression can compute.

    ``dask.optimize`` asks an expression for its tasks without lowering it, and takes the first of all task
    keys, in sorted order, for those of the result. Some of these are other tasks of the same call, so rows
    would be missing. There is no way to give it the right keys: this node raises an error instead. Every
    other way to compute lowers the expression first, which replaces this node by what it holds.
    """

    _parameters: ClassVar = ["frame"]

    def __str__(self) -> str:
        return str(self.frame)

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta

    def _divisions(self) -> Any:
        return self.frame.divisions

    @functools.cached_property
    def _name(self) -> str:
        return f"{key_split(self.frame._name)}-{self.deterministic_token}"

    def optimize(self, fuse: bool = False) -> Expr:
        """Return an optimized result, which still does not let ``dask.optimize`` take it apart."""
        return Result(self.frame.optimize(fuse=fuse))

    def _lower(self) -> Expr:
        return self.frame

    def _layer(self) -> dict[Any, Any]:
        raise UsageError(
            "dask.optimize() and dask.visualize() do not support this result: dask.optimize() would "
            "return only some of its rows. To compute several collections together, pass them to "
            "dask.compute() or dask.persist(), which optimize them. To optimize one result, call "
            "result.optimize(); to see its steps, call result.pprint()"
        )


def collection(expr: Expr) -> Any:
    """Return the lazy frame of an expression."""
    return new_collection(Result(expr))


class Program(Protocol):
    """What a reduction to a forest does at each step; see the module's drawing."""

    dense: bool  # known to be, and nothing is numbered

    def start(self) -> Any: ...  # noqa: D102
    def plain(self, fragment: Any, surveys: Any = ()) -> Any: ...  # noqa: D102
    def label_plain(self, forest: Any, part: int, parts: int) -> Any: ...  # noqa: D102
    def hook(self, state: Any, frame: Any, position: int, partition: int) -> Any: ...  # noqa: D102
    def close(self, state: Any) -> Any: ...  # noqa: D102
    def survey(self, fragment: Any) -> Any: ...  # noqa: D102
    def number(self, surveys: list[Any], owners: int, shares: int) -> Any: ...  # noqa: D102
    def piece(self, fragments: list[Any], numbering: Any, owner: int) -> Any: ...  # noqa: D102
    def own(self, pieces: list[Any]) -> Any: ...  # noqa: D102
    def size(self, owned: Any) -> Any: ...  # noqa: D102
    def codes(self, owned: Any, first: int, count: int) -> Any: ...  # noqa: D102
    def renumber(  # noqa: D102
        self,
        fragment: Any,
        numbering: Any,
        chain: int,
        sizes: list[Any],
        codes: list[Any],
        place: int,
    ) -> Any: ...
    def merge(self, into: Any, other: Any) -> Any: ...  # noqa: D102
    def cut(self, forest: Any, count: int) -> Any: ...  # noqa: D102
    def absorb(self, into: Any, part: Any) -> Any: ...  # noqa: D102
    def tokens(self, absorbed: Any) -> Any: ...  # noqa: D102
    def mend(self, forest: Any, tokens: Any) -> Any: ...  # noqa: D102
    def mended(self, into: Any, more: Any) -> Any: ...  # noqa: D102
    def finish(self, forest: Any) -> Any: ...  # noqa: D102
    def head(self, forest: Any, owned: Any, sizes: list[Any], owner: int, later: range) -> Any: ...  # noqa: D102
    def label(  # noqa: D102
        self,
        forest: Any,
        owned: Any,
        numbering: Any,
        sizes: list[Any],
        owner: int,
        heads: list[Any],
        share: int,
        shares: int,
    ) -> Any: ...


class _Source:
    """A frame that is read inside the task that uses it.

    It hides the expression from Dask, which would otherwise give each partition a task of its own,
    to be run on any worker and kept until it is used.
    """

    def __init__(self, frame: Blockwise) -> None:
        self._frame = frame  # under the name `expr` Dask would unpack it
        self.npartitions = frame.npartitions

    def __dask_tokenize__(self) -> Any:
        return ("graphflow-source", self._frame._name)

    def task(self, partition: int) -> Task:
        return self._frame._task((self._frame._name, partition), partition)

    def reader(self, partition: int) -> _Reader:
        return _Reader(self.task(partition))

    @classmethod
    def of(cls, frame: Expr) -> _Source | None:
        """Wrap a frame, if every step from the reader on is one partition in, one out."""
        if not all(isinstance(node, Blockwise) for node in frame.walk()):
            return None
        fused = optimize_blockwise_fusion(frame.lower_completely())
        if not isinstance(fused, Blockwise) or fused.dependencies():
            return None
        return cls(fused)


class _Reader:
    """Reads one partition when it is called. It hides the task from Dask, which would run it before."""

    def __init__(self, task: Task) -> None:
        self._task = task

    @property
    def loads(self) -> bool:
        """Whether Dask would know this task as one that loads data, which it schedules in its own way."""
        return bool(self._task.data_producer)

    def __call__(self) -> Any:
        return self._task()


def _read_and_hook(
    hook: Callable[..., Any], state: Any, read: _Reader, position: int, partition: int
) -> Any:
    """Hook a partition that is read here and let go of here, with the memory that reading took."""
    with memory_limits.given_back():
        return hook(state, read(), position, partition)


class Resident:
    """A persisted frame, whose partitions are taken where they lie.

    As an expression each of them would be a task more, which hands on what another one has.
    """

    def __init__(self, frame: FromGraph) -> None:
        self.layer = frame.operand("layer")
        self.keys = frame.operand("keys")
        self.npartitions = frame.npartitions

    def __dask_tokenize__(self) -> Any:
        return ("graphflow-resident", self.keys, _futures(self.layer))

    @classmethod
    def of(cls, frame: Expr) -> Resident | None:
        """Wrap a frame, if it is a persisted one as it is, on a cluster."""
        if not isinstance(frame, FromGraph):
            return None
        layer = frame.operand("layer")
        return cls(frame) if all(hasattr(layer[k], "key") for k in frame.operand("keys")) else None


class Parts:
    """Delayed objects, each of which is a part; taken by their own keys, as a :class:`Resident`'s."""

    def __init__(self, parts: Sequence[Delayed]) -> None:
        whole = collections_to_expr(parts).optimize()
        self.layer = whole.__dask_graph__()
        self.keys = [key for (key,) in whole.__dask_keys__()]
        self.npartitions = len(parts)

    def __dask_tokenize__(self) -> Any:
        return ("graphflow-parts", self.keys, _futures(self.layer))


def _futures(layer: dict[Any, Any]) -> list[Any]:
    """Return the clients and keys of the futures in a layer.

    Dask keeps one expression for all of one token. Futures of another client, or none, need another one.
    A future's own token changes when it is finished.
    """
    futures = [value for value in layer.values() if hasattr(value, "add_done_callback")]
    return [(future.client.id, future.key) for future in futures]


class Held:
    """A frame that is one partition as it is.

    As an expression it would take longer to look at than its components take to find.
    """

    npartitions = 1

    def __init__(self, frame: Any) -> None:
        self._meta = frame
        self.columns = frame.columns
        self._token = uuid.uuid4().hex

    def __call__(self) -> Any:
        """Return the frame."""
        return self._meta

    def __dask_tokenize__(self) -> Any:
        return ("graphflow-held", self._token)

    def task(self, partition: int) -> Task:
        """Return the task that has the frame."""
        return Task((f"held-{self._token}", partition), self)


def as_computed(frame: Any, columns: list[str]) -> Expr:
    """Return the expression of some columns, with the partitions that it will be computed in.

    Dask puts small files together and chooses how to join when it optimizes: a plan that deals out
    partitions has to know what becomes of them.
    """
    expr = frame[columns].optimize(fuse=False).expr
    for node in list(expr.find_operations(Projection)):
        if isinstance(node.operand("columns"), list):
            expr = expr.substitute(node, _Columns(*node.operands))
    return expr


class _Columns(Blockwise):  # type: ignore[misc]
    """Some columns of a frame; a partition without one of them gets an error that says which it is."""

    _parameters: ClassVar = ["frame", "columns"]

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta[self.operand("columns")]

    def _task(self, name: Any, index: int) -> Task:
        frame = TaskRef((self.frame._name, index))
        return Task(name, _columns_of, frame, self.operand("columns"), index)


def _columns_of(frame: Any, columns: list[Any], partition: int) -> Any:
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise missing_column(frame, missing[0], f"partition {partition}")
    return frame[columns]


class Empty:
    """A frame without rows, which is told from others by its columns alone."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def __dask_tokenize__(self) -> Any:
        columns = [(name, str(self.frame[name].dtype)) for name in self.frame.columns]
        return (type(self.frame).__module__, columns)


class ForestReduction(Expr):  # type: ignore[misc]
    """The partitions of some frames, hooked into forests, merged and labelled."""

    _parameters: ClassVar = [
        "program",
        "result",
        "chains",
        "merges",
        "merge_chunks",
        "owners",
        "shares",
        "shared",
    ]

    def __str__(self) -> str:
        chains, owners = self.operand("chains"), self.operand("owners")
        how = f"{counted(len(chains), 'chain')}, {counted(owners, 'owner')}"
        return f"{type(self).__name__}({how})"

    @property
    def _frames(self) -> list[Any]:
        return list(self.operands[len(self._parameters) :])

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("result").frame

    def _divisions(self) -> tuple[None, ...]:
        return (None,) * (int(self.operand("owners")) * int(self.operand("shares")) + 1)

    @functools.cached_property
    def _name(self) -> str:
        return f"label-{self.deterministic_token}"

    def _lower(self) -> Expr | None:
        frames = [_Source.of(f) or f if isinstance(f, Expr) else f for f in self._frames]
        if all(new is old for new, old in zip(frames, self._frames, strict=True)):
            return None
        return type(self)(*self.operands[: len(self._parameters)], *frames)

    def _tune_down(self) -> Expr | None:
        # Before a frame that is read here is put together with the next: chains were dealt.
        return self._lower()

    def _layer(self) -> dict[Any, Task]:
        return _Layer(self).build()


def reduction_tasks(chains: int, groups: int, owners: int, shares: int) -> int:
    """Return how many tasks a reduction has beside hooks, where it is not known that ids are dense.

    Most of them cut what chains made into what owners get, and back.

    Parameters
    ----------
    chains : int
    groups : int
        Of chains that are known to lie on one worker; see :func:`.trees.together`.
    owners : int
        Of ranges of ids.
    shares : int
        Partitions of the result that each owner writes.
    """
    cut = 2 * groups * owners + len(_later(owners))
    return cut + 2 * chains + (2 + shares) * owners + 1 + max(1, chains - 1)


def _later(owners: int) -> list[tuple[int, range]]:
    """Return each owner with the ranges of owners behind it, which get the same of it."""
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
        self.program: Program = expr.operand("program")
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
                # A merge makes a forest grow, and nobody may be hooking into it then.
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
            stage, found = self._beside(group[0], "piece"), List(*(fragments[c] for c in group))
            for o in owners:
                index = group[0], o
                pieces[o].append(self._add(stage, index, program.piece, found, numbering, o))
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
        # A root is the smallest of its component: it lies in a range or in one before.
        heads = {
            (o, later): self._add(
                "head", (o, later.start), program.head, forest, owned[o], sizes, o, later
            )
            for o, later in _later(self.owners)
        }
        for o in owners:
            before = [heads[b, later] for b, later in heads if b < o and o in later]
            found = forest, owned[o], numbering, sizes, o, List(*before)
            for share in range(self.shares):
                key = (self.name, o * self.shares + share)
                self.tasks[key] = Task(key, program.label, *found, share, self.shares)
        return self.tasks

    def _hooks(self, chain: int, state: TaskRef | None) -> TaskRef:
        """Add the hook tasks of a chain, each handing the forest on to the next in place."""
        chunks, worker = self.chains[chain].chunks, self.chains[chain].worker
        # What lies on a worker is there to be taken several at a time; not all, where it is spilled.
        lie_there = all(isinstance(self.chunks[chunk][1], Resident) for chunk in chunks)
        each = RESIDENT if lie_there else 1
        for i in range(0, len(chunks), each):
            # A chain's first task has a name of its own: it is placed where there is room, or the
            # data; those after it go where the forest is.
            stage = pinned("hook" if i else "hook-first", worker)
            key = (f"{stage}-{self.token}", chain, i)
            steps: list[Task] = []
            for chunk in chunks[i : i + each]:
                position, frame, partition = self.chunks[chunk]
                step: tuple[Any, ...] = ("hook", chunk, *key)
                hook: tuple[Callable[..., Any], ...] = (self.program.hook,)
                source: Any
                loads = False
                if isinstance(frame, _Source):
                    hook, source = (_read_and_hook, self.program.hook), frame.reader(partition)
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
        """Add a look at each fragment, which all chains' hooks come before."""
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
            key = (f"{self._beside(target, 'merge')}-{self.token}", step, source, target)
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
        """Add a merge in slices; return its last task, which is to have that key."""
        # Each slice's tasks are a group: many in one that depend on little would be spread over the
        # cluster, whatever lies where.
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
        # Once no slice is kept any more: those that are lost from here on are lost together.
        tokens = self._add("merge-0-tokens", merge, program.tokens, into)
        mend = self._add("merge-0-mend", merge, program.mend, source, tokens)
        return Task(key, program.mended, into, mend)

    def _beside(self, chain: int, stage: str) -> str:
        """Return the name of a stage that takes what a chain made: it is pinned where that is."""
        return pinned(stage, self.chains[chain].worker)

    def _fuse(self, key: Any, *steps: Task) -> None:
        """Add steps that follow on each other as one task."""
        self.tasks[key] = Task.fuse(*steps, key=key) if len(steps) > 1 else steps[0]

    def _add(self, stage: str, index: Sequence[int], function: Any, *arguments: Any) -> TaskRef:
        key = (f"{stage}-{self.token}", *index)
        self.tasks[key] = Task(key, function, *arguments)
        return TaskRef(key)


def _there(part: Any, beside: Any) -> Any:
    """Return a slice, which came to where this runs: beside what it is brought to (:mod:`.pins`)."""
    return part


class GangProgram(Protocol):
    """What the tasks of a gang do; see the module's drawing."""

    def only(self, shard: Any) -> Any: ...  # noqa: D102
    def member(self, shard: Any, gang: str, rank: int, size: int) -> Any: ...  # noqa: D102
    def end(self, member: Any) -> Any: ...  # noqa: D102
    def part(self, member: Any, ends: list[Any], rank: int) -> Any: ...  # noqa: D102


class Gang(Expr):  # type: ignore[misc]
    """Shards, and a gang with a member for each."""

    _parameters: ClassVar = ["shards", "title", "program", "result"]

    def __str__(self) -> str:
        members = counted(self.npartitions, "member")
        return f"{type(self).__name__}({self.operand('title')}, {members})"

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("result").frame

    def _divisions(self) -> tuple[None, ...]:
        return (None,) * (int(self.operand("shards").npartitions) + 1)

    @functools.cached_property
    def _name(self) -> str:
        return f"{self.operand('title')}-{self.deterministic_token}"

    def _layer(self) -> dict[Any, Any]:
        title, token, size = self.operand("title"), self.deterministic_token, self.npartitions
        shards, name = self.operand("shards"), gang(title, token)
        program: GangProgram = self.operand("program")
        if isinstance(shards, Expr):
            tasks, keys = {}, [(shards._name, i) for i in range(size)]
        else:
            tasks, keys = dict(shards.layer), shards.keys

        def add(key: Any, function: Any, *arguments: Any) -> TaskRef:
            tasks[key] = Task(key, function, *arguments)
            return TaskRef(key)

        if size == 1:
            add((self._name, 0), program.only, TaskRef(keys[0]))
            return tasks
        members = [
            add((name, i), program.member, TaskRef(key), name, i, size)
            for i, key in enumerate(keys)
        ]
        ends = [add((f"{title}-end-{token}", i), program.end, m) for i, m in enumerate(members)]
        for i, member in enumerate(members):
            add((self._name, i), program.part, member, List(*ends), i)
        return tasks


class Items(Expr):  # type: ignore[misc]
    """Some items of lists of frames, one partition per item."""

    _parameters: ClassVar = ["lists", "which", "result"]

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("result").frame

    def _divisions(self) -> tuple[None, ...]:
        lists: Parts = self.operand("lists")
        return (None,) * (lists.npartitions * len(self.operand("which")) + 1)

    @functools.cached_property
    def _name(self) -> str:
        return f"graph-part-{self.deterministic_token}"

    def _layer(self) -> dict[Any, Any]:
        lists: Parts = self.operand("lists")
        tasks = dict(lists.layer)
        taken = itertools.product(lists.keys, self.operand("which"))
        for i, (key, at) in enumerate(taken):
            part = (self._name, i)
            tasks[part] = Task(part, operator.getitem, TaskRef(key), at)
        return tasks


def delayed_parts(expr: Expr) -> list[Delayed]:
    """Return the parts of an expression that has no frames, lazily."""
    whole = expr.optimize()
    layer = f"delayed-{whole._name}"
    graph = HighLevelGraph.from_collections(layer, whole.__dask_graph__(), dependencies=())
    return [Delayed(key, graph, layer=layer) for key in whole.__dask_keys__()]


def held_by(frame: Expr | Held) -> tuple[list[Any], list[Any]]:
    """Return the keys and futures of a persisted frame that `frame` is made of, part by part.

    Both are empty where it is not made of one.
    """
    for node in frame.find_operations(FromGraph) if isinstance(frame, Expr) else ():
        if node.npartitions == frame.npartitions:
            layer = node.operand("layer")
            futures = [value for value in layer.values() if hasattr(value, "key")]
            return list(node.operand("keys")), futures
    return [], []
