"""Blocks of rows, for array code that would otherwise need memory for every edge."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from dask_graphflow.kernels import allocate_like, count_true, is_on_disk, joined
from dask_graphflow.kernels.csr import Rows

BLOCK = 1 << 22  # about the number of edges in a block


def blocks(rows: Rows, most: int | None = None) -> Iterator[tuple[slice, Any]]:
    """Yield the blocks of rows, and which edges they have.

    The offsets of a block begin at 0, and `first` is the vertex of its first row. A block has about `most`
    edges at most, but a row is never cut. By default, rows in memory are one block, and rows on disk are
    blocks of a fixed size.
    """
    if most is None and not is_on_disk(rows.ends):
        yield slice(0, len(rows.ends)), rows
        return
    stop = 0
    for low, high in pieces_of(rows.offsets, -(-len(rows.ends) // (most or BLOCK))):
        if low < high:
            part = rows.part(low, high)
            first, stop = stop, stop + len(part.ends)
            yield slice(first, stop), part


def pieces_of(offsets: Any, count: int) -> list[tuple[int, int]]:
    """Return the rows at which `count` pieces with about the same number of edges begin and end.

    A piece has no rows if a row before it has too many edges.
    """
    edges = [int(offsets[-1]) * i // count for i in range(1, count)]
    cuts = np.searchsorted(offsets, np.array(edges, "int64", like=offsets)).tolist()
    return list(itertools.pairwise([0, *cuts, len(offsets) - 1])) if count else []


def per_edge(rows: Rows, make: Callable[[Rows], Any]) -> Any:
    """Return an array with an entry per edge, where the rows are, from what `make` returns for blocks."""
    if not is_on_disk(rows.ends):
        return make(rows)
    made: Any = None
    for edges, block in blocks(rows):
        values = make(block)
        if made is None:
            made = allocate_like(rows.ends, len(rows.ends), values.dtype)
        made[edges] = values
    return make(rows) if made is None else made  # without an edge, there is no block


def collected(parts: Iterable[Any], like: Any, most: int) -> Any:
    """Return arrays of at most `most` entries, chosen from the blocks of rows, as one where `like` is."""
    if not is_on_disk(like):
        return joined(list(parts))
    made, size = allocate_like(like, most, like.dtype), 0
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
    made = [None if one is None else allocate_like(columns[0], size, one.dtype) for one in columns]
    for low in range(0, size, BLOCK):
        parts = [None if column is None else column[low : low + BLOCK] for column in columns]
        which = keep(parts)
        first, count = count, count + count_true(which)
        for part, into in zip(parts, made, strict=True):
            if into is not None:
                into[first:count] = part[which]  # type: ignore[index]
    return [None if column is None else column[:count] for column in made]
