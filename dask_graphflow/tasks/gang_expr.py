"""The Dask expressions of gangs: what their members read, what they run, and what they return.

:class:`Reads` is the task graph of the partitions that the members of a gang read::

    read       each partition
    pieces     the list of everything that one member has read, on the same worker

:class:`Gang` is the task graph of one gang, with one member per shard::

    ready      says that a shard is there; only if the graph may run without a cluster
    gang       a member: it runs as long as the others do, and returns its part of the result

The members need each other, but no task depends on all of them: that would take a level of tasks, and some
messages, after the members have ended. Instead, :mod:`.ties` lets the scheduler know that they belong
together. Without a cluster, nothing guarantees that all members run at the same time. There, `ready` passes
the shards on to every member, and the first one runs all members as threads of its process. On a cluster,
`ready` returns nothing. It is left out if the shards are futures, which only a cluster can compute with.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from dask._task_spec import List, Task, TaskRef
from dask.base import collections_to_expr
from dask.dataframe.dask_expr._expr import Expr
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from dask_graphflow.showing.tables import counted

from .expr import GraphflowExpr, Held, Resident, Source, all_futures, futures_in
from .names import gang, named, pinned, ready_name, staying
from .tokens import token_of


class Parts:
    """Delayed objects, one per part, used by their own keys like those of a :class:`Resident`."""

    def __init__(self, parts: Sequence[Delayed]) -> None:
        self.npartitions = len(parts)
        self.keys = [part.key for part in parts]
        # Persisted parts need no optimization, which takes longer than the rest of a small call.
        self.layer = {
            part.key: part.dask[part.key] for part in parts if list(part.dask) == [part.key]
        }
        self.kept = all_futures(self.layer, self.keys)
        if len(self.layer) < len(parts):
            whole = collections_to_expr(parts).optimize()
            self.layer = whole.__dask_graph__()
            self.keys = [key for (key,) in whole.__dask_keys__()]
        # Computed here, because on the scheduler, which also needs the token, futures have no client.
        self._token = ("graphflow-parts", self.keys, futures_in(self.layer))

    def __dask_tokenize__(self) -> Any:
        return self._token


class Reads(GraphflowExpr):
    """The input of each member of a gang: one list per member, read from some frames.

    The operands are the parameters, followed by the frames. Each frame is an expression, a :class:`Source`,
    a :class:`Resident` or a :class:`Held`. The readers are functions of a partition and its number, one per
    frame. `dealt` contains, per frame and member, the numbers of the partitions that the member reads. What
    is read is not sent to another worker if `stay` is true.
    """

    _parameters: ClassVar = ["readers", "dealt", "workers", "together", "stay"]

    @property  # a cached one would be pickled
    def _meta(self) -> Any:
        return None

    @property
    def _frames(self) -> list[Any]:
        return list(self.operands[len(self._parameters) :])

    def _divisions(self) -> tuple[None, ...]:
        return (None,) * (len(self.operand("dealt")[0]) + 1)

    @functools.cached_property
    def _name(self) -> str:
        return named("pieces", self.deterministic_token)

    @property
    def keys(self) -> list[Any]:
        """The key of each member's list. It contains the address of its worker, if it has one."""
        workers = self.operand("workers") or [None] * self.npartitions
        token = self.deterministic_token
        return [(named(pinned("pieces", at), token), i) for i, at in enumerate(workers)]

    def _layer(self) -> dict[Any, Any]:
        tasks: dict[Any, Any] = {}
        for frame in self._frames:
            if isinstance(frame, Resident):
                tasks.update(frame.layer)
        for rank, key in enumerate(self.keys):
            reads = self._reads(rank)
            if self.operand("together"):
                tasks[key] = Task(key, list, List(*reads))
                continue
            tasks[key] = Task(key, list, List(*(TaskRef(read.key) for read in reads)))
            tasks.update((read.key, read) for read in reads)
        return tasks

    def _reads(self, rank: int) -> list[Task]:
        """Return the tasks that read each partition of a member, frame by frame."""
        workers, dealt = self.operand("workers"), self.operand("dealt")
        stage = staying("read") if self.operand("stay") else "read"
        stage = pinned(stage, None if workers is None else workers[rank])
        reads = []
        for frame, reader, own in zip(self._frames, self.operand("readers"), dealt, strict=True):
            name = named(stage, token_of(frame, reader))
            for i in own[rank]:
                steps, partition = read_partition(frame, i)
                read = Task((name, i), reader, partition, i)
                reads.append(Task.fuse(*steps, read, key=read.key) if steps else read)
        return reads


def read_partition(frame: Any, number: int) -> tuple[list[Task], Task | TaskRef]:
    """Return the tasks that read a partition in place, if any, and the argument that stands for it."""
    if isinstance(frame, Held):
        return [], frame.task()
    if isinstance(frame, Source):
        task = frame.task(number)
        return [task], TaskRef(task.key)
    return [], TaskRef((frame._name, number) if isinstance(frame, Expr) else frame.keys[number])


class Dealt:
    """The input of each member of a gang: some partitions of persisted frames, in a list.

    `dealt` has, per member, the frame of each partition, and its number there. Each member gets some.
    """

    kept = True

    def __init__(
        self, frames: Sequence[Resident], dealt: Sequence[Sequence[tuple[int, int]]]
    ) -> None:
        self.layer = {key: future for frame in frames for key, future in frame.layer.items()}
        self.lists = [[frames[at].keys[number] for at, number in own] for own in dealt]
        self.npartitions = len(dealt)
        self._token = ("graphflow-dealt", list(frames), self.lists)

    @property
    def keys(self) -> list[Any]:
        """The first partition of each member, which stands for all of them."""
        return [own[0] for own in self.lists]

    def __dask_tokenize__(self) -> Any:
        return self._token


class LocalResults(GraphflowExpr):
    """Results that stay on the workers that made them: each member of a gang uses those of its worker.

    A subclass has an operand `members`, the number of members, and makes the tasks of the results.
    """

    @property
    def keys(self) -> list[Any]:
        """The keys of the results."""
        raise NotImplementedError

    @property  # a cached one would be pickled
    def _meta(self) -> Any:
        return None

    def _divisions(self) -> tuple[None, ...]:
        return (None,) * (int(self.operand("members")) + 1)


class Found:
    """The results that a member found on its worker."""

    def __init__(self, here: dict[int, Any], count: int, fetch: Callable[[int], Any]) -> None:
        self.here = here  # the results on this worker, by number
        self.count = count  # number of results on all workers
        self._fetch = fetch

    @classmethod
    def all(cls, *results: Any) -> Found:
        """Return results that are all in one place."""
        return cls(dict(enumerate(results)), len(results), results.__getitem__)

    def fetch(self, number: int) -> Any:
        """Return a result that no member has found. Waits until its task has run again, if it was lost."""
        return self._fetch(number)


@dataclass(frozen=True)
class Roster:
    """The members of a gang, as every member and the scheduler know them."""

    name: str  # the key of a member's task is this name and the member's rank
    shards: list[Any]  # the shard of each member
    # Whether the shards are futures: somebody else keeps them in memory, for further gangs.
    kept: bool
    # List of list of keys, optional. If the shard of a member is a list, the keys of its items. The first
    # one is in `shards`.
    lists: list[list[Any]] | None = None
    # List of keys, optional. The keys of :class:`LocalResults`. Some of them are in `shards`.
    local: list[Any] | None = None

    def shard(self, rank: int) -> Any:
        """Return the reference to the shard of a member; None if it finds its shard on its worker."""
        if self.local is not None:
            alone = len(self.shards) == 1
            return Task(None, Found.all, *map(TaskRef, self.local)) if alone else None
        if self.lists is None:
            return TaskRef(self.shards[rank])
        return List(*(TaskRef(key) for key in self.lists[rank]))

    def task(self, rank: int, like: Task) -> Task:
        """Return the task of a member. It runs the same program as the task of another member."""
        return Task((self.name, rank), like.func, self.shard(rank), like.args[1], self, rank)


def roster_of(task: Any) -> Roster | None:
    """Return the roster of a member's task; None for any other task."""
    rosters = [one for one in getattr(task, "args", ()) if isinstance(one, Roster)]
    return rosters[0] if rosters else None


def depend_on(keys: list[Any], key: str) -> Task:
    """Return a task that depends on others."""
    return Task(key, tuple, *map(TaskRef, keys))


class Gang(GraphflowExpr):
    """A gang with one member per shard."""

    _parameters: ClassVar = ["shards", "title", "program", "result"]

    def __str__(self) -> str:
        members = counted(self.npartitions, "member")
        return f"{type(self).__name__}({self.operand('title')}, {members})"

    @property  # a cached one would be pickled
    def _meta(self) -> Any:
        result = self.operand("result")
        return None if result is None else result.frame

    def _divisions(self) -> tuple[None, ...]:
        return (None,) * (int(self.operand("shards").npartitions) + 1)

    @functools.cached_property
    def _name(self) -> str:
        # Dask shows a name as far as its first part that is not made of letters.
        title, token = self.operand("title").replace("_", "-"), self.deterministic_token
        return named(title, token) if self.npartitions == 1 else gang(title, token)

    def _layer(self) -> dict[Any, Any]:
        shards, program, size = self.operand("shards"), self.operand("program"), self.npartitions
        tasks: dict[Any, Any] = {} if isinstance(shards, Expr) else dict(shards.layer)
        keys = _keys(shards)

        def add(key: Any, function: Any, *arguments: Any) -> TaskRef:
            tasks[key] = Task(key, function, *arguments)
            return TaskRef(key)

        kept = isinstance(shards, Parts | Resident | Dealt) and shards.kept
        lists = shards.lists if isinstance(shards, Dealt) else None
        local = keys if isinstance(shards, LocalResults) else None
        if local is not None:
            keys = [local[len(local) * rank // size] for rank in range(size)]
        roster = Roster(self._name, keys, kept, lists, local)
        if size == 1:
            add((self._name, 0), program.only, roster.shard(0))
            return tasks
        ready, stage = [], ready_name(self._name)
        if not roster.kept:
            ready = [
                add((stage, i), program.ready, TaskRef(key), (stage, i))
                for i, key in enumerate(local or keys)
            ]
        for rank in range(size):
            add((self._name, rank), program.member, roster.shard(rank), List(*ready), roster, rank)
        return tasks


class Items(GraphflowExpr):
    """Some items of lists of frames, one partition per item. `lists` are those of a gang, or Delayed."""

    _parameters: ClassVar = ["lists", "which", "result"]

    @property  # a cached one would be pickled
    def _meta(self) -> Any:
        return self.operand("result").frame

    def _divisions(self) -> tuple[None, ...]:
        lists: Gang | Parts = self.operand("lists")
        return (None,) * (lists.npartitions * len(self.operand("which")) + 1)

    @functools.cached_property
    def _name(self) -> str:
        return named("part", self.deterministic_token)

    def _layer(self) -> dict[Any, Any]:
        lists: Gang | Parts = self.operand("lists")
        tasks = dict(lists.layer) if isinstance(lists, Parts) else {}
        taken = itertools.product(_keys(lists), self.operand("which"))
        for i, (key, at) in enumerate(taken):
            part = (self._name, i)
            tasks[part] = Task(part, operator.getitem, TaskRef(key), at)
        return tasks


def _keys(parts: Any) -> list[Any]:
    """Return the keys of the tasks that return some parts."""
    if isinstance(parts, Reads | Parts | Resident | Dealt | LocalResults):
        return list(parts.keys)
    return [(parts._name, i) for i in range(parts.npartitions)]


def as_delayed(expr: Expr) -> list[Delayed]:
    """Return, lazily, the parts of an expression whose parts are not frames."""
    whole = expr.optimize()
    layer = f"delayed-{whole._name}"
    graph = HighLevelGraph.from_collections(layer, whole.__dask_graph__(), dependencies=())
    return [Delayed(key, graph, layer=layer) for key in whole.__dask_keys__()]
