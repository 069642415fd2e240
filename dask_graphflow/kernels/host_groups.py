"""Groups of neighbors on the host: the best one for each vertex, and the sums of weights between groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from . import joined
from .compiling import compiled as _compiled
from .csr import Rows
from .host_atomics import weight_at
from .host_threads import even_turns, share, take

CHUNK = 64  # vertices that a thread takes at a time


@partial(_compiled, forceinline=True)
def _slot(label, mask, keys, sums):  # type: ignore[no-untyped-def]
    """Return the slot of a label in a hash table, or the free slot where it belongs."""
    # Fibonacci hashing, because labels are small and often consecutive numbers.
    at = (np.uint64(label) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
    while sums[at] and keys[at] != label:
        at = (at + np.uint64(1)) & mask
    return at


# These two functions are inlined, because a call per vertex is expensive compared to a short row. If an
# argument is None, its branch is left out of the compiled code.
@partial(_compiled, forceinline=True)
def _add(rows, v, labels, rule, mask, table, groups):  # type: ignore[no-untyped-def]
    """Add the weights of a vertex's edges to the sums of its groups; return the number of groups."""
    (offsets, ends, weights), (keys, sums, slots) = rows, table
    if rule is not None:
        _, _, _, within, _, bounded = rule
    for k in range(offsets[v], offsets[v + 1]):
        u = ends[k]
        if rule is not None and (u == v or (bounded and within[u] != within[v])):
            continue
        weight = weight_at(weights, k)
        if weight == 0:  # a sum of 0 is an empty slot
            continue
        label = labels[np.uint64(u)]
        at = _slot(label, mask, keys, sums)
        if sums[at] == 0:
            keys[at] = label
            slots[groups] = at
            groups += 1
        sums[at] += weight
    return groups


@partial(_compiled, forceinline=True)
def _best_score(own, v, rule, table, groups):  # type: ignore[no-untyped-def]
    """Return the label with the largest score, and reset all sums to 0."""
    (mass, load, factor, _, closed, bounded), (keys, sums, slots) = rule, table
    rate = factor * np.float64(mass[v])
    stay, best, most = np.int64(0), own, -np.inf
    for j in range(groups):
        at = slots[j]
        label = keys[at]
        if label == own:
            stay = sums[at]
        elif not (bounded and closed[label]):
            score = np.float64(sums[at]) - rate * np.float64(load[label])
            if score > most or (score == most and label < best):
                best, most = label, score
        sums[at] = 0
    if not most > np.float64(stay) - rate * np.float64(load[own] - mass[v]):
        return own
    return best


@_compiled
def _best(rows, other, vertices, labels, rule, best_labels, table, ranges, part):  # type: ignore[no-untyped-def]
    offsets, (keys, sums, slots) = rows[0], table
    start, stop = take(ranges, part, CHUNK)
    while start < stop:
        for i in range(start, stop):
            v = i if vertices is None else vertices[i]
            edges = offsets[v + 1] - offsets[v]
            if other is not None:
                edges += other[0][v + 1] - other[0][v]
            own = labels[v]
            size = 2
            while size < 2 * edges:
                size *= 2
            mask, groups = np.uint64(size - 1), 0
            groups = _add(rows, v, labels, rule, mask, table, groups)
            if other is not None:
                groups = _add(other, v, labels, rule, mask, table, groups)
            if rule is None:
                best, most = own, 0
                for j in range(groups):
                    at = slots[j]
                    label, score = keys[at], sums[at]
                    if score > most or (score == most and label < best):
                        best, most = label, score
                    sums[at] = 0
                best_labels[i] = best
            else:
                best_labels[i] = _best_score(own, v, rule, table, groups)
        start, stop = take(ranges, part, CHUNK)


def best_groups(
    sides: Sequence[Rows],
    labels: np.ndarray,
    vertices: np.ndarray | None = None,
    masses: tuple[np.ndarray, np.ndarray, float] | None = None,
    limits: tuple[np.ndarray, np.ndarray] | None = None,
    *,
    tables: dict[int, Any],
    threads: int = 1,
) -> np.ndarray:
    """Return the best label for each of some vertices.

    Without masses, this is the label whose neighbors have the largest sum of weights, and the smallest one
    if there is a tie. A self-loop counts: its vertex is its own neighbor. A vertex without neighbors keeps
    its label.

    With masses, the score of a label is the sum of the weights of a vertex's edges to other vertices with
    that label, minus ``factor * mass * load``. For the vertex's own label, its mass is first subtracted
    from the load. If the largest score is greater than the score of its own label, the vertex takes the
    smallest label with that score.

    Parameters
    ----------
    sides : sequence of 1 or 2 Rows
        Rows of all vertices. With two, the neighbors are those of both rows of a vertex. Weights are int64
        and at least 0, or None for 1 each. An edge with weight 0 does not count.
    labels : ndarray of integers, shape (masters + mirrors,)
    vertices : ndarray of integers, shape (f,), optional
        Rows, without duplicates. Defaults to all rows.
    masses : tuple, optional
        The mass of each vertex (int64, shape (masters,)), the load of each label (int64, the total mass of
        its vertices), and the factor (float). Sums of weights and loads are whole numbers below 2**62, so
        that scores do not depend on the order of edges. Masses require a single side.
    limits : tuple, optional
        Only with masses. The first item is an array of the dtype of `labels`, shape (masters + mirrors,).
        Neighbors whose value there differs from that of the vertex do not count. The second item is an
        array of bool: the labels that no vertex takes.
    tables : dict
        Keeps the hash table of each thread between calls on the same rows.

    Returns
    -------
    ndarray of the dtype of `labels`, shape (f,)
    """
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
    size = max(2, 1 << int(2 * degrees.max() - 1).bit_length())
    ranges = even_turns(len(best_labels), threads, costs)
    rows, other = sides[0][:3], None if len(sides) == 1 else sides[1][:3]
    rule = None
    if masses is not None:
        bounds = (labels, np.zeros(1, bool), False) if limits is None else (*limits, True)
        rule = *masses, *bounds

    def work(part: int) -> None:
        if part not in tables or len(tables[part][0]) < size:
            tables[part] = _table(size, labels.dtype)
        _best(rows, other, vertices, labels, rule, best_labels, tables[part], ranges, part)

    share(work, threads, threads)
    return best_labels


@_compiled
def _sum(rows, vertices, number, place, low, high, table, columns, at):  # type: ignore[no-untyped-def]
    """Sum the weights of some rows by the groups of both ends; return the number of sums."""
    (offsets, ends, weights), (keys, sums, slots), (source, target, total) = rows, table, columns
    count, first = 0, low
    while first < high:
        a = number[vertices[first]]
        last, edges = first, 0
        while last < high and number[vertices[last]] == a:
            edges += offsets[vertices[last] + 1] - offsets[vertices[last]]
            last += 1
        size = 2
        while size < 2 * edges and size < keys.size:
            size *= 2
        mask = np.uint64(size - 1)
        groups = 0
        for i in range(first, last):
            v = vertices[i]
            for k in range(offsets[v], offsets[v + 1]):
                u = ends[k]
                b = number[u]
                if b < a or (b == a and place[u] < place[v]):
                    continue
                weight = weight_at(weights, k)
                if weight == 0:  # a sum of 0 is an empty slot
                    continue
                slot = _slot(b, mask, keys, sums)
                if sums[slot] == 0:
                    keys[slot] = b
                    slots[groups] = slot
                    groups += 1
                sums[slot] += weight
        for j in range(groups):
            slot = slots[j]
            source[at + count], target[at + count], total[at + count] = a, keys[slot], sums[slot]
            sums[slot] = 0
            count += 1
        first = last
    return count


def sums_between(
    rows: Rows, number: np.ndarray, place: np.ndarray, *, threads: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sums of the weights of edges between groups of vertices.

    Parameters
    ----------
    rows : Rows
        Rows of an undirected graph: each edge is in the rows of both of its ends. Weights are int64, or
        None for 1 each.
    number : ndarray of int32 or int64, shape (masters + mirrors,)
        Group of each vertex, from 0 on. Negative for vertices that only have edges of weight 0.
    place : ndarray of integers, shape (masters + mirrors,)
        A number per vertex that no other vertex has, on any member.

    Returns
    -------
    source, target : ndarray of the dtype of `number`
        Pairs of groups, where the source is at most the target. A pair can occur more than once.
    sums : ndarray of int64
        Nonzero sums of weights. Each edge is counted once across all members.
    """
    count = len(rows.offsets) - 1
    vertices = np.argsort(number[:count])
    costs = np.zeros(count + 1, np.int64)
    np.cumsum(np.diff(rows.offsets)[vertices], out=costs[1:])
    parts = max(1, threads)
    cuts = [0, *np.searchsorted(costs, costs[-1] * np.arange(1, parts) // parts).tolist(), count]
    bounds = costs[cuts].tolist()
    columns = (
        np.empty(bounds[-1], number.dtype), np.empty(bounds[-1], number.dtype),
        np.empty(bounds[-1], np.int64),
    )  # fmt: skip
    most = int(min(number.max(initial=-1) + 1, _most_edges(number[vertices], costs)))

    def work(part: int) -> int:
        table = _table(max(2, 1 << max(2 * most - 1, 0).bit_length()), number.dtype)
        about = vertices, number, place, cuts[part], cuts[part + 1]
        return _sum(rows[:3], *about, table, columns, bounds[part])  # type: ignore[no-any-return]

    counts = share(work, parts, parts)
    taken = [slice(low, low + size) for low, size in zip(bounds, counts, strict=False)]
    source, target, sums = (joined([side[part] for part in taken]) for side in columns)
    return source, target, sums


def _most_edges(groups: np.ndarray, costs: np.ndarray) -> int:
    """Return the largest number of edges of a group, given the group and the first edge of each vertex."""
    starts = costs[:-1][np.append(True, groups[1:] != groups[:-1])[: len(groups)]]
    return int(np.diff(starts, append=costs[-1]).max(initial=0))


def _table(size: int, dtype: np.dtype[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a hash table: a key and a sum (initially 0) per slot, and room for a list of slots."""
    return np.empty(size, dtype), np.zeros(size, np.int64), np.empty(size // 2, np.uint64)
