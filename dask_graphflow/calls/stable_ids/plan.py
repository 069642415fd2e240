"""The tasks of a call: they read, compare and name the rows partition by partition.

The rows of the labels and of the earlier memory are dealt to parts by the hashes of their vertices, so that
all rows of a vertex are in one part. One task decides about all groups. It needs memory for one row
per pair of an old and a new group, and not for the vertices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from dask.delayed import Delayed, delayed

from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.frames import empty_like
from dask_graphflow.graph.renumber import distinct
from dask_graphflow.graph.vertex_ids import brought
from dask_graphflow.tasks.expr import Empty
from dask_graphflow.tasks.partitions import frames, partitions_of

from .rows import CURRENT, HASH, MEMORY, read
from .rules import EVENTS, Decision, decide
from .survey import survey

MEMORY_ROWS = {**MEMORY, HASH: "uint64"}


class Table(NamedTuple):
    """A frame, and how to read its columns; those of the vertices come first."""

    frame: Any
    columns: tuple[EdgeColumns, ...]


def plan(labels: Table, memory: Table | None) -> tuple[Any, Any, Any]:
    """Return the labels with ids, the events and the new memory, lazily. The tables have been checked."""
    vertex, group = ([*columns.names] for columns in labels.columns)
    like = Empty.of(empty_like(labels.frame._meta))
    compare = partial(survey, vertex=vertex, group=group)
    give = partial(_give_ids, vertex=vertex, group=group, like=like)
    rows, empty = _read(labels)
    before, nothing = ([], _empty(empty[vertex], MEMORY_ROWS)) if memory is None else _read(memory)
    parts = max(len(rows), len(before))
    surveys = [
        _task(compare, *both)
        for both in zip(_deal(rows, empty, parts), _deal(before, nothing, parts), strict=True)
    ]
    decision = _task(partial(decide, vertex), *surveys)
    named, last = (
        [_task(give, one, decision) for one in rows],
        _task(partial(_without_vertices, like=like), decision),
    )
    return (
        frames(named, (0,), brought(_empty(empty[vertex], {"id": "int64"}), like.frame)),
        frames([last], (0,), brought(_empty(pd.DataFrame(), EVENTS), like.frame)),
        frames([*named, last], (1,), brought(_empty(empty[vertex], MEMORY), like.frame)),
    )


def _task(function: Callable[..., Any], *arguments: Any) -> Delayed:
    return delayed(function, pure=True)(*arguments)


def _read(table: Table) -> tuple[list[Delayed], pd.DataFrame]:
    """Return the rows of each partition of a table, in a list, and the rows of an empty one."""
    reader = partial(_read_partition, columns=table.columns)
    parts = partitions_of(table.frame)
    (empty,) = reader(table.frame._meta.iloc[:0], 0)
    return [_task(reader, part, i) for i, part in enumerate(parts)], empty


def _read_partition(
    frame: Any, partition: int, columns: tuple[EdgeColumns, ...]
) -> list[pd.DataFrame]:
    return [read(frame, partition, *columns)]


def _deal(rows: Sequence[Delayed], empty: pd.DataFrame, parts: int) -> list[Any]:
    """Deal rows to a number of parts by the hashes of their vertices."""
    if not rows:
        return [empty] * parts
    frame = frames(rows, (0,), empty)
    if parts > 1:
        frame = frame.shuffle(on=[HASH], npartitions=parts, shuffle_method="tasks")
    return partitions_of(frame)


def _empty(vertices: pd.DataFrame, types: Mapping[str, str]) -> pd.DataFrame:
    """Return an empty frame with more columns than that of no vertices."""
    return vertices.assign(**{name: pd.Series(dtype=dtype) for name, dtype in types.items()})


def _give_ids(
    rows: Sequence[pd.DataFrame],
    decision: Decision,
    vertex: Sequence[str],
    group: Sequence[str],
    like: Empty,
) -> list[Any]:
    """Return the id of each vertex of a partition, and its row of the new memory."""
    ((labels,), table) = rows, decision.ids
    (own, all_groups), groups = distinct([labels[[*group]], table[[*group]]], threads=1)
    id_of = np.empty(len(groups), "int64")
    id_of[all_groups] = table["id"]
    named = labels[[*vertex]].assign(id=id_of[own])
    size = np.zeros(len(named), "int64")
    memory = named.assign(size=size, members=size.view("uint64"), update=CURRENT)
    return [brought(frame, like.frame) for frame in (named, memory)]


def _without_vertices(decision: Decision, like: Empty) -> list[Any]:
    """Return the events, and the rows of the new memory that remember groups."""
    return [brought(frame, like.frame) for frame in decision[1:]]
