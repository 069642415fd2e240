"""Groups of neighbors on the host: the best one for each vertex, and the sums of weights between groups."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.disk import beside, file_of
from dask_graphflow.kernels.host_atomics import weight_at
from dask_graphflow.kernels.host_threads import TURN, even_turns, in_parts, share, take, turns
from dask_graphflow.kernels.read_ahead import in_order, portions, reading

CHUNK = 64  # vertices that a thread takes at a time
CLASSES = 8  # number of classes of vertices; the vertices of one class move at a time
SMALL = 1 << 15  # edges, below which one thread is faster than several
# The numbers of a sweep: where each class begins, where the vertices of the current class that can move
# end, and how many vertices moved so far.
END, MOVERS, NUMBERS = CLASSES + 1, CLASSES + 2, CLASSES + 3
# A sum of weights is between -2**62 and 2**62, and negative weights can cancel others. So this is added to
# the sum of each group in a list, which is then never 0.
LISTED = np.int64(1 << 62)
# What a call of `_sweep` does: a whole sweep; what has to be done in one thread between two classes, before
# the first and after the last one; find the best labels of the vertices in `ranges`; wake the neighbors of
# the vertices in `ranges`, which moved.
WHOLE, BETWEEN, BEST, WAKE = range(4)


@partial(_compiled, forceinline=True)
def _slot(label, mask, keys, sums):
    """Return the slot of a label in a hash table, or the free slot where it belongs."""
    # Fibonacci hashing, because labels are small and often consecutive numbers.
    at = (np.uint64(label) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
    while sums[at] and keys[at] != label:
        at = (at + np.uint64(1)) & mask
    return at


# This function is inlined, because a call per vertex is expensive compared to a short row.
@partial(_compiled, forceinline=True)
def _add(rows, v, labels, mask, table, groups):
    """Add the weights of a vertex's edges to the sums of its groups; return the number of groups."""
    (offsets, ends, weights), (keys, sums, slots) = rows, table
    for k in range(offsets[v], offsets[v + 1]):
        weight = weight_at(weights, k)
        if weight == 0:  # a sum of 0 is an empty slot
            continue
        label = labels[np.uint64(ends[k])]
        at = _slot(label, mask, keys, sums)
        if sums[at] == 0:
            keys[at] = label
            slots[groups] = at
            groups += 1
        sums[at] += weight
    return groups


@_compiled
def _heaviest(rows, other, vertices, labels, best_labels, table, ranges, part):
    offsets, (keys, sums, slots) = rows[0], table
    start, stop = take(ranges, part, CHUNK)
    while start < stop:
        for i in range(start, stop):
            v = i if vertices is None else vertices[i]
            edges = offsets[v + 1] - offsets[v]
            if other is not None:
                edges += other[0][v + 1] - other[0][v]
            size = 2
            while size < 2 * edges:
                size *= 2
            mask, groups = np.uint64(size - 1), 0
            groups = _add(rows, v, labels, mask, table, groups)
            if other is not None:
                groups = _add(other, v, labels, mask, table, groups)
            best, most = labels[v], 0
            for j in range(groups):
                at = slots[j]
                label, score = keys[at], sums[at]
                if score > most or (score == most and label < best):
                    best, most = label, score
                sums[at] = 0
            best_labels[i] = best
        start, stop = take(ranges, part, CHUNK)


def best_groups(
    sides, labels, vertices=None, masses=None, limits=None, skew=None, *, tables, threads=1
):
    costs: Any
    if vertices is None:
        costs = sum(rows.offsets for rows in sides)
        degrees = np.diff(costs)
    else:
        degrees = sum(rows.offsets[vertices + 1] - rows.offsets[vertices] for rows in sides)
        costs = np.concatenate([np.zeros(1, np.int64), np.cumsum(degrees)])
    best_labels = np.empty(len(degrees), labels.dtype)
    if not len(best_labels):
        return best_labels
    if masses is not None:
        every = np.arange(len(degrees)) if vertices is None else vertices
        _in_parts(sides[0], labels, masses, limits, skew, every, best_labels, tables, threads)
        return best_labels
    size = max(2, 1 << int(2 * degrees.max() - 1).bit_length())
    ranges = even_turns(len(best_labels), threads, costs)
    rows, other = sides[0][:3], None if len(sides) == 1 else sides[1][:3]

    def work(part: int) -> None:
        if part not in tables or len(tables[part][0]) < size:
            tables[part] = _table(size, labels.dtype)
        _heaviest(rows, other, vertices, labels, best_labels, tables[part], ranges, part)

    share(work, threads, threads)
    return best_labels


@inner
def _draw(awake, ranks, seed, order, cuts, drawn):
    """Sort the awake vertices by class, and set the bounds of the classes.

    `drawn` is work space: the class of each vertex.
    """
    for c in range(CLASSES + 1):
        cuts[c] = 0
    for v in range(awake.size):
        if awake[v]:
            # As in operators/priorities.py.
            x = (np.uint64(ranks[v]) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + seed
            x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            x = (x ^ (x >> np.uint64(31))) & np.uint64(CLASSES - 1)
            drawn[v] = x
            cuts[x + np.uint64(1)] += 1
    for c in range(CLASSES):
        cuts[c + 1] += cuts[c]
    for v in range(awake.size):
        if awake[v]:
            own = np.uint64(drawn[v])
            order[cuts[own]] = v
            cuts[own] += 1
    # Every class now begins where the next one should.
    for c in range(CLASSES, 0, -1):
        cuts[c] = cuts[c - 1]
    cuts[0] = 0


@inner
def _best(rows, labels, masses, limits, skew, vertices, best, start, stop, table):
    """Find the labels with the best scores, with the sum of each label in a dense array."""
    (offsets, ends, weights), (mass, load, factor), (sums, keys) = rows, masses, table
    within, closed = limits
    for i in range(start, stop):
        v = np.uint64(vertices[i])
        own = labels[v]
        groups = np.uint64(0)
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            if u == v:
                continue
            if within.size and within[u] != within[v]:
                continue
            weight = weights[k] if weights.size else np.int64(1)
            if weight == 0:
                continue
            # A branch for the first edge of a label would often be predicted wrongly.
            label = np.uint64(labels[u])
            before = sums[label]
            keys[groups] = label
            groups += np.uint64(before == 0)
            sums[label] = before + weight
        rate = factor * np.float64(mass[v])
        if skew is not None:
            skew_rate = factor * np.float64(skew[0][v])
        stay, best_label, most = np.int64(0), own, -np.inf
        for j in range(groups):
            label = keys[j]
            at = np.uint64(label)
            total = sums[at]
            if total == 0:  # negative weights have canceled others, or the label is listed twice
                continue
            if label == own:
                stay = total
            elif not within.size or not closed[at]:
                penalty = rate * np.float64(load[at])
                if skew is not None:
                    penalty -= skew_rate * np.float64(skew[1][at])
                score = np.float64(total) - penalty
                if score > most or (score == most and label < best_label):
                    best_label, most = label, score
            sums[at] = 0
        penalty = rate * np.float64(load[np.uint64(own)] - mass[v])
        if skew is not None:
            penalty -= skew_rate * np.float64(skew[1][np.uint64(own)] - skew[0][v])
        if not most > np.float64(stay) - penalty:
            best_label = own
        best[i] = best_label


@_compiled
def _best_of_part(rows, labels, masses, limits, skew, vertices, best, table, ranges, part):
    start, stop = take(ranges, part, CHUNK)
    while start < stop:
        _best(rows, labels, masses, limits, skew, vertices, best, start, stop, table)
        start, stop = take(ranges, part, CHUNK)


@inner
def _close(labels, masses, closed, order, low, high):
    """Close the labels of vertices that are alone, move these to the front, and return their end."""
    (mass, load, _), count = masses, low
    for i in range(low, high):
        v = order[i]
        if labels[v] == v and load[v] == mass[v]:
            closed[v] = True
            order[count] = v
            count += 1
    return count


@inner
def _apply(labels, masses, skew, closed, order, best, low, high, movers):
    """Move vertices to their best labels, and list those that moved after the first `movers` of `order`."""
    mass, load, _ = masses
    for i in range(low, high):
        v, label = order[i], best[i]
        if closed.size:
            closed[v] = False
        if label != labels[v]:
            load[labels[v]] -= mass[v]
            load[label] += mass[v]
            if skew is not None:
                skew[1][labels[v]] -= skew[0][v]
                skew[1][label] += skew[0][v]
            labels[v] = label
            order[movers] = v
            movers += 1
    return movers


@inner
def _wake_between(rows, labels, order, start, stop, awake):
    """Wake the neighbors of moved vertices that are in another group: only these can be better off now."""
    offsets, ends = rows
    for i in range(start, stop):
        v = np.uint64(order[i])
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
            u = np.uint64(ends[k])
            if labels[u] != labels[v]:
                awake[u] = 1


@inner
def _between_classes(labels, masses, limits, skew, draw, awake, room, c):
    """End the class before class `c`, whose vertices know their best labels, and begin class `c`."""
    order, best, numbers, drawn = room
    within, closed = limits
    if c == 0:
        _draw(awake, draw[0], draw[1], order, numbers, drawn)
        numbers[MOVERS] = 0
    else:
        low, high = numbers[c - 1], numbers[END]
        movers = _apply(labels, masses, skew, closed, order, best, low, high, numbers[MOVERS])
        numbers[MOVERS] = movers
    if c < CLASSES:
        numbers[END] = numbers[c + 1]
        if within.size:
            numbers[END] = _close(labels, masses, closed, order, numbers[c], numbers[c + 1])


@_compiled
def _sweep(rows, labels, masses, limits, skew, draw, awake, room, table, what, c, ranges, part):
    """Do a part of a sweep, or all of it in one thread; several kernels take longer to compile."""
    order, best, numbers, _ = room
    last = CLASSES + 1 if what == WHOLE else c + 1 if what != WAKE else c
    for now in range(c, last):
        if what != BEST:
            _between_classes(labels, masses, limits, skew, draw, awake, room, now)
        if what == BETWEEN or now == CLASSES:
            continue
        size = CHUNK
        if what == WHOLE:
            ranges[0], ranges[1], size = numbers[now], numbers[END], awake.size
        start, stop = take(ranges, part, size)
        while start < stop:
            _best(rows, labels, masses, limits, skew, order, best, start, stop, table)
            start, stop = take(ranges, part, size)
    if what == WAKE or (what == WHOLE and not limits[0].size):
        size = CHUNK
        if what == WHOLE:
            ranges[0], ranges[1], size = 0, numbers[MOVERS], awake.size
            for v in range(awake.size):
                awake[v] = 0
        start, stop = take(ranges, part, size)
        while start < stop:
            _wake_between(rows[:2], labels, order, start, stop, awake)
            start, stop = take(ranges, part, size)


def sweep(
    rows, labels, masses, draw, awake, within=None, skew=None, *, room, threads=1, shared=None
):
    count = len(labels)
    order, best = (_kept(room, name, count, labels.dtype) for name in ("order", "best"))
    numbers, drawn = np.empty(NUMBERS, np.int64), _kept(room, "drawn", count, "uint8")
    closed = np.empty(0, "bool") if within is None else _kept(room, "closed", count, "bool")
    limits = None if within is None else (within, closed)
    draw = draw[0], np.uint64(draw[1] % 2**64)
    about = labels, masses, _arrays(limits, labels), skew, draw, awake

    def call(read: Rows, order: Any, best: Any, what: int, c: int, ranges: Any, part: int) -> None:
        table, space = _dense(room, part, rows, count, labels.dtype), (order, best, numbers, drawn)
        _sweep(_with_weights(read), *about, space, table, what, c, ranges, part)

    def in_threads(vertices: np.ndarray, best: np.ndarray, what: int, c: int) -> None:
        parts = max(1, min(threads, len(vertices) // CHUNK))
        for read, ranges in portions(rows, vertices, even_turns(len(vertices), parts)):
            share(partial(call, read, vertices, best, what, c, ranges), parts, parts)

    alone = turns([0, 0]), 0
    if (threads == 1 or len(rows.ends) < SMALL) and file_of(rows.ends) is None:
        call(rows, order, best, WHOLE, 0, *alone)
        return int(numbers[MOVERS])
    for c in range(CLASSES):
        call(rows, order, best, BETWEEN, c, *alone)
        own = slice(numbers[c], numbers[END])
        in_threads(order[own], best[own], BEST, c)
    call(rows, order, best, BETWEEN, CLASSES, *alone)
    movers = int(numbers[MOVERS])
    if limits is None:
        awake[:] = 0
        in_threads(in_order(rows, order[:movers]), best, WAKE, 0)
    return movers


def _in_parts(
    rows: Rows,
    labels: Any,
    masses: Any,
    limits: Any,
    skew: Any,
    vertices: Any,
    best: Any,
    room: Any,
    threads: int,
) -> None:
    parts = max(1, min(threads, len(vertices) // CHUNK))
    about = labels, masses, _arrays(limits, labels), skew, vertices, best
    for read, ranges in portions(rows, vertices, even_turns(len(vertices), parts)):

        def work(part: int, read: Any = read, ranges: Any = ranges) -> None:
            table = _dense(room, part, rows, len(masses[1]), labels.dtype)
            _best_of_part(_with_weights(read), *about, table, ranges, part)

        share(work, parts, parts)


def _with_weights(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays of rows; no weights are an empty array, so that no kernel is compiled twice."""
    weights = np.empty(0, np.int64) if rows.weights is None else rows.weights
    return rows.offsets, rows.ends, weights


def _arrays(limits: Any, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return limits; none are empty arrays."""
    return (np.empty(0, labels.dtype), np.empty(0, "bool")) if limits is None else limits


def _dense(
    room: dict[Any, Any], part: int, rows: Rows, count: int, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return a thread's sum of each label, initially 0, and room for a list of labels and one more.

    A label is listed again after negative weights have canceled others, at most once per edge of a row.
    """
    listed = count
    if rows.weights is not None and len(rows.ends):
        listed = max(count, int(np.diff(rows.offsets).max()))
    return _kept(room, f"sums {part}", count, "int64"), _kept(
        room, f"keys {part}", listed + 1, dtype
    )


def _kept(room: dict[Any, Any], name: str, count: int, dtype: Any) -> np.ndarray:
    """Return an array of zeros, or an array of this name from an earlier call, which can be longer."""
    if name not in room or len(room[name]) < count or room[name].dtype != dtype:
        room[name] = np.zeros(count, dtype)
    return room[name]  # type: ignore[no-any-return]


def numbered(labels, load):
    has = load > 0
    numbers = np.cumsum(has, dtype=labels.dtype)
    numbers -= 1
    numbers[~has] = -1
    held = load[has]
    numbers = numbers.astype(index_dtype(len(held)), copy=False)[labels]
    numbers[labels < 0] = -1
    return numbers, held


@_compiled
def _members(number, starts, members):
    """Sort vertices by group, and set where the groups begin. `starts` is 0 at first."""
    for v in range(number.size):
        if number[v] >= 0:
            starts[number[v] + 1] += 1
    for a in range(starts.size - 1):
        starts[a + 1] += starts[a]
    for v in range(number.size):
        if number[v] >= 0:
            members[starts[number[v]]] = v
            starts[number[v]] += 1
    # Every group now begins where the next one should.
    for a in range(starts.size - 1, 0, -1):
        starts[a] = starts[a - 1]
    starts[0] = 0


@_compiled
def _sum(rows, number, groups_of, table, columns, at, sizes, ranges, part):
    """Write the rows of some groups; return where they end."""
    starts, members, low, high = groups_of
    (offsets, ends, weights), (sums, keys), (target, total) = rows, table, columns
    for a in range(low, high):
        ranges[part * TURN] = starts[a]
        groups = np.uint64(0)
        for i in range(starts[a], starts[a + 1]):
            v = np.uint64(members[i])
            for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + np.uint64(1)])):
                b = number[np.uint64(ends[k])]
                weight = weights[k] if weights.size else np.int64(1)
                if b == a or weight == 0:
                    continue
                before = sums[np.uint64(b)]
                new = before == 0
                keys[groups] = b
                groups += np.uint64(new)
                sums[np.uint64(b)] = before + weight + new * LISTED
        for j in range(groups):
            b = keys[j]
            target[at], total[at] = b, sums[np.uint64(b)] - LISTED
            sums[np.uint64(b)] = 0
            at += 1
        sizes[a + 1] = groups
    return at


def sums_between(rows, number, count, *, threads=1):
    offsets = rows.offsets
    number_of_own = number[: len(offsets) - 1]
    starts = np.zeros(count + 1, np.int64)
    members = np.empty(int(np.count_nonzero(number_of_own >= 0)), number.dtype)
    _members(number_of_own, starts, members)
    edges = np.zeros(len(members) + 1, np.int64)  # before each member
    np.take(np.diff(offsets), members, out=edges[1:], mode="clip")  # otherwise it makes a copy
    edges = np.cumsum(edges, out=edges)[starts]  # before each group
    parts = 1 if len(rows.ends) < SMALL else threads
    cuts = [0, *np.searchsorted(edges, edges[-1] * np.arange(1, parts) // parts).tolist(), count]
    bounds = edges[cuts].tolist()
    # Memory is used only where a part writes, which is much less than the number of edges.
    columns = beside(rows.ends, bounds[-1], number.dtype), beside(rows.ends, bounds[-1], np.int64)
    sizes = np.zeros(count + 1, np.int64)

    def work(part: int) -> slice:
        table = np.zeros(count, np.int64), np.empty(count + 1, number.dtype)
        mine = starts, members, cuts[part], cuts[part + 1]
        written = table, columns, bounds[part], sizes
        return slice(bounds[part], _sum(_with_weights(read), number, mine, *written, ranges, part))

    ranges = turns(starts[cuts].tolist())
    with reading(rows, members, ranges) as read:
        pieces = share(work, parts, parts)
    ends, weights = (_without_gaps(column, pieces) for column in columns)
    return Rows(np.cumsum(sizes), ends, weights, 0)


def _without_gaps(column: np.ndarray, pieces: list[slice]) -> np.ndarray:
    """Move pieces of an array to its beginning, in place, and free the memory behind them."""
    count = 0
    for piece in pieces:
        size = piece.stop - piece.start
        if piece.start > count:
            column[count : count + size] = column[piece]
        count += size
    if column.base is not None:  # on disk
        return column[:count]
    column.resize(count, refcheck=False)
    return column


@_compiled
def _between(rows, labels, start, stop):
    offsets, ends, weights = rows
    total = np.int64(0)
    for v in range(start, stop):
        own = labels[v]
        for k in range(np.uint64(offsets[v]), np.uint64(offsets[v + 1])):
            if labels[np.uint64(ends[k])] != own:
                total += weight_at(weights, np.int64(k))
    return total


def weight_between(rows, labels, *, threads=1):
    count = len(rows.offsets) - 1
    parts = threads if len(rows.ends) >= SMALL else 1
    return sum(
        in_parts(lambda low, high: int(_between(rows[:3], labels, low, high)), count, parts, parts)
    )


@_compiled
def _inside(offsets, ends, first, labels, source, target):
    count = 0
    for i in range(offsets.size - 1):
        v = first + i
        for k in range(np.uint64(offsets[i]), np.uint64(offsets[i + 1])):
            u = ends[k]
            if v < u and labels[np.uint64(u)] == labels[v]:
                source[count], target[count] = v, u
                count += 1
    return count


def edges_inside(rows, labels):
    source, target = np.empty_like(rows.ends), np.empty_like(rows.ends)
    count = _inside(rows.offsets, rows.ends, rows.first, labels, source, target)
    return source[:count], target[:count]


def _table(size: int, dtype: np.dtype[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a hash table: a key and a sum (initially 0) per slot, and room for a list of slots."""
    return np.empty(size, dtype), np.zeros(size, np.int64), np.empty(size // 2, np.uint64)
