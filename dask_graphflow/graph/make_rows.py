"""Rows from an edge list, in memory or on disk.

Edges on disk are first dealt to ranges of rows, each with a file that is written from its beginning to its
end. Then the rows of one range after another are made in memory, and written behind those before them. So
memory is needed for the edges of a range, however many edges there are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from dask_graphflow.comm.resources import Resources
from dask_graphflow.kernels import aligned, disk, index_dtype, on_device
from dask_graphflow.kernels import partition as partition_kernels
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.csr import Rows

SHIFT = 6  # a range consists of blocks of 2**6 vertices
PIECE = 1 << 22  # edges that are dealt at a time
ENTRY = 32  # bytes per entry of the rows of a range while they are made: ends, keys and weights
SCRATCH = 56  # most bytes per vertex that the four usual calls need
MOST = 1 << 8  # maximum number of ranges, each of which has an open file


def make_rows(
    source: Any,
    target: Any,
    weight: Any = None,
    *,
    first: int = 0,
    count: int,
    columns: int | None = None,
    undirected: bool = False,
    resources: Resources,
    folder: str | None = None,
    **how: Any,
) -> Rows:
    """Return the rows of an edge list; see :meth:`.RowsKernels.rows`.

    They are in a file of `folder`, or by default on disk if the edges are. `resources` are those of the
    member that makes them.
    """
    threads = resources.threads
    given = source, target, *(() if weight is None else (weight,))
    lists = [one if isinstance(one, list) else [one] for one in given]
    columns = first + count if columns is None else columns
    how |= {"columns": columns, "undirected": undirected, "threads": threads}
    # A short array can be in memory although the others are on disk.
    longest = max(lists[0], key=len)
    folder, kernels = folder or disk.folder_of(longest), rows_kernels.of(longest)
    if folder is None:
        if not on_device(longest):
            _check_room(resources, lists, count, columns, undirected)
        made: Rows = kernels.rows(source, target, weight, first=first, count=count, **how)
        return made
    sides = [*lists[0], *(lists[1] if undirected else ())]
    blocks = -(-count // (1 << SHIFT))
    entries = rows_kernels.count_all(sides, first=first, count=blocks, shift=SHIFT, threads=threads)
    cuts = _cuts(entries)
    owners = np.full(-(-columns // (1 << SHIFT)), len(cuts) - 1, np.int16)
    owners[first >> SHIFT :][:blocks] = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    # Linux cannot keep all of it in its cache.
    steadily = int(entries.sum()) * sum(one[0].itemsize for one in lists) > disk.budget()
    spools = [disk.Spool(folder, steadily=steadily) for _ in cuts[1:]]
    for piece in _pieces(lists, index_dtype(columns)):
        by = piece[0], piece[1] if undirected else None
        # Edges that belong to no range are not written: those of other members.
        split = partition_kernels.of(longest).parted(
            piece, *by, owners, len(cuts), shift=SHIFT, threads=threads, but=len(cuts) - 1
        )
        for spool, *arrays in zip(spools, *split, strict=False):
            for array in arrays:
                spool.append(array)
    disk.let_go()  # of the pages of the edges that were dealt
    offsets = disk.empty(count + 1, np.int64, folder)
    offsets[0] = 0
    written = [disk.Spool(folder, steadily=steadily) for _ in lists[1:]]
    for spool, (low, high) in zip(spools, itertools.pairwise(cuts), strict=True):
        low, high = low << SHIFT, min(high << SHIFT, count)
        arrays = spool.read_all()
        parts = [arrays[at :: len(lists)] for at in range(len(lists))]
        rows = kernels.rows(*parts, first=first + low, count=high - low, **how)
        offsets[low + 1 : high + 1] = offsets[low] + rows.offsets[1:]
        for into, column in zip(written, rows[1:3], strict=False):
            into.append(column)
    ends, *weights = (one.joined() for one in written)
    return Rows(offsets, ends, weights[0] if weights else None, first)


def rows_bytes(entries: float, count: float, columns: float, weight_bytes: int) -> float:
    """Return the bytes that rows in memory take while they are made: keys, ends, weights and offsets."""
    # Imports Numba, which importing the package does not.
    from dask_graphflow.kernels.rows import host as host_rows

    ends = np.dtype(index_dtype(int(columns))).itemsize
    key = host_rows.key_bytes(int(entries), int(count), int(columns))
    return entries * ((0 if key == ends else key) + ends + weight_bytes) + 8 * count


def _check_room(
    resources: Resources, lists: list[list[Any]], count: int, columns: int, undirected: bool
) -> None:
    """Check that rows in memory fit, beside the vertices' values that a call adds to them."""
    entries = sum(map(len, lists[0])) * (2 if undirected else 1)
    made = rows_bytes(entries, count, columns, sum(one[0].itemsize for one in lists[2:]))
    resources.check_step(
        made, lambda: resources.used() + 2 * made + SCRATCH * count, "make rows of its edges"
    )


def _cuts(entries: np.ndarray) -> list[int]:
    """Cut blocks into ranges, given the number of entries in the rows of each block."""
    most = max(1, disk.budget() // ENTRY, int(entries.sum()) // MOST)
    before, cuts = np.concatenate([[0], np.cumsum(entries)]), [0]
    while cuts[-1] < len(entries):
        after = int(np.searchsorted(before, before[cuts[-1]] + most, side="right")) - 1
        cuts.append(max(after, cuts[-1] + 1))
    return cuts if len(cuts) > 1 else [0, 0]


def _pieces(columns: list[list[Any]], index: str) -> Iterator[list[Any]]:
    """Yield parts of the arrays of several columns; the first two are vertices."""
    for arrays in zip(*columns, strict=True):
        for at in range(0, max(1, len(arrays[0])), PIECE):
            source, target, *weight = (array[at : at + PIECE] for array in arrays)
            ends = (side.astype(index, copy=False) for side in (source, target))
            yield aligned([*ends, *weight])
