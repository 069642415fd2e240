"""Numbers for distinct integers, on the host.

One hash table of all integers is larger than the caches, so most of the time would be spent waiting for
memory. Here the integers are dealt to parts by their hash. The table of a part stays in the cache, and each
thread takes parts of its own (as in radix hash joins [1]_). The number of each integer is written over it,
and the numbers are taken back in the order in which the integers were dealt, so that all memory is read and
written in a few streams.

.. [1] S. Manegold, P. Boncz, M. Kersten, "Optimizing Main-Memory Join on Modern Hardware", IEEE
   Transactions on Knowledge and Data Engineering 14(4), 2002.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.host_blocks import in_blocks
from dask_graphflow.kernels.host_threads import runs, share

PART = 1 << 16  # integers per part, on average
MOST_PARTS = 1 << 8  # with more parts, each write would miss the TLB
LEAST = 1 << 12  # slots of a part's table at first


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
def _number(dealt, first, table, keys, found):
    """Number a part's integers from `first` on, in the order in which they come, until the table is full.

    Each number is written over its integer. Returns how many integers have a number, and how many are
    distinct.
    """
    for i in range(first, dealt.size):
        at = _slot(dealt[i], table, keys)
        if table[at] < 0:
            if found == keys.size:
                return i, found
            table[at] = found
            keys[found] = dealt[i]
            found += 1
        dealt[i] = table[at]
    return dealt.size, found


@_compiled
def _fill(table, keys, found):
    """Let an empty table have the first `found` keys."""
    for i in range(found):
        table[_slot(keys[i], table, keys)] = i


@_compiled
def _rename(dealt, names):
    for i in range(dealt.size):
        dealt[i] = names[dealt[i]]


@_compiled
def _take_back(values, shift, begins, dealt, codes):
    """Write the numbers of integers, in the order in which :func:`_deal` got these."""
    for i in range(values.size):
        part = _hash(values[i]) >> shift
        codes[i] = dealt[begins[part]]
        begins[part] += 1


def distinct(columns, *, names=None, threads):
    # Integers from 2**63 on become negative, and stay distinct.
    columns = [one.view("int64") if one.itemsize == 8 else one for one in columns]
    lengths = [len(column) for column in columns]
    size = sum(lengths)
    bits = min(max((size // PART).bit_length(), 1), MOST_PARTS.bit_length() - 1)
    parts, shift, mine = 1 << bits, np.uint64(64 - bits), runs(lengths, threads)
    counts = np.zeros((threads, parts), np.int64)

    def count(thread: int) -> None:
        for column, *run in mine[thread]:
            for _, (values,) in in_blocks([columns[column]], ["int64"], *run):
                _count(values, shift, counts[thread])

    share(count, threads, threads)
    # In the order of the parts, and within a part in the order of the integers.
    behind = np.cumsum(counts.T).reshape(parts, threads).T
    begins = np.ascontiguousarray(behind - counts)
    bounds, dealt, ends = [0, *behind[-1].tolist()], np.empty(size, "int64"), begins.copy()

    def deal(thread: int) -> None:
        for column, *run in mine[thread]:
            for _, (values,) in in_blocks([columns[column]], ["int64"], *run):
                _deal(values, shift, ends[thread], dealt)

    def number(part: int) -> np.ndarray:
        return _number_part(dealt[bounds[part] : bounds[part + 1]])

    share(deal, threads, threads)
    keys = share(number, parts, threads)
    found, before = np.concatenate(keys), np.cumsum([0, *map(len, keys)]).tolist()
    dtype = index_dtype(len(found))
    new = np.arange(len(found), dtype=dtype) if names is None else names(found)
    codes = [np.empty(length, dtype) for length in lengths]

    def rename(part: int) -> None:
        _rename(dealt[bounds[part] : bounds[part + 1]], new[before[part] : before[part + 1]])

    def take_back(thread: int) -> None:
        for column, *run in mine[thread]:
            for at, (values,) in in_blocks([columns[column]], ["int64"], *run):
                _take_back(values, shift, begins[thread], dealt, codes[column][at:])

    share(rename, parts, threads)
    share(take_back, threads, threads)
    return codes, found


def _number_part(dealt: np.ndarray) -> np.ndarray:
    """Replace a part's integers by numbers from 0; return the distinct integers."""
    table, keys = np.full(LEAST, -1, "int32"), np.empty(LEAST // 2, "int64")
    done, found = _number(dealt, 0, table, keys, 0)
    while done < len(dealt):
        table = np.full(2 * len(table), -1, "int32")
        keys, old = np.empty(len(table) // 2, "int64"), keys
        keys[:found] = old
        _fill(table, keys, found)
        done, found = _number(dealt, done, table, keys, found)
    return keys[:found].copy()
