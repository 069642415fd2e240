"""Numbers for distinct integers, on the host.

One hash table of all integers is larger than the caches, so most of the time is spent waiting for memory,
and one thread has to do it. Here integers are first dealt to parts by their hash. A part has few distinct
integers, so its table stays in the cache, and each thread takes parts of its own (as in radix hash joins
[1]_).

.. [1] S. Manegold, P. Boncz, M. Kersten, "Optimizing Main-Memory Join on Modern Hardware", IEEE
   Transactions on Knowledge and Data Engineering 14(4), 2002.
"""

from __future__ import annotations

import numpy as np

from . import index_dtype
from .compiling import compiled as _compiled
from .compiling import inner
from .host_threads import share

PART = 1 << 16  # integers per part, on average
MOST_PARTS = 1 << 10  # more parts than this would miss the TLB on every write
LEAST = 1 << 10  # slots of the table of a part at first


@inner
def _hash(value):  # type: ignore[no-untyped-def]
    return np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)


@_compiled
def _count(values, first, last, shift, counts):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        counts[_hash(values[i]) >> shift] += 1


@_compiled
def _deal(values, first, last, shift, ends, dealt, places):  # type: ignore[no-untyped-def]
    """Write each integer, and its place, behind those that its part has from this range already."""
    for i in range(first, last):
        part = _hash(values[i]) >> shift
        at = ends[part]
        ends[part] = at + 1
        dealt[at] = values[i]
        places[at] = i


@_compiled
def _number(dealt, first, last, codes, slots):  # type: ignore[no-untyped-def]
    """Number a part's integers from 0, and move each to the part's beginning once; return how many.

    The integers before `i` are the distinct ones so far, as there are at most as many of them.
    """
    found = 0
    table = np.full(slots, -1, codes.dtype)
    for i in range(first, last):
        value = dealt[i]
        mask = np.uint64(table.size - 1)
        # The highest bits are the same for the whole part.
        at = (_hash(value) >> np.uint64(20)) & mask
        while table[at] >= 0 and dealt[first + table[at]] != value:
            at = (at + np.uint64(1)) & mask
        if table[at] < 0:
            dealt[first + found] = value
            table[at] = found
            found += 1
            if 2 * found > table.size:
                table = np.full(2 * table.size, -1, codes.dtype)
                mask = np.uint64(table.size - 1)
                for code in range(found):
                    near = (_hash(dealt[first + code]) >> np.uint64(20)) & mask
                    while table[near] >= 0:
                        near = (near + np.uint64(1)) & mask
                    table[near] = code
            codes[i] = found - 1
        else:
            codes[i] = table[at]
    return found


@_compiled
def _place(codes, places, first, last, before, placed):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        placed[places[i]] = codes[i] + before


def distinct(values: np.ndarray, *, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Number integers: equal ones get the same number.

    The numbers do not depend on `threads`.

    Parameters
    ----------
    values : ndarray of int64, shape (n,)
    threads : int

    Returns
    -------
    codes : ndarray of int32 or int64, shape (n,)
        The number of each integer.
    found : ndarray of int64, shape (d,)
        Each integer once; the one at index i has the number i.
    """
    size = len(values)
    bits = min(max((size // PART).bit_length(), 1), MOST_PARTS.bit_length() - 1)
    parts, shift = 1 << bits, np.uint64(64 - bits)
    cuts = [size * thread // threads for thread in range(threads + 1)]
    counts = np.zeros((threads, parts), np.int64)
    share(lambda t: _count(values, cuts[t], cuts[t + 1], shift, counts[t]), threads, threads)
    # In the order of parts, and within a part in the order of the integers.
    behind = np.cumsum(counts.T).reshape(parts, threads).T
    ends = np.ascontiguousarray(behind - counts)
    bounds = [0, *behind[-1].tolist()]

    dealt, dtype = np.empty_like(values), index_dtype(size)
    places, codes, placed = (np.empty(size, dtype) for _ in range(3))
    share(
        lambda t: _deal(values, cuts[t], cuts[t + 1], shift, ends[t], dealt, places),
        threads,
        threads,
    )
    found = share(lambda p: _number(dealt, bounds[p], bounds[p + 1], codes, LEAST), parts, threads)
    before = [0, *np.cumsum(found).tolist()]
    share(
        lambda p: _place(codes, places, bounds[p], bounds[p + 1], before[p], placed),
        parts,
        threads,
    )
    return placed, np.concatenate(
        [dealt[first : first + count] for first, count in zip(bounds[:-1], found, strict=True)]
    )
