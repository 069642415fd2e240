"""Further columns of the edges, which a graph keeps for the results that consist of edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import and_
from typing import Any

import numpy as np
from dask.delayed import Delayed

from dask_graphflow.graph import frames
from dask_graphflow.graph.edgelist import EdgeColumns, column_of
from dask_graphflow.tasks import clients, partitions
from dask_graphflow.tasks.expr import Empty, Mapped, as_computed, collection
from dask_graphflow.tasks.gang_expr import as_delayed
from dask_graphflow.tasks.reading import read_edges

# The columns of a row, beside the weight. Parts of ids and further columns are numbered, so that their
# names differ from all others.
ENDS = ("source", "target")
FURTHER = "further"
PARTITION, ROW = "partition_of_edges", "row_of_edges"  # the place of the edge in its frame


@dataclass(frozen=True, eq=False)
class FurtherColumns:
    """The further columns that a graph keeps, and how its edges were read."""

    frame: Any  # expression or :class:`.Held`. The edges; None once the rows are persisted.
    read: EdgeColumns
    names: tuple[Any, ...]
    like: Empty  # the empty frame of the rows; see :func:`_read_rows`
    turned: bool = False  # whether the graph has the edges of the frame reversed
    built: Sequence[Delayed] = ()  # the persisted rows: per partition, a list with one frame

    @classmethod
    def of(cls, frame: Any, read: EdgeColumns, names: tuple[Any, ...]) -> FurtherColumns:
        """Return the columns `names` of a checked frame of edges."""
        like = Empty.of(_read_rows(frames.empty_like(frame._meta), 0, read, names))
        needed = list(dict.fromkeys([*read.columns, *names]))
        return cls(as_computed(frame, needed), read, names, like)

    def persist(self) -> FurtherColumns:
        """Start to read the rows, and keep them in memory."""
        if self.built:
            return self
        read = partial(_read_list, read=self.read, names=self.names)
        built = clients.persist(as_delayed(Mapped(self.frame, read, self.like)))
        return replace(self, frame=None, built=built)

    def reverse(self) -> FurtherColumns:
        """Return the columns for the graph with every edge reversed."""
        return replace(self, turned=not self.turned)

    def rows(self, columns: list[str]) -> Any:
        """Return some columns of all edges, as a lazy frame; see :func:`_read_rows`."""
        if self.built:
            return partitions.frames(self.built, [0], self.like)[columns]
        read = partial(_read_rows, read=self.read, names=self.names)
        return collection(Mapped(self.frame, read, self.like))[columns]


def _read_rows(frame: Any, partition: int, read: EdgeColumns, names: Sequence[Any]) -> Any:
    """Return a partition of the edges: ids as the graph has them, weights, places, and further columns."""
    where = f"partition {partition} of {read.role}"
    further = [column_of(frame, name, where) for name in names]
    if read.dropna:
        both = dict.fromkeys([*read.source, *read.target])
        present = reduce(and_, [column_of(frame, one, where).notna() for one in both])
        further = [column[present] for column in further]
    edges = read_edges(frame, partition, read)
    assert edges.target is not None
    columns: dict[str, Any] = {}
    for end, ids in zip(ENDS, (edges.source, edges.target), strict=True):
        columns |= dict(zip(numbered(end, len(ids.series)), ids.series.values(), strict=True))
    columns |= dict(zip(numbered(FURTHER, len(names)), further, strict=True))
    columns = {name: column.reset_index(drop=True) for name, column in columns.items()}
    if edges.weight is not None:
        columns["weight"] = edges.weight
    places = {
        PARTITION: np.full(len(edges.source), partition, "int32"),
        ROW: np.arange(len(edges.source)),
    }
    return frames.build(type(frame), columns | places)


def _read_list(frame: Any, partition: int, read: EdgeColumns, names: Sequence[Any]) -> list[Any]:
    return [_read_rows(frame, partition, read, names)]


def numbered(stem: str, count: int) -> list[str]:
    """Return the names of columns of the same kind."""
    return [f"{stem}_{at}" for at in range(count)]
