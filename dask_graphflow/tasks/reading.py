"""Read the partitions of the frames from which a graph is built."""

from __future__ import annotations

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
        return (Piece if self.source.folder is None else store), tuple(self)


@sizeof.register(Ends)  # type: ignore[untyped-decorator]
def _bytes_of_ends(ends: Ends) -> int:
    return 0 if ends.folder else sum(map(sizeof, ends.series.values()))


@sizeof.register(Piece)  # type: ignore[untyped-decorator]
def _bytes_in_memory(piece: Piece) -> int:
    weight = None if is_on_disk(piece.weight) else piece.weight
    return int(sum(map(sizeof, (piece.source, piece.target, weight))))


def read_edges(frame: Any, partition: int, columns: EdgeColumns, plan: Plan | None = None) -> Piece:
    """Return a partition's sources, targets and weights: in files, if the plan says so.

    In memory, it checks that there is room for the pieces of the plan. Dask may have written some of those
    that were read before to disk, and the build needs all of them in memory at the same time.
    """
    source, target, weight = columns.ends(frame, partition)
    if weight is not None:
        weight = _convert_weights(weight, columns, partition)
    if plan is not None and plan.on_disk:
        return store(source, target, weight, partition)
    piece = Piece(source, target, weight, partition)
    if plan is not None:
        _check_room(piece, plan)
    return piece


def read_vertices(
    frame: Any, partition: int, columns: EdgeColumns, like: Any, on_disk: bool = False
) -> Piece:
    """Return the ids of a partition of vertices, in the backend of `like`.

    The columns of the ids are given as both ends of an edge.
    """
    ids, _, _ = columns.ends(brought(frame[columns.columns], like), partition)
    return (store if on_disk else Piece)(ids, None, None, partition)


def store(source: Ends, target: Ends | None, weight: Any, partition: int) -> Piece:
    """Return a piece whose values are in files in the folder of the task."""
    folder = placement.disk_folder()
    return Piece(
        source.stored(folder),
        None if target is None else target.stored(folder),
        None if weight is None else disk.stored(weight, folder),
        partition,
    )


def _check_room(piece: Piece, plan: Plan) -> None:
    own = placement.resources()
    if not own.memory_limit:
        return
    own.relieve()
    if len(piece.source) and not own.fits(MOST_PER_BYTE * sizeof(piece) * plan.partitions):
        nbytes, (count, there, spilled) = sizeof(piece), memory_limits.results_of_this_kind()
        read_by_all, count = (nbytes + there) / nbytes, count + 1
        pieces = -(-plan.partitions // plan.members)
        whole = read_by_all * max(1.0, pieces / count)
        room = Room(own, plan, [piece], read=read_by_all, whole=whole)
        room.check("make its rows", Part.making, spilled=spilled)


def _convert_weights(weight: Any, columns: EdgeColumns, partition: int) -> Any:
    """Return weights as an array of the dtype that a graph stores."""
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
    return values.astype(weight_dtype(values.dtype), copy=False)


def weight_dtype(dtype: Any) -> np.dtype:
    """Return the dtype in which a graph stores weights of a given numeric dtype."""
    own = dtypes.plain(dtype)
    if own.kind == "f":  # kernels support no wider floats
        return np.dtype("float32" if own.itemsize <= 4 else "float64")
    return np.dtype("int32" if own.itemsize < 4 else "int64")
