"""PageRank on the host: iterations by pull, with sums that do not depend on the order of edges.

A contribution is the rank of a vertex divided by its degree, times :data:`ONE`, as a float. It is converted
to an integer when it is summed, because a sum of integers does not depend on the order. Ranks sum to 1, so
64 bits are enough, and a sum is exact to 2**-62 per edge. The conversion costs nothing: Numba vectorizes
the loop of a long row, but it must not vectorize a sum of floats.

This is not an edge program of :mod:`.advance.host`. There, the single load and add per edge would go
through three functions and would not be vectorized.
"""

from __future__ import annotations

import math

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.fixed_point import CHANGES, SUM
from dask_graphflow.kernels.host_atomics import fetch_add, scratch
from dask_graphflow.kernels.host_teams import OWN, begin, end, enter, together
from dask_graphflow.kernels.host_threads import MINI_CHUNK, even_turns, in_parts, run, take, worth
from dask_graphflow.kernels.scores.host import in_threads

from . import Ranks

ONE = 2.0**62
CHANGE = 2.0**60  # changes of ranks can add up to 2
LONG = 64  # edges from which on a row is summed by itself, vectorized
RUN = 512  # edges of short rows that are summed together
WHOLE_BITS = 62  # bits of a sum of weights as a whole number
# Where a team has the number of iterations so far, whether there is another one, and the two totals of the
# last one. Each total has a cache line.
DONE, AGAIN, CHANGED, DANGLED = OWN, OWN + 1, OWN + 8, OWN + 16


@inner
def _sum_row(ends, weights, contribution, start, stop):
    total = np.int64(0)
    if weights is None:
        for k in range(start, stop):
            total += np.int64(contribution[np.uint64(ends[k])])
    else:
        for k in range(start, stop):
            total += np.int64(contribution[np.uint64(ends[k])] * np.float64(weights[k]))
    return total


@inner
def _sum_short(offsets, ends, weights, contribution, running, sums, first, stop):
    """Set the sums of the rows `first` to ``stop - 1``, which have at most :data:`RUN` edges together.

    A sum is the difference of two running totals of all edges. These may wrap around, and the difference is
    still right. Without a loop per row, the processor does not have to guess where each row ends.
    """
    low, high = np.uint64(offsets[first]), np.uint64(offsets[stop])
    total = np.int64(0)
    for k in range(low, high):
        value = contribution[np.uint64(ends[k])]
        total += np.int64(value if weights is None else value * np.float64(weights[k]))
        running[k - low] = total
    before = np.int64(0)
    for row in range(first, stop):
        after = np.uint64(offsets[row + np.uint64(1)])
        here = running[after - low - np.uint64(1)] if after > low else np.int64(0)
        sums[row] = here - before
        before = here


@inner
def _sum_rows(offsets, ends, weights, contribution, running, sums, start, stop):
    """Set the sums of the rows `start` to ``stop - 1``."""
    one, row, last = np.uint64(1), np.uint64(start), np.uint64(stop)
    while row < last:
        first, low = row, np.uint64(offsets[row])
        high = np.uint64(offsets[row + one])
        if high - low >= np.uint64(LONG):
            sums[row] = _sum_row(ends, weights, contribution, low, high)
            row += one
            continue
        while row < last:
            after = np.uint64(offsets[row + one])
            if after - high >= np.uint64(LONG) or after - low > np.uint64(RUN):
                break
            high = after
            row += one
        _sum_short(offsets, ends, weights, contribution, running, sums, first, row)


@_compiled
def _sum(offsets, ends, weights, contribution, sums, ranges, part):
    every, running = np.int64(0), scratch(RUN, np.int64)
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        _sum_rows(offsets, ends, weights, contribution, running, sums, start, stop)
        for row in range(start, stop):
            every += sums[row]
        start, stop = take(ranges, part, MINI_CHUNK)
    return every


@inner
def _update(rows, ranks, restart, onward, factors, buffers, ranges, me):
    """Compute the ranks of the rows that this member takes, and what they contribute next."""
    (offsets, ends, weights), (rank, share_out, contribution, new) = rows, ranks
    (damping, restarts, dangled), (sums, running) = factors, buffers
    change, dangling, everywhere = np.int64(0), np.int64(0), restart.size == 1
    start, stop = take(ranges, me, MINI_CHUNK)
    while start < stop:
        _sum_rows(offsets[start:], ends, weights, contribution, running, sums, 0, stop - start)
        for v in range(start, stop):
            base = (restart[0] if everywhere else restart[v]) * restarts
            if onward is not None:
                base += onward[v] * dangled
            old = rank[v]
            rank[v] = base + damping * (sums[v - start] / ONE)
            change += np.int64(abs(rank[v] - old) * CHANGE)
            if share_out[v] == 0:
                dangling += np.int64(rank[v] * CHANGE)
            new[v] = rank[v] * share_out[v]
        start, stop = take(ranges, me, MINI_CHUNK)
    return change, dangling


@_compiled
def _iterate(rows, ranks, restarts, until, ranges, sinks, team, part):
    """Repeat an iteration with a team of threads; see :func:`iterate_until`.

    `sinks` has the sum of the ranks of vertices without outgoing edges, before the next iteration.
    """
    me, met = enter(team, part)
    if me < 0:
        return
    (rank, share_out, first, second), (restart, onward, damping) = ranks, restarts
    most, limit = until
    buffers = scratch(MINI_CHUNK, np.int64), scratch(RUN, np.int64)
    while True:
        if me == 0:
            done = team[DONE]
            if done:
                sinks[0] = team[DANGLED] / CHANGE
            team[AGAIN] = done == 0 or (done < most and not team[CHANGED] / CHANGE < limit)
            if team[AGAIN]:
                team[CHANGED] = team[DANGLED] = 0
                for i in range(ranges.shape[1]):
                    ranges[1, i] = ranges[0, i]
        begin(team, me, met)
        if not team[AGAIN]:
            return
        everywhere, dangled = 1.0 - damping, damping * sinks[0]
        if onward is None:
            everywhere, dangled = everywhere + dangled, 0.0
        now, new = first, second
        if team[DONE] % 2:
            now, new = second, first
        given = rank, share_out, now, new
        factors = damping, everywhere, dangled
        change, dangling = _update(rows, given, restart, onward, factors, buffers, ranges[1], me)
        fetch_add(team, np.intp(CHANGED), change)
        fetch_add(team, np.intp(DANGLED), dangling)
        _, met = end(team, me)
        if me == 0:
            team[DONE] += 1


@_compiled
def _sum_batch(offsets, ends, weights, contribution, sums, ranges, part):
    # Numba vectorizes the loops over columns only if they are written out here. They read four edges at a
    # time, because the reads of one edge would otherwise wait for those of the edge before.
    start, stop = take(ranges, part, MINI_CHUNK)
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    while start < stop:
        for row in range(start, stop):
            total = sums[row]
            total[:] = 0
            low, high = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
            last = high - (high - low) % four
            for k in range(low, last, four):
                a, b = contribution[np.uint64(ends[k])], contribution[np.uint64(ends[k + one])]
                c, d = (
                    contribution[np.uint64(ends[k + two])],
                    contribution[np.uint64(ends[k + three])],
                )
                if weights is None:
                    for j in range(total.size):
                        total[j] += (
                            np.int64(a[j]) + np.int64(b[j]) + np.int64(c[j]) + np.int64(d[j])
                        )
                else:
                    p, q = np.float64(weights[k]), np.float64(weights[k + one])
                    r, s = np.float64(weights[k + two]), np.float64(weights[k + three])
                    for j in range(total.size):
                        total[j] += np.int64(a[j] * p) + np.int64(b[j] * q)
                        total[j] += np.int64(c[j] * r) + np.int64(d[j] * s)
            for k in range(last, high):
                near = contribution[np.uint64(ends[k])]
                weight = 1.0 if weights is None else np.float64(weights[k])
                for j in range(total.size):
                    total[j] += np.int64(near[j] * weight)
        start, stop = take(ranges, part, MINI_CHUNK)


@_compiled
def _apply_batch(sums, rank, share_out, contribution, at, base, damping, totals, start, stop):
    change, dangling = totals[0], totals[1]
    for v in range(start, stop):
        now, share = rank[v], share_out[v]
        for j in range(at.size):
            old = now[j]
            now[j] = damping * (sums[v, j] / ONE)
            if at[j] == v:
                now[j] += base[j]
            change[j] += np.int64(abs(now[j] - old) * CHANGE)
            contribution[v, j] = now[j] * share
        if share == 0:
            for j in range(at.size):
                dangling[j] += np.int64(now[j] * CHANGE)


def readable(rows):
    return rows


def sum_contributions(rows, contribution, sums, totals, *, threads=1):
    totals.turn()
    parts = worth(threads, len(rows.ends))
    ranges = even_turns(len(rows.offsets) - 1, parts, rows.offsets)
    every = run(_sum, ranges, *rows[:3], contribution, sums)
    totals.now[SUM] = np.sum(every, dtype=np.int64)  # not used if it is 2**63 or more


@_compiled
def _row_totals(offsets, weights, totals):
    for row in range(totals.size):
        start, stop = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        largest = 0.0
        for k in range(start, stop):
            largest = max(largest, np.float64(weights[k]))
        bits = WHOLE_BITS - math.frexp(np.float64(stop - start))[1]
        power = bits - math.frexp(largest)[1]
        # In two steps, because the power of 2 itself can be out of range.
        half, rest = math.ldexp(1.0, power // 2), math.ldexp(1.0, power - power // 2)
        fine = math.ldexp(1.0, bits)
        high, low = np.int64(0), np.int64(0)
        for k in range(start, stop):
            value = np.float64(weights[k]) * half * rest
            whole = np.int64(value)
            high += whole
            low += np.int64((value - np.float64(whole)) * fine)
        totals[row] = math.ldexp(np.float64(high) + np.float64(low) / fine, -power)


def row_totals(rows):
    assert rows.weights is not None
    totals = np.empty(len(rows.offsets) - 1)
    _row_totals(rows.offsets, rows.weights, totals)
    return totals


@_compiled
def _shares(total, least, share_out, start, stop):
    unfit, sinks = 0, 0
    for v in range(start, stop):
        if total[v] == 0:
            share_out[v] = 0
            sinks += 1
            continue
        share_out[v] = ONE / total[v]
        if not (np.float64(share_out[v]) >= least and math.isfinite(share_out[v])):
            share_out[v] = math.nan
            unfit += 1
    return unfit, sinks


def shares(total, least, share_out, *, threads=1):
    parts = in_threads(
        lambda start, stop: _shares(total, least, share_out, start, stop), len(total), threads
    )
    unfit, sinks = (sum(part) for part in zip(*parts, strict=True))
    return unfit, sinks


def new_ranks(rank, share_out, wide):
    np.multiply(rank, share_out, out=wide[: len(rank)])
    return Ranks(rank, share_out, wide, np.empty_like(rank))


def iterate_until(
    rows, ranks, restart, onward, damping, dangling, totals, *, most, limit, threads=1
):
    dangled = dangling()
    totals.turn()
    if dangled is None:
        dangled = int(totals.before[CHANGES][1]) / CHANGE
    members = worth(threads, len(rows.ends))
    ranges = np.tile(even_turns(len(ranks.rank), members, rows.offsets), (2, 1))
    given = rows[:3], tuple(ranks), (restart, onward, float(damping)), (most, limit), ranges
    team = together(_iterate, members, *given, np.array([dangled], "float64"), own=24)
    totals.now[CHANGES] = team[CHANGED], team[DANGLED]
    if len(ranks.contribution) > len(ranks.spare):
        assert most == 1
        ranks.contribution[: len(ranks.spare)] = ranks.spare
    elif team[DONE] % 2:
        ranks = ranks._replace(contribution=ranks.spare, spare=ranks.contribution)
    return ranks, int(team[DONE])


def iterate(
    rows, ranks, restart, onward, damping, dangling, totals, *, publication=None, threads=1
):
    given = rows, ranks, restart, onward, damping, dangling, totals
    return iterate_until(*given, most=1, limit=0.0, threads=threads)[0]


def sum_batch(rows, contribution, sums, *, threads=1):
    ranges = even_turns(len(rows.offsets) - 1, threads, rows.offsets)
    run(_sum_batch, ranges, *rows[:3], contribution, sums)


def apply_batch(sums, rank, share_out, contribution, at, base, damping, *, threads=1):
    given = sums, rank, share_out, contribution, at, base, damping

    def apply(start: int, stop: int) -> np.ndarray:
        totals = np.zeros((2, len(at)), np.int64)
        _apply_batch(*given, totals, start, stop)
        return totals

    return np.sum(in_parts(apply, len(rank), threads, threads), axis=0)
