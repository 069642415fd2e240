"""Renumbering: map any ids to dense ones, exactly, without gathering all ids in one process.

Dense ids follow the order of the ids themselves. Each holder of ids sorts its own ids. A sample of these
gives *splitters* that cut the order into ranges. Each range has an owner, which merges the ids that the
holders have in this range, and numbers them. Therefore the smallest dense id of a component belongs to the
smallest id, and a result is sorted, whichever process held which ids. (Sample sort: Frazer and McKellar,
JACM 17, 1970.)

Ids are frames: one column per part of an id, one row per vertex.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dask_graphflow.exceptions import VertexTypeError
from dask_graphflow.kernels import distinct as distinct_kernels
from dask_graphflow.kernels import index_dtype, kernels_for

from . import dtypes
from .frames import are_integers, empty_like, is_pandas, one_column, stack

SAMPLE = 512  # sampled ids per holder, from which the splitters are chosen
SPARE_IDS = 1 << 22  # a range of fewer integer ids than this is dense, for any number of edges
BLOCK = 1 << 21  # rows that are numbered at a time
MANY = 1 << 16  # ids, below which pandas is as fast, and nothing has to be compiled
IDS_PER_EDGE = 4  # a longer range is dense if it has less than this many ids per edge


def is_dense(low: int, high: int, edges: int) -> bool:
    """Say whether an array entry for each integer id from `low` to `high` is worth its memory.

    Not all of these ids need occur.
    """
    return high < 2**63 and high - low < max(SPARE_IDS, IDS_PER_EDGE * edges)


def factorize(ids: Any) -> tuple[Any, Any]:
    """Number ids in order of appearance; return the codes, and a frame whose row i has code i."""
    names = list(ids.columns)
    series, keys = type(ids[names[0]]), dtypes.sortable(ids)
    try:
        codes, uniques = keys[names[0]].factorize()
        for name in names[1:]:
            # A pair of codes is a number below len(ids)**2: exact in 64 bits.
            more, values = keys[name].factorize()
            codes, _ = series(codes.astype("int64") * max(len(values), 1) + more).factorize()
    except TypeError as error:
        raise VertexTypeError(
            f"the ids in {names} cannot be hashed ({error}); ids are integers, strings or other values "
            "that can be hashed and sorted. Convert the column, for example with astype(str)"
        ) from error
    codes = codes.astype(index_dtype(len(ids)))
    if len(names) == 1 and keys is ids:
        return codes, type(ids)({names[0]: series(uniques, dtype=ids[names[0]].dtype)})
    first = series(codes).drop_duplicates().index
    return codes, ids.iloc[first].reset_index(drop=True)


class Numbers:
    """Numbers of the ids of some frames of equal length, in any order, block by block.

    Only the numbers of one block take memory. After the last block, `ids` is a frame of the distinct ids,
    and `places` has the row of each number there; None if it is the number itself.
    """

    def __init__(self, parts: Sequence[Any], *, threads: int) -> None:
        self._parts, self._threads = parts, threads
        self.ids: Any = None
        self.places: Any = None

    def blocks(self) -> Iterator[tuple[slice, list[Any], int]]:
        """Yield the rows of each block, the numbers of each part's ids, and how many numbers there are."""
        parts, rows = self._parts, len(self._parts[0])
        if not _are_many_integers(parts):
            codes, self.ids = distinct(parts, threads=self._threads)
            yield slice(rows), codes, len(self.ids)
            return
        columns = [part.iloc[:, 0].to_numpy() for part in parts]
        kernels = distinct_kernels.of(columns[0])
        numbering = kernels.numbering(rows * len(parts), threads=self._threads)
        for at in range(0, rows, BLOCK):
            block = slice(at, at + BLOCK)
            yield block, numbering.add([column[block] for column in columns]), numbering.taken
        found, self.places = numbering.in_order(columns[0].dtype)
        self.ids = one_column(found, parts[0])


def distinct(parts: Sequence[Any], *, threads: int) -> tuple[list[Any], Any]:
    """Number the ids of several frames like :func:`factorize`, but in any order.

    Returns the codes of each frame, and a frame whose row i has code i. Many integers on the host take less
    time than other ids, and are numbered by their order.
    """
    if not _are_many_integers(parts):
        codes, uniques = factorize(stack(parts))
        return _cut(codes, parts), uniques
    columns = [part.iloc[:, 0].to_numpy() for part in parts]
    codes, found = distinct_kernels.of(columns[0]).distinct(columns, threads=threads)
    return codes, one_column(found, parts[0])


def number(parts: Sequence[Any], *, threads: int) -> tuple[Any, list[Any]]:
    """Number the ids of several frames by their order; return the ids in order, and the numbers."""
    if len(parts[0].columns) == 1 and is_pandas(type(parts[0])):
        columns = [part.iloc[:, 0] for part in parts]
        if are_few_integers(columns):
            values, codes = number_few(columns)
            return one_column(values, parts[0]), codes
    codes, uniques = distinct(parts, threads=threads)
    if is_sorted(uniques):
        return uniques, codes
    ordered, places = sort(uniques)
    return ordered, [places[own] for own in codes]


def are_few_integers(columns: Sequence[Any]) -> bool:
    """Say whether columns of ids hold a few integers of one dtype of NumPy."""
    types = [column.dtype for column in columns]
    return are_integers(types) and len(set(types)) == 1 and sum(map(len, columns)) < MANY


def number_few(columns: Sequence[Any]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Do the same for columns of a few integers, in host memory.

    A frame would take longer to make than the numbers, and cuDF takes 20 ms, however few they are.
    """
    arrays = [column.to_numpy() for column in columns]
    values, codes = np.unique(np.concatenate(arrays), return_inverse=True)
    return values, _cut(codes.astype(index_dtype(len(codes))), arrays)


def _are_many_integers(parts: Sequence[Any]) -> bool:
    plain = len(parts[0].columns) == 1 and are_integers(parts[0].dtypes)
    return plain and sum(map(len, parts)) >= MANY and is_pandas(type(parts[0]))


def _order(ids: Any) -> tuple[Any, Any]:
    """Return ids in ascending order, and the original row of each."""
    ids = ids.reset_index(drop=True)
    try:
        keys = dtypes.sortable(ids)
        ordered = keys.sort_values(list(ids.columns))
    except TypeError as error:
        raise VertexTypeError(
            f"the ids in {list(ids.columns)} cannot be sorted ({error}), because they have several "
            "types. Convert the column, for example with astype(str)"
        ) from error
    order = kernels_for(ids).asarray(ordered.index.to_series())
    ordered = ordered if keys is ids else ids.iloc[order]
    return ordered.reset_index(drop=True), order


def _invert(order: Any, places: Any) -> Any:
    """Return `places`, which are in sorted order, in the original order of the rows."""
    result = places.copy()
    result[order] = places
    return result


def is_sorted(ids: Any) -> bool:
    """Say whether ids are known to be in ascending order, each once: those that are plain integers."""
    if len(ids.columns) > 1 or not are_integers(ids.dtypes) or not is_pandas(type(ids)):
        return False
    values = ids.iloc[:, 0].to_numpy()
    return bool((values[1:] > values[:-1]).all())


def sort(ids: Any) -> tuple[Any, Any]:
    """Sort ids that are unique; return them, and the new row of each original row."""
    ordered, order = _order(ids)
    places = kernels_for(ids).namespace.arange(len(ids), dtype=index_dtype(len(ids)))
    return ordered, _invert(order, places)


def merge(pieces: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Merge sorted frames of ids into one; return it, and the new row of each original row."""
    filled = [piece for piece in pieces if len(piece)]
    xp = kernels_for(pieces[0]).namespace
    if len(filled) < 2:
        ids = stack(filled or pieces[:1])
        return ids, [xp.arange(len(piece), dtype=index_dtype(len(piece))) for piece in pieces]
    ordered, order = _order(stack(filled))
    new = xp.zeros(len(ordered), bool)
    new[:1] = True
    for name in ordered.columns:
        column = ordered[name]
        before = column.iloc[:-1].reset_index(drop=True)
        differs = column.iloc[1:].reset_index(drop=True) != before
        new[1:] |= kernels_for(ordered).asarray(differs.astype("bool"))
    places = xp.cumsum(new).astype(index_dtype(len(ordered))) - 1
    uniques = ordered.iloc[xp.flatnonzero(new)].reset_index(drop=True)
    return uniques, _cut(_invert(order, places), pieces)


def union(pieces: Sequence[Any], *, threads: int = 1) -> tuple[Any, list[Any]]:
    """Merge frames of ids into one, in any order; return it, and the new row of each original row."""
    codes, uniques = distinct(pieces, threads=threads)
    return uniques, codes


def _cut(codes: Any, pieces: Sequence[Any]) -> list[Any]:
    """Cut an array into the parts that belong to each piece."""
    ends = itertools.accumulate(len(piece) for piece in pieces)
    return [codes[end - len(p) : end] for p, end in zip(pieces, ends, strict=True)]


def sample(ids: Any) -> Any:
    """Return evenly spaced rows of sorted ids."""
    return ids.iloc[:: max(1, len(ids) // SAMPLE)]


def splitters(samples: Sequence[Any], owners: int) -> Any:
    """Choose the ids that cut the order of all ids into one range per owner.

    Each holder gave evenly spaced rows of its ids; see :func:`sample`. There are fewer splitters if there
    are fewer ids.
    """
    if owners == 1:
        return empty_like(samples[0])
    ordered, _ = merge(samples)
    at = [len(ordered) * i // owners for i in range(1, owners)]
    return ordered.iloc[[i for i in at if i < len(ordered)]].reset_index(drop=True)


class _Rows(Sequence[tuple[Any, ...]]):
    """A frame as a sequence of comparable rows, read one at a time."""

    def __init__(self, frame: Any) -> None:
        self._columns = [frame[name] for name in frame.columns]
        self._length = len(frame)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, row: Any) -> Any:
        return tuple(column.iloc[row] for column in self._columns)


def piece(ids: Any, cuts: Any, owner: int) -> Any:
    """Return the part of sorted ids that is in one owner's range."""
    rows, marks = _Rows(ids), _Rows(cuts)

    def start(of: int) -> int:
        if of == 0:
            return 0
        return bisect_left(rows, marks[of - 1]) if of <= len(marks) else len(rows)

    return ids.iloc[start(owner) : start(owner + 1)]
