"""Read the partitions of the frames from which a graph is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from dask.sizeof import sizeof

from dask_graphflow.exceptions import WeightError
from dask_graphflow.graph import dtypes, frames
from dask_graphflow.graph.edgelist import EdgeColumns, Ends
from dask_graphflow.graph.memory_model import Part
from dask_graphflow.graph.room import Plan, Room
from dask_graphflow.graph.vertex_ids import brought
from dask_graphflow.kernels import disk, is_on_disk
from dask_graphflow.showing.tables import counted

from . import memory_limits, placement

MOST_PER_BYTE = 16  # more bytes per byte of the pieces than any build takes


class Piece(NamedTuple):
    """The contents of one partition."""

    source: Ends
    target: Ends | None  # None for a partition of vertices, whose ids are in `source`
    weight: Any  # array or None
    partition: int  # the number of the partition in its frame

    def __reduce__(self) -> Any:
        """Whoever unpickles a piece on disk gets one that is on disk again."""
        return (Piece if self.source.folder is None else _stored), tuple(self)


@sizeof.register(Ends)  # type: ignore[untyped-decorator]
def _bytes_of_ends(ends: Ends) -> int:
    return 0 if ends.folder else sum(map(sizeof, ends.series.values()))


@sizeof.register(Piece)  # type: ignore[untyped-decorator]
def _bytes_in_memory(piece: Piece) -> int:
    weight = None if is_on_disk(piece.weight) else piece.weight
    return int(sum(map(sizeof, (piece.source, piece.target, weight))))


def in_memory(frame: Any, partition: int, read: Callable[..., Piece], plan: Plan) -> Piece:
    """Read a partition, and check that there is room for it beside the pieces that were read before.

    Dask may have written some of them to disk. The build needs all of them in memory at the same time.
    """
    piece = read(frame, partition)
    own = placement.resources()
    own.relieve()
    if len(piece.source) and not own.fits(MOST_PER_BYTE * sizeof(piece) * plan.partitions):
        nbytes, (count, there, spilled) = sizeof(piece), memory_limits.results_of_this_kind()
        read_by_all, count = (nbytes + there) / nbytes, count + 1
        pieces = -(-plan.partitions // plan.members)
        whole = read_by_all * max(1.0, pieces / count)
        room = Room(own, plan, [piece], read=read_by_all, whole=whole)
        room.check("make its rows", Part.making, spilled=spilled)
    return piece


def on_disk(frame: Any, partition: int, read: Callable[..., Piece]) -> Piece:
    """Read a partition, and move what was read to files in the folder of the task."""
    return _stored(*read(frame, partition))


def _stored(source: Ends, target: Ends | None, weight: Any, partition: int) -> Piece:
    folder = placement.disk_folder()
    return Piece(
        source.stored(folder),
        None if target is None else target.stored(folder),
        None if weight is None else disk.stored(weight, folder),
        partition,
    )


def read_vertices(frame: Any, partition: int, columns: EdgeColumns, like: Any) -> Piece:
    """Return the ids of a partition of vertices, in the backend of `like`.

    The columns of the ids are given as both ends of an edge.
    """
    ids, _, _ = columns.ends(brought(frame[columns.columns], like), partition)
    return Piece(ids, None, None, partition)


def read_edges(frame: Any, partition: int, columns: EdgeColumns) -> Piece:
    """Return a partition's sources, targets and weights."""
    source, target, weight = columns.ends(frame, partition)
    if weight is None:
        return Piece(source, target, None, partition)
    if nulls := int(weight.isna().sum()):
        raise WeightError(
            f"weight column {columns.weight!r} has {counted(nulls, 'null')} in a partition of "
            f"{counted(len(weight), 'edge')}; fill them, or leave those edges out"
        )
    values = frames.values(columns.exact_weight(weight, partition))
    if values.dtype == np.uint64:
        largest = int(values.max()) if len(values) else 0
        if largest > np.iinfo("int64").max:
            raise WeightError(
                f"weight column {columns.weight!r} holds {largest}, which does not fit int64. Convert the "
                "column with astype('float64'), which rounds weights beyond 2**53"
            )
    return Piece(source, target, values.astype(weight_dtype(values.dtype), copy=False), partition)


def weight_dtype(dtype: Any) -> np.dtype:
    """Return the dtype in which a graph stores weights of a given numeric dtype."""
    own = dtypes.plain(dtype)
    if own.kind == "f":  # kernels support no wider floats
        return np.dtype("float32" if own.itemsize <= 4 else "float64")
    return np.dtype("int32" if own.itemsize < 4 else "int64")
