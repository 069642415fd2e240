"""Groups of neighbors on the host: the best one for each vertex, and the sums of weights between groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from . import joined
from .compiling import compiled as _compiled
from .csr import Rows
from .host_threads import even_turns, share, take

__all__ = ["best_groups", "sums_between"]

CHUNK = 64  # vertices that a thread takes at a time


# These two functions are inlined, because a call per vertex is expensive compared to a short row. If an
# argument is None, its branch is left out of the compiled code.
@partial(_compiled, forceinline=True)
def _add(  # type: ignore[no-untyped-def]
    offsets, ends, weights, v, labels, within, bounded, mask, keys, sums, slots, groups
):  # fmt: skip
    """Add the weights of a vertex's edges to the sums of its groups; return the number of groups."""
    for k in range(offsets[v], offsets[v + 1]):
        u = ends[k]
        if within is not None and (u == v or (bounded and within[u] != within[v])):
            continue
        weight = 1
        if weights is not None:
            weight = weights[k]
            if weight == 0:  # a sum of 0 is an empty slot
                continue
        label = labels[np.uint64(u)]
        # Fibonacci hashing, because labels are small and often consecutive numbers.
        at = (np.uint64(label) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
        while sums[at] and keys[at] != label:
            at = (at + np.uint64(1)) & mask
        if sums[at] == 0:
            keys[at] = label
            slots[groups] = at
            groups += 1
        sums[at] += weight
    return groups


@partial(_compiled, forceinline=True)
def _best_score(  # type: ignore[no-untyped-def]
    own, v, mass, load, factor, closed, bounded, keys, sums, slots, groups
):  # fmt: skip
    """Return the label with the largest score, and reset all sums to 0."""
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
def _best(  # type: ignore[no-untyped-def]
    offsets, ends, weights, other, vertices, labels, mass, load, factor, within, closed, bounded, found,
    table, ranges, part,
):  # fmt: skip
    keys, sums, slots = table
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
            groups = _add(
                offsets, ends, weights, v, labels, within, bounded, mask, keys, sums, slots, groups
            )
            if other is not None:
                groups = _add(*other, v, labels, within, bounded, mask, keys, sums, slots, groups)
            if mass is None:
                best, most = own, 0
                for j in range(groups):
                    at = slots[j]
                    label, score = keys[at], sums[at]
                    if score > most or (score == most and label < best):
                        best, most = label, score
                    sums[at] = 0
                found[i] = best
            else:
                found[i] = _best_score(
                    own, v, mass, load, factor, closed, bounded, keys, sums, slots, groups
                )
        start, stop = take(ranges, part, CHUNK)


def best_groups(
    sides: Sequence[Rows],
    labels: np.ndarray,
    vertices: np.ndarray | None = None,
    masses: tuple[np.ndarray, np.ndarray, float] | None = None,
    limits: tuple[np.ndarray, np.ndarray] | None = None,
    *,
    known: dict[int, Any],
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
    known : dict
        Keeps the hash table of each thread between calls on the same rows.
    threads : int
        Threads to use.

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
    found = np.empty(len(degrees), labels.dtype)
    if not len(found):
        return found
    size = max(2, 1 << int(2 * degrees.max() - 1).bit_length())
    ranges = even_turns(len(found), threads, costs)
    rows, other = (sides[0][:3], None) if len(sides) == 1 else (side[:3] for side in sides)
    rule: tuple[Any, ...] = (None,) * 6
    if masses is not None:
        bounds = (labels, np.zeros(1, bool), False) if limits is None else (*limits, True)
        rule = *masses, *bounds

    def work(part: int) -> None:
        if part not in known or len(known[part][0]) < size:
            known[part] = _table(size, labels.dtype)
        _best(*rows, other, vertices, labels, *rule, found, known[part], ranges, part)

    share(work, threads, threads)
    return found


@_compiled
def _sum(  # type: ignore[no-untyped-def]
    offsets,
    ends,
    weights,
    weighted,
    vertices,
    number,
    place,
    low,
    high,
    table,
    source,
    target,
    total,
    at,
):
    """Sum the weights of some rows by the groups of both ends; return the number of sums."""
    keys, sums, slots = table
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
                weight = weights[k] if weighted else 1
                if weight == 0:  # a sum of 0 is an empty slot
                    continue
                slot = (np.uint64(b) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
                while sums[slot] and keys[slot] != b:
                    slot = (slot + np.uint64(1)) & mask
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
    threads : int
        Threads to use.

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
    found = (
        np.empty(bounds[-1], number.dtype), np.empty(bounds[-1], number.dtype),
        np.empty(bounds[-1], np.int64),
    )  # fmt: skip
    weighted = rows.weights is not None
    weights = rows.weights if weighted else costs[:1]
    most = int(min(number.max(initial=-1) + 1, _most_edges(number[vertices], costs)))

    def work(part: int) -> int:
        table = _table(max(2, 1 << max(2 * most - 1, 0).bit_length()), number.dtype)
        return _sum(  # type: ignore[no-any-return]
            rows.offsets, rows.ends, weights, weighted, vertices, number, place, cuts[part],
            cuts[part + 1], table, *found, bounds[part],
        )  # fmt: skip

    counts = share(work, parts, parts)
    taken = [slice(low, low + size) for low, size in zip(bounds, counts, strict=False)]
    source, target, sums = (joined([side[part] for part in taken]) for side in found)
    return source, target, sums


def _most_edges(groups: np.ndarray, costs: np.ndarray) -> int:
    """Return the largest number of edges of a group, given the group and the first edge of each vertex."""
    starts = costs[:-1][np.append(True, groups[1:] != groups[:-1])[: len(groups)]]
    return int(np.diff(starts, append=costs[-1]).max(initial=0))


def _table(size: int, dtype: np.dtype[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a hash table: a key and a sum (initially 0) per slot, and room for a list of slots."""
    return np.empty(size, dtype), np.zeros(size, np.int64), np.empty(size // 2, np.uint64)
