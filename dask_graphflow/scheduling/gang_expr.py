"""The Dask expressions of gangs: what their members read, what they run, and what they return.

:class:`Reads` is the task graph of the partitions that the members of a gang read::

    read       each partition
    pieces     the list of everything that one member has read, on the same worker

:class:`Gang` is the task graph of one gang, with one member per shard::

    gang       a member: it runs as long as the others do, and has a part of the result
    end        returns nothing, once a member has ended
    part       a member's part, once all members have ended

A gang with one member has one task, which returns the part. In larger gangs on a cluster, the last two
kinds of tasks only express that the members need each other: to compute one part, or to compute it again
after its worker was lost, all members run. Without a cluster, nothing guarantees that all members would run
at the same time. There, `gang` and `end` only pass the shards on, and the first `part` runs all members as
threads of its process.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from dask._task_spec import List, Task, TaskRef
from dask.base import collections_to_expr, tokenize
from dask.dataframe.dask_expr._expr import Expr
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from dask_graphflow.showing.tables import counted

from .expr import Held, Resident, Source, futures_in
from .names import gang, pinned


class Parts:
    """Delayed objects, one per part, used by their own keys like those of a :class:`Resident`."""

    def __init__(self, parts: Sequence[Delayed]) -> None:
        whole = collections_to_expr(parts).optimize()
        self.layer = whole.__dask_graph__()
        self.keys = [key for (key,) in whole.__dask_keys__()]
        self.npartitions = len(parts)
        # Computed here, because on the scheduler, which also needs the token, futures have no client.
        self._token = ("graphflow-parts", self.keys, futures_in(self.layer))

    def __dask_tokenize__(self) -> Any:
        return self._token


class Reads(Expr):  # type: ignore[misc]
    """The input of each member of a gang: one list per member, read from some frames.

    The operands are the parameters, followed by the frames. Each frame is an expression, a :class:`Source`,
    a :class:`Resident` or a :class:`Held`. The readers are functions of a partition and its number, one per
    frame. `dealt` contains, per frame and member, the numbers of the partitions that the member reads.
    """

    _parameters: ClassVar = ["readers", "dealt", "workers", "together"]

    @property
    def _frames(self) -> list[Any]:
        return list(self.operands[len(self._parameters) :])

    def _divisions(self) -> tuple[None, ...]:
        return (None,) * (len(self.operand("dealt")[0]) + 1)

    @functools.cached_property
    def _name(self) -> str:
        return f"graph-pieces-{self.deterministic_token}"

    @property
    def keys(self) -> list[Any]:
        """The key of each member's list. It contains the address of its worker, if it has one."""
        workers = self.operand("workers") or [None] * self.npartitions
        token = self.deterministic_token
        return [(f"{pinned('graph-pieces', at)}-{token}", i) for i, at in enumerate(workers)]

    def _layer(self) -> dict[Any, Any]:
        tasks: dict[Any, Any] = {}
        for frame in self._frames:
            if isinstance(frame, Resident):
                tasks.update(frame.layer)
        for rank, key in enumerate(self.keys):
            reads = self._reads(rank)
            pieces = Task(key, list, List(*(TaskRef(steps[-1].key) for steps in reads)))
            if self.operand("together"):
                tasks[key] = Task.fuse(*itertools.chain(*reads), pieces, key=key)
                continue
            tasks[key] = pieces
            for steps in reads:
                read = steps[-1].key
                tasks[read] = Task.fuse(*steps, key=read) if len(steps) > 1 else steps[0]
        return tasks

    def _reads(self, rank: int) -> list[list[Task]]:
        """Return the steps that read each partition of a member, frame by frame."""
        workers, dealt = self.operand("workers"), self.operand("dealt")
        stage = pinned("graph-read", None if workers is None else workers[rank])
        reads = []
        for frame, reader, own in zip(self._frames, self.operand("readers"), dealt, strict=True):
            name = f"{stage}-{tokenize(frame, reader)}"
            for i in own[rank]:
                steps = [frame.task(i)] if isinstance(frame, Source | Held) else []
                if steps:
                    source = TaskRef(steps[0].key)
                else:
                    of_frame = (frame._name, i) if isinstance(frame, Expr) else frame.keys[i]
                    source = TaskRef(of_frame)
                reads.append([*steps, Task((name, i), reader, source, i)])
        return reads


class GangProgram(Protocol):
    """The functions that the tasks of a gang run; see the diagram in the module's docstring."""

    def only(self, shard: Any) -> Any: ...  # noqa: D102
    def member(self, shard: Any, gang: str, rank: int, size: int) -> Any: ...  # noqa: D102
    def end(self, member: Any) -> Any: ...  # noqa: D102
    def part(self, member: Any, ends: list[Any], rank: int) -> Any: ...  # noqa: D102


class Gang(Expr):  # type: ignore[misc]
    """A gang with one member per shard."""

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
        tasks: dict[Any, Any] = {} if isinstance(shards, Expr) else dict(shards.layer)
        named = isinstance(shards, Reads | Parts | Resident)
        keys = shards.keys if named else [(shards._name, i) for i in range(size)]

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
    """Return, lazily, the parts of an expression whose parts are not frames."""
    whole = expr.optimize()
    layer = f"delayed-{whole._name}"
    graph = HighLevelGraph.from_collections(layer, whole.__dask_graph__(), dependencies=())
    return [Delayed(key, graph, layer=layer) for key in whole.__dask_keys__()]
