"""Rows: the edges of a graph grouped by source (CSR) or by target (CSC), made from an edge list.

Row ``i`` is ``ends[offsets[i]:offsets[i + 1]]``, the neighbors of vertex ``first + i`` in ascending order.
``weights`` has the same order as ``ends``.

Every edge is moved once into a bucket of adjacent rows, as a key made of its row within the bucket and its
column. A bucket and its copy fit into a core's cache, and are sorted there by counting, digit by digit.
The edge list is therefore read twice, and memory is written in one stream per bucket.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.kernels import aligned, index_dtype
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.disk import beside
from dask_graphflow.kernels.host_atomics import prefetch
from dask_graphflow.kernels.host_threads import (
    MINI_CHUNK,
    TURN,
    even_cuts,
    even_turns,
    in_parts,
    run,
    share,
    take,
)

BUCKET = 1 << 15  # average entries per bucket; with their copy they take a quarter of 1 MB of cache
MOST_BUCKETS = 1 << 12  # more write streams than this overflow a core's TLB
MOST_ROWS = 16  # maximum bits of a row's index in its bucket; each thread has one counter per row
BLOCK = 1 << 18  # ids that a thread counts at a time
DIGIT = 11  # maximum bits of a column to sort by at a time; the counters then stay in the L1 cache
POLICIES = ("keep", "sum", "min", "first")


@_compiled
def _count_ids(ids, start, stop, first, shift, counts):
    size, shift = np.uint64(counts.size), np.uint64(shift)
    for i in range(start, stop):
        at = np.uint64(ids[i] - first) >> shift
        if at < size:
            counts[at] += 1


# Edges of other members' vertices are counted in an extra bucket, and all of them are written to one place.
# They come in no particular order, so a branch would be mispredicted about half of the time.
@_compiled
def _count(out, into, start, stop, plan, counts):
    first, size, shift, both = plan.first, np.uint64(plan.size), np.uint64(plan.shift), plan.both
    beyond = np.uint64(counts.size - 1) << shift
    for edge in range(start, stop):
        row = np.uint64(np.int64(out[edge]) - first)
        counts[(row if row < size else beyond) >> shift] += 1
        if both and into[edge] != out[edge]:
            row = np.uint64(np.int64(into[edge]) - first)
            counts[(row if row < size else beyond) >> shift] += 1


# The code is repeated for each end, because calling a function would double the time of the whole pass.
@_compiled
def _scatter(ends, rows, weight, start, stop, plan, places, entries):
    (source, target), (out, into), (keys, carried) = ends, rows, entries
    first, size, both = plan.first, np.uint64(plan.size), plan.both
    shift, width = np.uint64(plan.shift), np.uint64(plan.width)
    beyond = np.uint64(places.size - 1) << shift
    inside = (np.uint64(1) << shift) - np.uint64(1)
    weighted = carried.size > 0
    for edge in range(start, stop):
        u, v = np.uint64(source[edge]), np.uint64(target[edge])
        row = np.uint64(np.int64(out[edge]) - first)
        bucket = (row if row < size else beyond) >> shift
        at = np.uint64(places[bucket])
        places[bucket] += row < size
        keys[at] = ((row & inside) << width) | v
        if weighted:
            carried[at] = weight[edge]
        if both and u != v:
            row = np.uint64(np.int64(into[edge]) - first)
            bucket = (row if row < size else beyond) >> shift
            at = np.uint64(places[bucket])
            places[bucket] += row < size
            keys[at] = ((row & inside) << width) | u
            if weighted:
                carried[at] = weight[edge]


@_inner
def _digits(keys, start, stop, width, bits, counts, row_counts):
    """Count the digits of the columns, and the rows; then replace each count by its start index."""
    for digit in range(counts.shape[0]):
        for i in range(counts.shape[1]):
            counts[digit, i] = 0
    for i in range(row_counts.size):
        row_counts[i] = 0
    columns = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    for i in range(np.uint64(start), np.uint64(stop)):
        key = np.uint64(keys[i])
        row_counts[key >> np.uint64(width)] += 1
        column = key & columns
        for digit in range(counts.shape[0]):
            counts[digit, column & mask] += 1
            column >>= np.uint64(bits)
    for digit in range(counts.shape[0]):
        at = np.int64(0)
        for i in range(counts.shape[1]):
            at, counts[digit, i] = at + counts[digit, i], at
    _begin(row_counts)


@_inner
def _begin(counts):
    at = np.int64(0)
    for i in range(counts.size):
        at, counts[i] = at + counts[i], at


@_inner
def _sort_by(entries, start, count, low, high, places, others, to):
    """Sort by the bits `low` to ``high - 1``, and write from index `to` on. The sort is stable."""
    (keys, carried), (new_keys, new_carried) = entries, others
    mask = (np.uint64(1) << np.uint64(high - low)) - np.uint64(1)
    low, to = np.uint64(low), np.uint64(to)
    for i in range(np.uint64(start), np.uint64(start + count)):
        at = (np.uint64(keys[i]) >> low) & mask
        place = np.uint64(places[at]) + to
        places[at] += 1
        new_keys[place] = keys[i]
        if carried.size:
            new_carried[place] = carried[i]


@_inner
def _write(entries, count, width, places, labels, made, to):
    """Sort by row, and write the ends and weights from index `to` on."""
    (keys, carried), (ends, weights) = entries, made
    mask, to = (np.uint64(1) << np.uint64(width)) - np.uint64(1), np.uint64(to)
    for i in range(count):
        key = np.uint64(keys[i])
        row = key >> np.uint64(width)
        place = np.uint64(places[row]) + to
        places[row] += 1
        end = key & mask
        ends[place] = labels[end] if labels.size else np.int64(end)
        if carried.size:
            weights[place] = carried[i]


@_inner
def _fold(offsets, stop, ends, weights, words, policy):
    """Merge edges with equal ends in each row, and move the rows to the left to close the gaps.

    `words` is None, or a view of integer weights as unsigned integers, which can wrap around. Returns the
    end of the last row, and the number of integer sums that do not fit their dtype. Wraparounds are
    counted, so that only the final value of a sum has to fit.
    """
    last = offsets[0]
    wraps, wrong = 0, 0
    for row in range(offsets.size):
        start, end = offsets[row], offsets[row + 1] if row + 1 < offsets.size else stop
        offsets[row] = last
        for i in range(start, end):
            if last > offsets[row] and ends[i] == ends[last - 1]:
                if weights.size and policy == 1:
                    if words is None:
                        weights[last - 1] += weights[i]
                    else:
                        before = weights[last - 1]
                        words[last - 1] += words[i]
                        if (weights[i] >= 0) != (weights[last - 1] >= before):
                            wraps += 1 if weights[i] >= 0 else -1
                elif weights.size and policy == 2 and weights[i] < weights[last - 1]:
                    weights[last - 1] = weights[i]
            else:
                wrong += wraps != 0
                wraps = 0
                ends[last] = ends[i]
                if weights.size:
                    weights[last] = weights[i]
                last += 1
    return last, wrong + (wraps != 0)


@_compiled
def _finish(entries, bounds, mine, plan, bits, policy, labels, made, work):
    """Sort the buckets `mine` into their rows; return the number of sums that do not fit.

    The arrays in `work` are work space. Allocating them here would take longer to compile.
    """
    (keys, carried), shift, width = entries, plan.shift, plan.width
    (offsets, ends, weights, words, left), (spares, counts, places) = made, work
    passes, wrong = counts.shape[0], 0
    begin = np.int64(0)  # Numba would compile another version for a literal 0
    for bucket in mine:
        start, stop = bounds[bucket], bounds[bucket + 1]
        count = stop - start
        _digits(keys, start, stop, width, bits, counts, places)
        first, last = bucket << shift, (bucket + 1) << shift
        last = last if last < offsets.size else offsets.size - 1
        for row in range(first, last):
            offsets[row] = places[row - first] + start
        # The last pass must end in the spare memory, because ends and weights can overwrite the bucket.
        spared = passes % 2 == 0
        if spared:
            for i in range(count):
                spares[0][i] = keys[start + i]
            if carried.size:
                for i in range(count):
                    spares[1][i] = carried[start + i]
        for digit in range(passes):
            low = digit * bits
            high = low + bits if low + bits < width else width
            if spared:
                _sort_by(spares, begin, count, low, high, counts[digit], entries, start)
            else:
                _sort_by(entries, start, count, low, high, counts[digit], spares, begin)
            spared = not spared
        _write(spares, count, width, places, labels, (ends, weights), start)
        # Numba removes this code if the policy is None. A member without vertices has buckets without rows.
        if policy is not None and first < last:
            stop, unfit = _fold(offsets[first:last], stop, ends, weights, words, policy)
            wrong += unfit
        left[bucket] = stop - start
    return wrong


@_compiled
def _owners(offsets, first, start, stop, out):
    for row in range(start, stop):
        for i in range(np.uint64(offsets[row]), np.uint64(offsets[row + 1])):
            out[i] = first + row


@_compiled
def _label(degrees, counts, labels):
    """Label vertices by descending degree, with a stable counting sort."""
    for degree in degrees:
        counts[counts.size - 1 - degree] += 1
    _begin(counts)
    for i in range(degrees.size):
        at = counts.size - 1 - degrees[i]
        labels[i] = counts[at]
        counts[at] += 1


@_compiled
def _relabel(rows, labels, names, new_rows, weights, new_weights, ranges, part):
    (offsets, ends, old), (new_offsets, new_ends) = rows, new_rows
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for row in range(start, stop):
            if row + 4 < stop:
                prefetch(ends, np.intp(offsets[np.int64(names[row + 4]) - old]))
            k = np.uint64(offsets[np.int64(names[row]) - old])
            for at in range(np.uint64(new_offsets[row]), np.uint64(new_offsets[row + 1])):
                new_ends[at] = labels[np.uint64(ends[k])]
                if weights is not None:
                    new_weights[at] = weights[k]
                k += np.uint64(1)
        start, stop = take(ranges, part, MINI_CHUNK)


def _name(ids: np.ndarray, labels: np.ndarray, start: int, stop: int, named: np.ndarray) -> None:
    """Look up labels block by block, because NumPy copies ids that do not have its index dtype."""
    for at in range(start, stop, BLOCK):
        block = slice(at, min(at + BLOCK, stop))
        labels.take(ids[block], out=named[block], mode="clip")  # other modes copy the output


def degrees(ids, *, first=0, count, threads=1):
    return count_all([ids], first=first, count=count, threads=threads)


def count_all(
    sides: Sequence[np.ndarray], *, first: int = 0, count: int, shift: int = 0, threads: int = 1
) -> np.ndarray:
    blocks = [(ids, at) for ids in sides for at in range(0, len(ids), BLOCK)]
    parts = max(1, min(threads, len(blocks), sum(map(len, sides)) // max(count, 1)))
    counts = np.zeros((parts, count), np.int64)

    def work(part: int) -> None:
        for ids, start in blocks[part::parts]:
            block = aligned(ids[start : start + BLOCK])
            _count_ids(block, 0, len(block), first, shift, counts[part])

    share(work, parts, threads)
    return counts[0] if parts == 1 else counts.sum(axis=0)  # type: ignore[no-any-return]


def degree_labels(degrees):
    labels = np.empty(len(degrees), index_dtype(len(degrees)))
    most = int(degrees.max(initial=0))
    if most > len(degrees):  # more counters than vertices
        labels[np.argsort(-degrees, kind="stable")] = np.arange(len(degrees), dtype=labels.dtype)
    else:
        _label(degrees, np.zeros(most + 1, np.int64), labels)
    return labels


def rows(
    source,
    target,
    weight=None,
    *,
    first=0,
    count,
    columns=None,
    labels=None,
    undirected=False,
    multi="keep",
    threads=1,
):
    columns = first + count if columns is None else columns
    sources, targets = _as_list(source), _as_list(target)
    weights = None if weight is None else _as_list(weight)
    entries = sum(map(len, sources)) * (2 if undirected else 1)
    if weights is not None:
        entries = entries * (4 + weights[0].itemsize) // 4
    shift, width = _key_bits(entries, count, columns)
    plan = _Plan(first, count, shift, width, undirected, max(1, threads))
    policy = POLICIES.index(multi) or None
    keys, carried, bounds = _into_buckets(sources, targets, weights, labels, plan)
    offsets, made, left = _into_rows(keys, carried, bounds, labels, policy, plan)
    del keys, carried
    if left.sum() < bounds[-1]:
        made = _without_gaps(offsets, made, bounds, left, plan)
    offsets[count] = len(made[0])
    return Rows(offsets, made[0], None if weight is None else made[1], first)


def key_bytes(entries: int, count: int, columns: int) -> int:
    """Return the bytes of the sort key of an entry, of which :func:`rows` has one per entry."""
    return 4 if sum(_key_bits(entries, count, columns)) <= 32 else 8


def _key_bits(entries: int, count: int, columns: int) -> tuple[int, int]:
    """Return the bits of a row's index in its bucket, and the bits of a column."""
    buckets = min(MOST_BUCKETS, max(1, entries // BUCKET))
    shift = max(0, (max(count, 1) - 1).bit_length() - (buckets - 1).bit_length())
    return min(shift, MOST_ROWS), max(1, (columns - 1).bit_length())


def _as_list(column: np.ndarray | list[np.ndarray]) -> list[np.ndarray]:
    return column if isinstance(column, list) else [column]


def no_such_sum(dtype: Any) -> WeightError:
    """Return the error for a sum of integer weights that does not fit their dtype."""
    return WeightError(
        f"multi='sum' adds the weights of several edges between the same two vertices, and a sum does "
        f"not fit {dtype}. Convert the weights with astype('float64'), which rounds sums beyond 2**53, "
        "or divide them by a common factor"
    )


class _Plan(NamedTuple):
    first: int
    size: int
    shift: int
    width: int
    both: bool
    threads: int


def _into_buckets(
    source: list[np.ndarray],
    target: list[np.ndarray],
    weight: list[np.ndarray] | None,
    labels: np.ndarray | None,
    plan: _Plan,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the keys of the edges by bucket, their weights, and the start index of each bucket."""
    threads = plan.threads
    runs = _runs([len(ids) for ids in source], threads)
    out, into = source, target
    if labels is not None:
        # Look up each label only once, because these reads are in random order.
        out, into = ([np.empty(len(ids), labels.dtype) for ids in source] for _ in range(2))

        def naming(i: int) -> None:
            for piece, start, stop in runs[i]:
                _name(source[piece], labels, start, stop, out[piece])
                _name(target[piece], labels, start, stop, into[piece])

        share(naming, threads, threads)

    buckets = -(-max(plan.size, 1) // (1 << plan.shift))
    counts = np.zeros((threads, buckets + 1), np.int64)

    def counting(i: int) -> None:
        for piece, *piece_run in runs[i]:
            for *columns, start, stop in _aligned(out[piece], into[piece], *piece_run):
                _count(*columns, start, stop, plan, counts[i])

    share(counting, threads, threads)
    counts[:, -1] = 0
    bounds = np.concatenate([[0], np.cumsum(counts.sum(axis=0)[:-1])])
    # Each part writes behind the parts before it, so equal edges stay in the order of the list.
    places = bounds + np.cumsum(counts, axis=0) - counts
    total = int(bounds[-1])
    places[:, -1] = total + TURN * np.arange(threads)  # a separate cache line per thread
    room = total + TURN * threads
    keys = np.empty(room, "uint32" if plan.width + plan.shift <= 32 else "uint64")
    payload = [np.empty(0)] * len(source) if weight is None else weight
    carried = np.empty(0 if weight is None else room, payload[0].dtype)

    def scattering(i: int) -> None:
        for piece, *piece_run in runs[i]:
            ends = source[piece], target[piece], out[piece], into[piece]
            for *four, weights, start, stop in _aligned(*ends, payload[piece], *piece_run):
                sides = (four[0], four[1]), (four[2], four[3])
                _scatter(*sides, weights, start, stop, plan, places[i], (keys, carried))

    share(scattering, threads, threads)
    return keys[:total], carried[:total], bounds


def _aligned(*run: Any) -> Iterator[tuple[Any, ...]]:
    """Yield arrays with start and stop. If some are not aligned, copy them and yield block by block."""
    *columns, start, stop = run
    apart = {id(column): column for column in columns if not column.flags.aligned}
    if not apart:
        yield run
        return
    # Allocate the copies once, because allocating memory for each block takes longer than copying it.
    copies = {key: np.empty(min(BLOCK, stop - start), apart[key].dtype) for key in apart}
    for at in range(start, stop, BLOCK):
        count = min(BLOCK, stop - at)
        for key, column in apart.items():
            copies[key][:count] = column[at : at + count]
        yield *(copies.get(id(column), column[at:]) for column in columns), 0, count


def _runs(lengths: Sequence[int], parts: int) -> list[list[tuple[int, int, int]]]:
    """Cut arrays, as if concatenated, into equal parts; return (array, start, stop) tuples per part."""
    begins = list(itertools.accumulate(lengths, initial=0))
    return [
        [
            (array, max(low - begin, 0), min(high, stop) - begin)
            for array, (begin, stop) in enumerate(itertools.pairwise(begins))
            if low < stop and begin < high
        ]
        for low, high in itertools.pairwise(even_cuts(begins[-1], parts))
    ]


def _into_rows(
    keys: np.ndarray,
    carried: np.ndarray,
    bounds: np.ndarray,
    labels: np.ndarray | None,
    policy: int | None,
    plan: _Plan,
) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    """Sort each bucket into its rows.

    Returns
    -------
    offsets : ndarray
        Start index of each row; the last entry is not set.
    columns : list of ndarray
        Ends and weights. There are gaps behind buckets in which edges were merged.
    left : ndarray
        Number of edges left in each bucket.
    """
    dtype = np.dtype(index_dtype(1 << plan.width))
    named = np.empty(0, dtype) if labels is None else labels
    offsets = np.empty(plan.size + 1, np.int64)
    # Weights overwrite the carried weights of their bucket. Ends overwrite its keys if they are as wide.
    ends = keys.view(dtype) if keys.itemsize == dtype.itemsize else np.empty(len(keys), dtype)
    weights = carried
    summed = policy is not None and weights.dtype.kind == "i"
    words = weights.view(f"u{weights.itemsize}") if summed else None
    left = np.empty(len(bounds) - 1, np.int64)
    # Start with the largest buckets, so that no thread gets one of them at the end.
    order = np.argsort(-np.diff(bounds), kind="stable")
    turns = [np.ascontiguousarray(order[i :: 4 * plan.threads]) for i in range(4 * plan.threads)]
    passes = -(-plan.width // DIGIT)
    bits = -(-plan.width // passes)

    def finishing(i: int) -> int:
        mine = turns[i]
        most = int((bounds[mine + 1] - bounds[mine]).max(initial=0))
        spares = np.empty(most, keys.dtype), np.empty(min(most, len(carried)), carried.dtype)
        counts = np.empty((passes, 1 << bits), np.int64)
        work = spares, counts, np.empty(1 << plan.shift, np.int64)
        made = offsets, ends, weights, words, left
        wrong: int = _finish((keys, carried), bounds, mine, plan, bits, policy, named, made, work)
        return wrong

    if any(share(finishing, len(turns), plan.threads)):
        raise no_such_sum(weights.dtype)
    return offsets, [ends, weights], left


def _without_gaps(
    offsets: np.ndarray,
    columns: list[np.ndarray],
    bounds: np.ndarray,
    left: np.ndarray,
    plan: _Plan,
) -> list[np.ndarray]:
    """Return columns without gaps, and adjust the offsets of the rows.

    `columns` is emptied, so that each column can be freed before the next one is copied.
    """
    starts = np.concatenate([[0], np.cumsum(left)])

    def move_rows(bucket: int) -> None:
        rows_ = slice(bucket << plan.shift, (bucket + 1) << plan.shift)
        offsets[rows_] += starts[bucket] - bounds[bucket]

    def closed(gapped: np.ndarray) -> np.ndarray:
        whole = np.empty(min(starts[-1], len(gapped)), gapped.dtype)  # there may be no weights

        def move(bucket: int) -> None:
            whole[starts[bucket] :][: left[bucket]] = gapped[bounds[bucket] :][: left[bucket]]

        share(move, len(left), plan.threads)
        return whole

    share(move_rows, len(left), plan.threads)
    return [closed(columns.pop(0)) for _ in range(len(columns))]


def relabelled(rows_, labels, *, places=None, first=0, count=None, threads=1):
    count = len(labels) - first if count is None else count
    names = np.empty_like(labels)
    names[labels] = np.arange(len(labels), dtype=labels.dtype)
    names = names[first : first + count]
    offsets = beside(rows_.ends, count + 1, np.int64)
    offsets[0], lengths = 0, rows_.offsets[1:][names]
    lengths -= rows_.offsets[:-1][names]
    np.cumsum(lengths, out=offsets[1:])
    del lengths
    to, dtype = (labels, rows_.ends.dtype) if places is None else (places, places.dtype)
    ends, weights = beside(rows_.ends, offsets[-1], dtype), None
    if rows_.weights is not None:
        weights = beside(rows_.ends, len(ends), rows_.weights.dtype)
    old, new = (rows_.offsets, rows_.ends, rows_.first), (offsets, ends)
    ranges = even_turns(count, threads, offsets)
    run(_relabel, ranges, old, to, names, new, rows_.weights, weights)
    return Rows(offsets, ends, weights, first)


def owners(rows_, dtype, *, threads=1):
    vertices = beside(rows_.ends, len(rows_.ends), dtype)
    parts, offsets, first = max(1, threads), rows_.offsets, rows_.first
    in_parts(lambda a, b: _owners(offsets, first, a, b, vertices), len(offsets) - 1, parts, threads)
    return vertices


def renamed(ids, names, *, threads=1):
    named = beside(ids, len(ids), names.dtype)
    parts = max(1, threads)
    in_parts(lambda low, high: _name(ids, names, low, high, named), len(ids), parts, threads)
    return named
