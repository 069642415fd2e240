"""Rows: the edges of a graph grouped by source (CSR) or by target (CSC), made from an edge list.

Row ``i`` is ``ends[offsets[i]:offsets[i + 1]]``, the neighbors of vertex ``first + i`` in ascending order.
``weights`` has the same order as ``ends``.

Every edge is moved once into a bucket of adjacent rows, as a key made of its row within the bucket and its
column. A bucket and its copy fit into a core's cache, and are sorted there by counting, digit by digit.
The edge list is therefore read twice, and memory is written in one stream per bucket.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.kernels import index_dtype, joined
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.disk import beside
from dask_graphflow.kernels.host_atomics import prefetch
from dask_graphflow.kernels.host_blocks import in_blocks
from dask_graphflow.kernels.host_threads import (
    MINI_CHUNK,
    TURN,
    even_cuts,
    even_turns,
    in_parts,
    run,
    runs,
    share,
    take,
    worth,
)

BUCKET = 1 << 15  # average entries per bucket; with their copy they take a quarter of 1 MB of cache
MOST_BUCKETS = 1 << 12  # more write streams than this overflow a core's TLB
MOST_ROWS = 16  # maximum bits of a row's index in its bucket; each thread has one counter per row
CONVERTED = 1 << 21  # edges; converting more int64 takes longer than compiling kernels for it
BLOCK = 1 << 18  # ids that a thread counts at a time
LISTED = 8  # edges that are looked up and listed in the time that other passes take for an item
DIGIT = 11  # maximum bits of a column to sort by at a time; the counters then stay in the L1 cache
POLICIES = ("keep", "sum", "min", "first")
SUM, MIN = 1, 2


# Edges of other members' vertices are counted in an extra bucket, and all of them are written to one place.
# They come in no particular order, so a branch would be mispredicted about half of the time.
@_compiled
def _count(out, into, plan, counts):
    first, size, shift = plan.first, np.uint64(plan.size), np.uint64(plan.shift)
    beyond = np.uint64(counts.size - 1) << shift
    for edge in range(out.size):
        row = np.uint64(np.int64(out[edge]) - first)
        counts[(row if row < size else beyond) >> shift] += 1
        if plan.both and into[edge] != out[edge]:
            row = np.uint64(np.int64(into[edge]) - first)
            counts[(row if row < size else beyond) >> shift] += 1


@_compiled
def _scatter(ends, rows, weight, plan, places, entries):
    (source, target), (out, into), (keys, carried) = ends, rows, entries
    first, size, sides = plan.first, np.uint64(plan.size), 1 + plan.both
    shift, width = np.uint64(plan.shift), np.uint64(plan.width)
    beyond = np.uint64(places.size - 1) << shift
    inside = (np.uint64(1) << shift) - np.uint64(1)
    for edge in range(source.size):
        u, v = np.uint64(source[edge]), np.uint64(target[edge])
        one, other = np.int64(out[edge]), np.int64(into[edge])
        for _ in range(sides):
            row = np.uint64(one - first)
            bucket = (row if row < size else beyond) >> shift
            at = places[bucket]
            places[bucket] = at + np.uint64(row < size)
            keys[at] = ((row & inside) << width) | v
            if carried.size:
                carried[at] = weight[edge]
            if u == v:
                break
            u, v, one, other = v, u, other, one


@_inner
def _begin(counts, start, stop, at):
    """Replace some counts by start indices, from `at` on."""
    for i in range(start, stop):
        at, counts[i] = at + counts[i], at


@_inner
def _sort_by(keys, carried, start, stop, low, mask, places, base):
    """Move entries to the places that their digits from bit `low` on have in the same arrays."""
    for i in range(start, stop):
        key = np.uint64(keys[i])
        digit = base + (key >> low & mask)
        place = places[digit]
        places[digit] = place + np.uint64(1)
        keys[place] = key
        if carried.size:
            carried[place] = carried[i]


@_inner
def _write(entries, start, stop, width, places, labels, columns):
    """Write the ends and weights of sorted entries behind those that their rows have already."""
    (keys, carried), (ends, weights) = entries, columns
    mask = (np.uint64(1) << width) - np.uint64(1)
    for i in range(start, stop):
        key = np.uint64(keys[i])
        row, end = key >> width, key & mask
        place = places[row]
        places[row] = place + np.uint64(1)
        ends[place] = labels[end] if labels.size else np.int64(end)
        if carried.size:
            weights[place] = carried[i]


@_inner
def _are_in_order(keys, start, stop, width):
    """Say whether entries come in the order of their rows, or of their ends, as those of other rows do.

    Then they need no sort within their rows.
    """
    of_end, by_row, by_end = (np.uint64(1) << width) - np.uint64(1), True, True
    row = end = np.uint64(0)
    for i in range(start, stop):
        key = np.uint64(keys[i])
        by_row &= bool(key >= row)
        by_end &= bool(key & of_end >= end)
        if not (by_row or by_end):
            return False
        row, end = key, key & of_end
    return True


@_compiled
def _finish(entries, bounds, mine, plan, labels, made, spare, counts):
    """Sort the buckets `mine` into their rows: by each digit of the columns, and then by row.

    The last two arguments are work space. `spare` has room for two copies of a bucket, between which the
    entries move. Allocating it here would take longer to compile.
    """
    (keys, carried), (offsets, ends, weights), (places, digits) = entries, made, counts
    width, bits = np.uint64(plan.width), np.uint64(plan.bits)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    sizes, (moved, moved_carried) = mask + np.uint64(1), spare
    for bucket in mine:
        start, count = np.uint64(bounds[bucket]), np.uint64(bounds[bucket + 1] - bounds[bucket])
        passes = np.uint64(digits.size) >> bits
        if _are_in_order(keys, start, start + count, width):
            passes = np.uint64(0)
        for i in range(places.size):
            places[i] = 0
        for i in range(digits.size):
            digits[i] = 0
        for i in range(count):
            key = np.uint64(keys[start + i])
            moved[i] = key
            places[key >> width] += np.uint64(1)
            base = np.uint64(0)
            for _ in range(passes):
                digits[base + (key & mask)] += np.uint64(1)
                base += sizes
                key >>= bits
        if carried.size:
            for i in range(count):
                moved_carried[i] = carried[start + i]
        _begin(places, np.uint64(0), np.uint64(places.size), start)
        first = bucket << plan.shift
        last = first + places.size if first + places.size < plan.size else plan.size
        for row in range(first, last):
            offsets[row] = places[row - first]
        low, base, at, to = np.uint64(0), np.uint64(0), np.uint64(0), count
        for _ in range(passes):
            _begin(digits, base, base + sizes, to)
            _sort_by(moved, moved_carried, at, at + count, low, mask, digits, base)
            low, base, at, to = low + bits, base + sizes, to, at
        # Ends and weights can overwrite the bucket.
        _write(spare, at, at + count, width, places, labels, (ends, weights))


@_compiled
def _fold(offsets, bounds, mine, shift, policy, columns, words, left):
    """Merge edges with equal ends in each row of the buckets `mine`, and move the rows to the left.

    `words` is None, or a view of integer weights as unsigned integers, which can wrap around. Writes how
    many edges are left in each bucket, and returns the number of integer sums that do not fit their dtype.
    Wraparounds are counted, so that only the final value of a sum has to fit.
    """
    (ends, weights), wrong = columns, 0
    for bucket in mine:
        last = bounds[bucket]
        stop = min((bucket + 1) << shift, offsets.size - 1)
        for row in range(bucket << shift, stop):
            start, wraps = last, 0
            end = offsets[row + 1] if row + 1 < stop else bounds[bucket + 1]
            begin, offsets[row] = offsets[row], start
            for i in range(begin, end):
                if last > start and ends[i] == ends[last - 1]:
                    if policy == SUM and weights.size:
                        if words is None:
                            weights[last - 1] += weights[i]
                        else:
                            before = weights[last - 1]
                            words[last - 1] += words[i]
                            if (weights[i] >= 0) != (weights[last - 1] >= before):
                                wraps += 1 if weights[i] >= 0 else -1
                    elif policy == MIN and weights.size and weights[i] < weights[last - 1]:
                        weights[last - 1] = weights[i]
                else:
                    wrong += wraps != 0
                    wraps = 0
                    ends[last] = ends[i]
                    if weights.size:
                        weights[last] = weights[i]
                    last += 1
            wrong += wraps != 0
        left[bucket] = last - bounds[bucket]
    return wrong


@_compiled
def _owners(offsets, first, start, stop, out):
    for row in range(start, stop):
        for i in range(np.uint64(offsets[row]), np.uint64(offsets[row + 1])):
            out[i] = first + row


# Each edge is written, and overwritten by the next one unless it is kept. A branch would be mispredicted.
@_compiled
def _between(rows, chosen, start, stop, inside, later, at, found):
    (offsets, ends), (which, names), (vertices, entries) = rows, chosen, found
    at = np.uint64(at)
    for i in range(np.uint64(start), np.uint64(stop)):
        row, vertex = np.uint64(which[i]), names[i]
        least = np.uint64(vertex) if later else np.uint64(0)
        for k in range(np.uint64(offsets[row]), np.uint64(offsets[row + np.uint64(1)])):
            far = np.uint64(ends[k])
            vertices[at], entries[at] = vertex, k
            at += np.uint64(inside[far] & (far >= least))
    return at


@_compiled
def _label(degrees, counts, labels):
    """Label vertices by descending degree, with a stable counting sort."""
    for degree in degrees:
        counts[counts.size - 1 - degree] += np.uint64(1)
    _begin(counts, np.uint64(0), np.uint64(counts.size), np.uint64(0))
    for i in range(degrees.size):
        at = counts.size - 1 - degrees[i]
        labels[i] = counts[at]
        counts[at] += np.uint64(1)


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
    counts = np.zeros((parts, count + 1), np.int64)
    plan = _Plan(first, count << shift, shift, 0, 0, False)

    def work(part: int) -> None:
        for ids, start in blocks[part::parts]:
            dtype = "int32" if ids.dtype == "int32" else "int64"
            for _, (block,) in in_blocks([ids], [dtype], start, min(start + BLOCK, len(ids))):
                _count(block, block, plan, counts[part])

    share(work, parts, threads)
    return counts[0, :-1] if parts == 1 else counts[:, :-1].sum(axis=0)


def degree_labels(degrees):
    labels = np.empty(len(degrees), index_dtype(len(degrees)))
    most = int(degrees.max(initial=0))
    if most > len(degrees):  # more counters than vertices
        labels[np.argsort(-degrees, kind="stable")] = np.arange(len(degrees), dtype=labels.dtype)
    else:
        _label(degrees, np.zeros(most + 1, np.uint64), labels)
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
    threads = worth(threads, entries)
    bits = -(-width // -(-width // DIGIT))
    plan = _Plan(first, count, shift, width, bits, undirected)
    # Weights are moved as words, so that the kernels need not be compiled for each of their dtypes.
    words = weights and [part.view(f"u{part.itemsize}") for part in weights]
    keys, carried, bounds = _into_buckets(sources, targets, words, labels, plan, threads)
    numbers = carried if weights is None else carried.view(weights[0].dtype)
    offsets, made, left = _into_rows(
        (keys, carried), numbers, bounds, labels, plan, multi, threads=threads
    )
    del keys, carried, numbers
    if left is not None and left.sum() < bounds[-1]:
        made = _without_gaps(offsets, made, bounds, left, shift, threads)
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
    bits: int  # of a column that are sorted by at a time
    both: bool


def _into_buckets(
    source: list[np.ndarray],
    target: list[np.ndarray],
    weight: list[np.ndarray] | None,
    labels: np.ndarray | None,
    plan: _Plan,
    threads: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the keys of the edges by bucket, their weights, and the start index of each bucket."""
    threads = max(1, threads)
    mine = runs([len(ids) for ids in source], threads)
    out, into, index = source, target, index_dtype(1 << plan.width)
    if sum(map(len, source)) > CONVERTED and all(ids.dtype == "int64" for ids in source + target):
        index = "int64"
    of_rows = index if labels is None else labels.dtype
    if labels is not None:
        # Look up each label only once, because these reads are in random order.
        out, into = ([np.empty(len(ids), labels.dtype) for ids in source] for _ in range(2))

        def naming(i: int) -> None:
            for piece, start, stop in mine[i]:
                _name(source[piece], labels, start, stop, out[piece])
                _name(target[piece], labels, start, stop, into[piece])

        share(naming, threads, threads)

    buckets = -(-max(plan.size, 1) // (1 << plan.shift))
    counts = np.zeros((threads, buckets + 1), np.int64)

    def counting(i: int) -> None:
        for piece, *run_ in mine[i]:
            ends = out[piece], into[piece] if plan.both else out[piece]
            for _, columns in in_blocks(ends, [of_rows] * 2, *run_):
                _count(*columns, plan, counts[i])

    share(counting, threads, threads)
    counts[:, -1] = 0
    bounds = np.concatenate([[0], np.cumsum(counts.sum(axis=0)[:-1])])
    # Each part writes behind the parts before it, so equal edges stay in the order of the list.
    places = (bounds + np.cumsum(counts, axis=0) - counts).astype(np.uint64)
    total = int(bounds[-1])
    places[:, -1] = total + TURN * np.arange(threads)  # a separate cache line per thread
    room = total + TURN * threads
    keys = np.empty(room, "uint32" if plan.width + plan.shift <= 32 else "uint64")
    carried = np.empty(0, "uint64") if weight is None else np.empty(room, weight[0].dtype)

    def scattering(i: int) -> None:
        for piece, *run_ in mine[i]:
            ends = source[piece], target[piece], out[piece], into[piece]
            payload = [] if weight is None else [weight[piece]]
            dtypes = [index, index, of_rows, of_rows, *(part.dtype for part in payload)]
            for _, (s, t, o, n, *weights) in in_blocks([*ends, *payload], dtypes, *run_):
                words = weights[0] if weights else carried
                _scatter((s, t), (o, n), words, plan, places[i], (keys, carried))

    share(scattering, threads, threads)
    return keys[:total], carried[:total], bounds


def _into_rows(
    entries: tuple[np.ndarray, np.ndarray],
    weights: np.ndarray,
    bounds: np.ndarray,
    labels: np.ndarray | None,
    plan: _Plan,
    multi: str,
    *,
    threads: int,
) -> tuple[np.ndarray, list[np.ndarray], np.ndarray | None]:
    """Sort each bucket into its rows, and merge parallel edges if asked to.

    Parameters
    ----------
    entries : tuple of ndarray
        Keys, and weights as words.
    weights : ndarray
        The same weights in their own dtype, and the same memory.

    Returns
    -------
    offsets : ndarray
        Start index of each row; the last entry is not set.
    columns : list of ndarray
        Ends and weights. There are gaps behind buckets in which edges were merged.
    left : ndarray or None
        Number of edges left in each bucket, if parallel edges were merged.
    """
    keys, carried = entries
    dtype = np.dtype(index_dtype(1 << plan.width))
    named = np.empty(0, dtype) if labels is None else labels
    offsets = np.empty(plan.size + 1, np.int64)
    # Weights overwrite the carried weights of their bucket. Ends overwrite its keys if they are as wide.
    ends = keys.view(dtype) if keys.itemsize == dtype.itemsize else np.empty(len(keys), dtype)
    policy, left = POLICIES.index(multi), np.empty(len(bounds) - 1, np.int64)
    summed = policy == SUM and weights.dtype.kind == "i"
    words = weights.view(f"u{weights.itemsize}") if summed else None
    # Start with the largest buckets, so that no thread gets one of them at the end.
    order = np.argsort(-np.diff(bounds), kind="stable")
    parts = 1 if threads == 1 else 4 * threads
    digits = -(-plan.width // plan.bits) << plan.bits

    def finishing(part: int) -> int:
        mine, wrong = order[part::parts].copy(), 0
        most = int((bounds[mine + 1] - bounds[mine]).max(initial=0))
        spare = (
            np.empty(2 * most, keys.dtype),
            np.empty(min(2 * most, 2 * len(carried)), carried.dtype),
        )
        counts = np.empty(1 << plan.shift, np.uint64), np.empty(digits, np.uint64)
        # A bucket is merged while it is in the cache.
        for some in mine.reshape(-1, 1) if policy else [mine]:
            _finish(entries, bounds, some, plan, named, (offsets, ends, carried), spare, counts)
            if policy:
                wrong += _fold(
                    offsets, bounds, some, plan.shift, policy, (ends, weights), words, left
                )
        return wrong

    if any(share(finishing, parts, threads)):
        raise no_such_sum(weights.dtype)
    return offsets, [ends, weights], left if policy else None


def _without_gaps(
    offsets: np.ndarray,
    columns: list[np.ndarray],
    bounds: np.ndarray,
    left: np.ndarray,
    shift: int,
    threads: int,
) -> list[np.ndarray]:
    """Return columns without gaps, and adjust the offsets of the rows.

    `columns` is emptied, so that each column can be freed before the next one is copied.
    """
    starts = np.concatenate([[0], np.cumsum(left)])

    def move_rows(bucket: int) -> None:
        rows_ = slice(bucket << shift, (bucket + 1) << shift)
        offsets[rows_] += starts[bucket] - bounds[bucket]

    def closed(gapped: np.ndarray) -> np.ndarray:
        whole = np.empty(min(starts[-1], len(gapped)), gapped.dtype)  # there may be no weights

        def move(bucket: int) -> None:
            whole[starts[bucket] :][: left[bucket]] = gapped[bounds[bucket] :][: left[bucket]]

        share(move, len(left), threads)
        return whole

    share(move_rows, len(left), threads)
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
    parts, offsets, first = worth(threads, len(vertices)), rows_.offsets, rows_.first
    in_parts(lambda a, b: _owners(offsets, first, a, b, vertices), len(offsets) - 1, parts, threads)
    return vertices


def renamed(ids, names, *, threads=1):
    named = beside(ids, len(ids), names.dtype)
    parts = worth(threads, len(ids))
    in_parts(lambda low, high: _name(ids, names, low, high, named), len(ids), parts, threads)
    return named


def between(rows_, which, inside, *, names=None, later=False, threads=1):
    chosen = which, which if names is None else names
    room = np.zeros(len(which) + 1, np.int64)
    np.cumsum(rows_.offsets[which + 1] - rows_.offsets[which], out=room[1:])
    parts = worth(threads, room[-1] // LISTED)
    cuts = [0, *np.searchsorted(room, even_cuts(room[-1], parts)[1:-1]).tolist(), len(which)]
    # Each part has room for all of its edges. Only what it fills takes memory.
    vertices, entries = np.empty(room[-1], chosen[1].dtype), np.empty(room[-1], np.int64)

    def keep(part: int) -> slice:
        start, stop = cuts[part], cuts[part + 1]
        low = room[start]
        edges, found = (rows_.offsets, rows_.ends), (vertices, entries)
        return slice(low, _between(edges, chosen, start, stop, inside, later, low, found))

    kept = share(keep, parts, threads)
    return tuple(joined([column[one] for one in kept]) for column in (vertices, entries))
