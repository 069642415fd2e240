"""Numbers for distinct integers, on the host.

One hash table of all integers is larger than the caches, so most of the time is spent waiting for memory,
and one thread has to do it. Here some millions of integers at a time are dealt to parts by their hash. The
table of a part stays in the cache, and each thread takes parts of its own (as in radix hash joins [1]_).
Little memory is touched for the first time, which can take as long as the work.

.. [1] S. Manegold, P. Boncz, M. Kersten, "Optimizing Main-Memory Join on Modern Hardware", IEEE
   Transactions on Knowledge and Data Engineering 14(4), 2002.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.host_threads import even_cuts, in_parts, share

ROUND = 1 << 22  # integers that are dealt at a time
PART = 1 << 16  # integers per part, on average
MOST_PARTS = 1 << 8  # with more parts, each write would miss the TLB
LEAST = 1 << 10  # slots of a part's table at first


@inner
def _hash(value):
    return np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)


@inner
def _slot(value, table, keys):
    """Return the slot of an integer, or the free slot where it belongs."""
    mask = np.uint64(table.size - 1)
    at = (_hash(value) >> np.uint64(20)) & mask  # the highest bits are the same for the whole part
    while table[at] >= 0 and keys[table[at]] != value:
        at = (at + np.uint64(1)) & mask
    return at


@_compiled
def _count(values, first, last, shift, counts):
    for i in range(first, last):
        counts[_hash(values[i]) >> shift] += 1


@_compiled
def _deal(values, first, last, shift, ends, dealt, places):
    """Write each integer, and its place, behind those that its part has already."""
    for i in range(first, last):
        part = _hash(values[i]) >> shift
        at = ends[part]
        ends[part] = at + 1
        dealt[at] = values[i]
        places[at] = i


@_compiled
def _number(dealt, places, first, last, table, keys, found, codes):
    """Number a part's integers from 0, in the order in which they come.

    Returns the table, the distinct integers, and how many there are.
    """
    for i in range(first, last):
        value = dealt[i]
        at = _slot(value, table, keys)
        code = table[at]
        if code < 0:
            if 2 * (found + 1) > table.size:
                old = keys
                keys = np.empty(2 * old.size, old.dtype)
                table = np.full(2 * table.size, -1, table.dtype)
                for other in range(found):
                    keys[other] = old[other]
                    table[_slot(old[other], table, keys)] = other
                at = _slot(value, table, keys)
            code = table[at] = found
            keys[code] = value
            found += 1
        codes[places[i]] = code
    return table, keys, found


@_compiled
def _count_up(values, first, last, shift, before, codes):
    """Let the numbers of each part follow those of the parts before."""
    for i in range(first, last):
        codes[i] += before[_hash(values[i]) >> shift]


def distinct(values, *, threads):
    size = len(values)
    bits = min(max((size // PART).bit_length(), 1), MOST_PARTS.bit_length() - 1)
    parts, shift = 1 << bits, np.uint64(64 - bits)
    codes = np.empty(size, index_dtype(size))
    dealt, places = np.empty(min(size, ROUND), "int64"), np.empty(min(size, ROUND), "int32")
    tables = [
        (np.full(LEAST, -1, codes.dtype), np.empty(LEAST // 2, "int64"), 0) for _ in range(parts)
    ]
    for low in range(0, size, ROUND):
        some = slice(low, low + ROUND)
        bounds = _deal_round(values[some], parts, shift, dealt, places, threads)
        number = partial(_number_part, bounds, dealt, places, tables, codes[some])
        tables = share(number, parts, threads)
    found = [keys[:count] for _, keys, count in tables]
    before = np.cumsum([0, *map(len, found)])
    in_parts(
        lambda low, high: _count_up(values, low, high, shift, before, codes), size, threads, threads
    )
    return codes, np.concatenate(found)


def _deal_round(
    values: np.ndarray, parts: int, shift: Any, dealt: Any, places: Any, threads: int
) -> list[int]:
    """Deal integers and their places to parts; return where each part begins, and the last one ends."""
    cuts, counts = even_cuts(len(values), threads), np.zeros((threads, parts), np.int64)
    share(lambda t: _count(values, cuts[t], cuts[t + 1], shift, counts[t]), threads, threads)
    # In the order of the parts, and within a part in the order of the integers.
    behind = np.cumsum(counts.T).reshape(parts, threads).T
    ends = np.ascontiguousarray(behind - counts)
    share(
        lambda t: _deal(values, cuts[t], cuts[t + 1], shift, ends[t], dealt, places),
        threads,
        threads,
    )
    return [0, *behind[-1].tolist()]


def _number_part(
    bounds: list[int], dealt: Any, places: Any, tables: list[Any], codes: Any, part: int
) -> Any:
    return _number(dealt, places, bounds[part], bounds[part + 1], *tables[part], codes)
