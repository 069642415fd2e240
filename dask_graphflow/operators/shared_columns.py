"""Shared columns: wide columns of members whose devices share memory. A member writes to all mirrors.

A *wide* column has one entry per owned vertex, followed by one per mirror.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dask_graphflow.comm.mirrors import Mirrors
from dask_graphflow.comm.peers import SharedMemory
from dask_graphflow.graph.local_rows import Local

from .view import GraphView


class SharedColumns(NamedTuple):
    """What members share for the mirrors of some rows."""

    memory: SharedMemory
    mirrors: Any  # SharedMirrors: writes to the mirrors of this member's vertices
    marks: Any  # Column of uint64. A bitmap of masters and mirrors.
    wide: list[Any]  # wide columns, each a Column


def share_columns(
    g: GraphView, local: Local, mirrors: Mirrors, dtypes: Sequence[Any]
) -> SharedColumns | None:
    """Return wide columns with some dtypes, or None if members do not share memory. All members call it.

    The columns have the mirrors of the rows `local`. Their entries are arbitrary.
    """
    memory = g.member.shared_memory()
    if memory is None:
        return None
    begins = [local.owned + bound for bound in local.slot_bounds[:-1]]
    most, there = largest_of_all(memory, g.member.exchange.rank, local.size, begins)
    columns = memory.columns(("uint64", -(-most // 64)), *((dtype, most) for dtype in dtypes))
    if columns is None:
        return None
    to_mirrors = memory.mirrors(mirrors.mirrored, local.owned, there)
    return SharedColumns(memory, to_mirrors, columns[0], columns[1:])


def largest_of_all(
    memory: SharedMemory, rank: int, size: int, begins: Sequence[int]
) -> tuple[int, list[int]]:
    """Return the size of the largest wide column, and where this member's mirrors begin in each one.

    `begins` are where the mirrors of each member's vertices begin in a wide column of this member, of which
    `size` is the number of entries. All members call it.
    """
    members = memory.swap((size, begins))
    return max(size for size, _ in members), [there[rank] for _, there in members]
