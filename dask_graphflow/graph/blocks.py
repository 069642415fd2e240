"""Blocks of rows, for array code that would otherwise need memory for every edge.

Rows in memory are one block. Rows on disk are several, each with a bounded number of edges unless it is a
single row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from dask_graphflow.kernels import beside, is_on_disk, joined
from dask_graphflow.kernels.csr import Rows

BLOCK = 1 << 22  # about the number of edges in a block


def blocks(rows: Rows, most: int | None = None) -> Iterator[tuple[slice, Any]]:
    """Yield the blocks of rows, and which edges they have.

    The offsets of a block begin at 0, and `first` is the vertex of its first row. A block has up to `most`
    edges, or :data:`BLOCK` by default, unless it is a single row.
    """
    if not is_on_disk(rows.ends):
        yield slice(0, len(rows.ends)), rows
        return
    count, low, most = len(rows.offsets) - 1, 0, BLOCK if most is None else most
    while low < count:
        start = int(rows.offsets[low])
        high = int(np.searchsorted(rows.offsets, start + most, side="right")) - 1
        high = min(max(high, low + 1), count)
        edges = slice(start, int(rows.offsets[high]))
        weights = None if rows.weights is None else rows.weights[edges]
        offsets = rows.offsets[low : high + 1] - start
        yield edges, Rows(offsets, rows.ends[edges], weights, rows.first + low)
        low = high


def per_edge(rows: Rows, make: Callable[[Rows], Any]) -> Any:
    """Return an array with an entry per edge, where the rows are, from what `make` returns for blocks."""
    if not is_on_disk(rows.ends):
        return make(rows)
    made: Any = None
    for edges, block in blocks(rows):
        values = make(block)
        if made is None:
            made = beside(rows.ends, len(rows.ends), values.dtype)
        made[edges] = values
    return make(rows) if made is None else made  # without an edge, there is no block


def collected(parts: Iterable[Any], like: Any, most: int) -> Any:
    """Return what is chosen from the blocks of rows as one array, which is where `like` is.

    Parameters
    ----------
    parts : iterable of array
        One per block, of the dtype of `like`.
    like : array
        The ends of the rows.
    most : int
        Maximum number of all entries.
    """
    if not is_on_disk(like):
        return joined(list(parts))
    made, size = beside(like, most, like.dtype), 0
    for part in parts:
        made[size : size + len(part)] = part
        size += len(part)
    return made[:size]


def filtered(columns: Sequence[Any], keep: Callable[[Sequence[Any]], Any]) -> list[Any]:
    """Return only the entries of some columns for which ``keep(columns)`` is true, where they are.

    A column may be None. `keep` is called for parts of columns on disk.
    """
    if not is_on_disk(columns[0]):
        which = keep(columns)
        return [None if column is None else column[which] for column in columns]
    size, count = len(columns[0]), 0
    made = [None if one is None else beside(columns[0], size, one.dtype) for one in columns]
    for low in range(0, size, BLOCK):
        parts = [None if column is None else column[low : low + BLOCK] for column in columns]
        which = keep(parts)
        first, count = count, count + int(np.count_nonzero(which))
        for part, into in zip(parts, made, strict=True):
            if into is not None:
                into[first:count] = part[which]  # type: ignore[index]
    return [None if column is None else column[:count] for column in made]
