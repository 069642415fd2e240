"""Numbers for distinct integers, on the host.

One hash table of all integers is larger than the caches, so most of the time would be spent waiting for
memory. Here the integers are dealt to parts by their hash. The table of a part stays in the cache, and each
thread takes parts of its own (as in radix hash joins [1]_). The number of each integer is written over it,
and the numbers are taken back in the order in which the integers were dealt, so that all memory is read and
written in a few streams.

This is done block by block. A copy of a block stays in the cache that the cores share, and no copy of all
integers is made, which a new process would have to get from the operating system page by page. Integers
are numbered as they come, and at the end by their order.

.. [1] S. Manegold, P. Boncz, M. Kersten, "Optimizing Main-Memory Join on Modern Hardware", IEEE
   Transactions on Knowledge and Data Engineering 14(4), 2002.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.host_atomics import fetch_add
from dask_graphflow.kernels.host_blocks import in_blocks
from dask_graphflow.kernels.host_threads import TURN, in_parts, runs, share, worth

BLOCK = 1 << 22  # integers that are dealt at a time
PART = 1 << 16  # integers per part, on average
MOST_PARTS = 1 << 8  # with more parts, each write would miss the TLB
LEAST = 1 << 12  # slots of a part's table at first
RANGE = 256  # numbers that a part takes at a time


@inner
def _hash(value):
    return np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)


@inner
def _slot(value, table, keys):
    """Return the slot of an integer, or the free slot where it belongs."""
    mask = np.uint64(table.size - 1)
    # The highest bits are the same for the whole part, and the lowest ones are 0 for multiples of a large
    # power of 2. Such integers would all belong to a few slots.
    at = (_hash(_hash(value) >> np.uint64(32)) >> np.uint64(32)) & mask
    while table[at] >= 0 and keys[table[at]] != value:
        at = (at + np.uint64(1)) & mask
    return at


@_compiled
def _count(values, shift, counts):
    for i in range(values.size):
        counts[_hash(values[i]) >> shift] += 1


@_compiled
def _deal(values, shift, ends, dealt):
    """Write each integer behind those that its part has already."""
    for i in range(values.size):
        part = _hash(values[i]) >> shift
        dealt[ends[part]] = values[i]
        ends[part] += 1


@_compiled
def _number(dealt, first, table, keys, starts, own, taken):
    """Number a part's integers from `first` on, in the order in which they come, until its table is full.

    Each number is written over its integer. A part counts its integers in ``own[0]``, and its i-th one has
    the number ``starts[i // RANGE] + i % RANGE``. All parts have taken ``taken[0]`` numbers. Returns how
    many integers have a number.
    """
    for i in range(first, dealt.size):
        at = _slot(dealt[i], table, keys)
        if table[at] < 0:
            found = own[0]
            if found == keys.size:
                return i
            if found % RANGE == 0:
                starts[found // RANGE] = fetch_add(taken, np.intp(0), np.int64(RANGE))
            table[at] = found
            keys[found] = dealt[i]
            own[0] += 1
        index = np.uint64(table[at])
        dealt[i] = starts[index // np.uint64(RANGE)] + np.int64(index % np.uint64(RANGE))
    return dealt.size


@_compiled
def _fill(table, keys, found):
    """Let an empty table have the first `found` keys."""
    for i in range(found):
        table[_slot(keys[i], table, keys)] = i


@_compiled
def _take_back(values, shift, begins, dealt, codes):
    """Write the numbers of integers, in the order in which :func:`_deal` got these."""
    for i in range(values.size):
        part = _hash(values[i]) >> shift
        codes[i] = dealt[begins[part]]
        begins[part] += 1


@_compiled
def _rename(codes, names, start, stop):
    for i in range(start, stop):
        codes[i] = names[codes[i]]


class _Part:
    """The integers of a part that were found so far, and their numbers."""

    def __init__(self, taken: np.ndarray) -> None:
        self._table, self._keys = np.full(LEAST, -1, np.int32), np.empty(LEAST // 2, np.int64)
        self._starts = np.empty(-(-len(self._keys) // RANGE), np.int64)
        self._own, self._taken = np.zeros(TURN, np.int64), taken

    def number(self, dealt: np.ndarray) -> None:
        """Replace integers by their numbers."""
        done = 0
        while True:
            numbers = self._starts, self._own, self._taken
            done = _number(dealt, done, self._table, self._keys, *numbers)
            if done == len(dealt):
                return
            self._table = np.full(2 * len(self._table), -1, np.int32)
            self._keys = np.resize(self._keys, len(self._table) // 2)
            self._starts = np.resize(self._starts, -(-len(self._keys) // RANGE))
            _fill(self._table, self._keys, self._own[0])

    def found(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the integers and their numbers."""
        index = np.arange(self._own[0])
        return self._keys[: len(index)], self._starts[index // RANGE] + index % RANGE


class HostNumbering:
    """See :class:`.Numbering`."""

    def __init__(self, size: int, *, threads: int) -> None:
        self._taken, self._threads = np.zeros(TURN, np.int64), threads
        bits = min(max((size // PART).bit_length(), 1), MOST_PARTS.bit_length() - 1)
        self._parts = [_Part(self._taken) for _ in range(1 << bits)]
        self._dtype = index_dtype(size + RANGE * len(self._parts))
        self._dealt = np.empty(min(size, BLOCK), np.int64)

    @property
    def taken(self) -> int:
        """One more than the largest number so far."""
        return int(self._taken[0])

    def add(self, columns: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the number of each integer, column by column."""
        # Kernels take integers from 2**63 on as negative ones, which stay distinct.
        columns = [one.view("int64") if one.itemsize == 8 else one for one in columns]
        lengths, threads = [len(column) for column in columns], self._threads
        codes = [np.empty(length, self._dtype) for length in lengths]
        blocks = max(1, -(-sum(lengths) // BLOCK))
        every = runs(lengths, threads * blocks)
        for block in range(blocks):
            mine = every[block * threads : (block + 1) * threads]
            _number_block(columns, mine, self._parts, self._dealt, codes, threads)
        return codes

    def in_order(self, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the integers in order, and by number the index of each in this order."""
        keys, numbers = map(np.concatenate, zip(*(p.found() for p in self._parts), strict=True))
        found = keys.view("uint64" if dtype == "uint64" else "int64")
        order = np.argsort(found)
        places = np.zeros(self.taken, index_dtype(len(found)))
        places[numbers[order]] = np.arange(len(found), dtype=places.dtype)
        return found[order], places


numbering = HostNumbering


def distinct(columns, *, threads):
    numbers = numbering(sum(map(len, columns)), threads=threads)
    codes = numbers.add(columns)
    found, places = numbers.in_order(columns[0].dtype)

    def rename(column: np.ndarray) -> np.ndarray:
        parts = worth(threads, len(column))
        in_parts(lambda a, b: _rename(column, places, a, b), len(column), parts, threads)
        return column.astype(places.dtype, copy=False)

    return [rename(column) for column in codes], found


def _number_block(
    columns: Sequence[np.ndarray],
    mine: list[list[tuple[int, int, int]]],
    parts: list[_Part],
    dealt: np.ndarray,
    codes: list[np.ndarray],
    threads: int,
) -> None:
    """Write the numbers of a block of integers, of which each thread has some, as `codes`."""
    counts = np.zeros((threads, len(parts)), np.int64)
    shift = np.uint64(65 - len(parts).bit_length())

    def blocks(thread: int) -> Any:
        for column, *run in mine[thread]:
            for at, (values,) in in_blocks([columns[column]], ["int64"], *run):
                yield values, codes[column][at:]

    def count(thread: int) -> None:
        for values, _ in blocks(thread):
            _count(values, shift, counts[thread])

    share(count, threads, threads)
    # In the order of the parts, and within a part in the order of the integers.
    behind = np.cumsum(counts.T).reshape(len(parts), threads).T
    begins = np.ascontiguousarray(behind - counts)
    bounds, ends = [0, *behind[-1].tolist()], begins.copy()

    def deal(thread: int) -> None:
        for values, _ in blocks(thread):
            _deal(values, shift, ends[thread], dealt)

    def number(part: int) -> None:
        parts[part].number(dealt[bounds[part] : bounds[part + 1]])

    def take_back(thread: int) -> None:
        for values, out in blocks(thread):
            _take_back(values, shift, begins[thread], dealt, out)

    share(deal, threads, threads)
    share(number, len(parts), threads)
    share(take_back, threads, threads)
