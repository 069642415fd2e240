"""Choose partitions that fit the memory limit of the workers, before any edge is read."""

from __future__ import annotations

from typing import Any

from dask_graphflow.graph import memory_model
from dask_graphflow.graph.dtypes import is_integer
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.renumber import is_dense
from dask_graphflow.kernels.memory import PROCESS
from dask_graphflow.showing.tables import size
from dask_graphflow.tasks import memory_limits, placement
from dask_graphflow.tasks.expr import Held, Resident
from dask_graphflow.tasks.parquet import Pieces, by_row_groups, pieces_of

COPIES = 3  # copies of a partition during reading: pages of the file, Arrow table, pandas frame


def fit_partitions(edges: Any, columns: EdgeColumns, *, forests: int, divide: bool) -> Any:
    """Return edges in partitions so small that workers can read them, and store forests, without pausing.

    A worker stores a number of `forests`, one per threshold. Partitions may be cut at row groups of their
    Parquet files to `divide` them. It raises :class:`.GraphMemoryError` if the workers' memory limit is too
    low for the edges, or for this library itself.
    """
    persisted = not isinstance(edges, Held) and Resident.of(edges.expr)
    least = None if persisted else placement.least_room()
    if least is None:
        return edges
    limit, threads, workers = least
    memory_limits.check_limit(limit)
    pieces = pieces_of(edges, columns.columns)
    if pieces is None:
        return edges
    kept = PROCESS + forests * _forest(pieces, columns, workers)
    room = memory_limits.pause_fraction() * limit - kept
    copies = COPIES * threads
    if pieces.partition * copies <= room:
        return edges
    divide = divide and pieces.divisible
    if divide and pieces.row_group * copies <= room:
        return by_row_groups(edges, int(room // (pieces.row_group * copies)))
    smallest = pieces.row_group if divide else pieces.partition
    raise memory_limits.too_low(
        limit,
        kept + smallest * copies,
        f"a worker needs about {size(kept + smallest * copies)} for its forests and for partitions of "
        f"{size(smallest)}",
        f"{'write' if divide else 'read'} the edges in smaller {'row groups' if divide else 'partitions'}",
    )


def _forest(pieces: Pieces, columns: EdgeColumns, workers: int) -> int:
    """Return the bytes of a forest and of another one that is merged into it; 0 if they are not known."""
    ids = [*columns.source, *columns.target]
    ranges = [one for name in ids for one in pieces.bounds.get(name, ())]
    if len(columns.names) > 1 or not is_integer(columns.dtypes[0]) or not ranges:
        return 0
    low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
    if not is_dense(low, high, pieces.rows):
        return 0
    return memory_model.components_bytes(high - low + 1, 0, members=workers)
