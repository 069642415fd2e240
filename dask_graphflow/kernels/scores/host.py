"""Scores computed from sums along edges, and sums over all vertices that have the same bits in every order.

A sum over vertices has two parts, which are whole multiples of a coarse and of a fine unit; see
:mod:`.fixed_point`. The parts of an iteration stay where the scores are until a caller reads them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner
from dask_graphflow.kernels.fixed_point import (
    CHANGES,
    HIGH,
    LOW,
    MIDDLE,
    MOST,
    SLOTS,
    SQUARES,
    SUM,
    norm,
    units,
)
from dask_graphflow.kernels.host_threads import in_parts

SHARE = 4096  # items per thread at least: with fewer, starting a thread takes longer than its work
BITS = 61  # bits of the largest sum along edges as a whole number

_norm, _units = inner(norm), inner(units)


class HostTotals:
    def __init__(self):
        self._sets = np.zeros((3, SLOTS), np.int64)
        self._turn = 0
        self.now, self.before = self._sets[0], self._sets[2]

    def turn(self):
        self._turn = (self._turn + 1) % 3
        self.now, self.before = self._sets[self._turn], self._sets[self._turn - 1]
        self.now[:] = 0

    def clear(self):
        self.turn()

    def read(self):
        copied: np.ndarray = self.now.copy()
        return copied

    def read_before(self):
        return self.before

    def write(self, totals):
        self.now[:] = totals


@inner
def _split(value, coarse, per_coarse, per_fine):
    # Units are powers of 2, so a product with their inverse is exact, and takes less time than a division.
    part = np.floor(value * per_coarse)
    return np.int64(part), np.int64((value - part * coarse) * per_fine)


@_compiled
def _total(values, coarse, fine, bound, start, stop):
    high, low, wrong = np.int64(0), np.int64(0), np.int64(0)
    for v in range(start, stop):
        value = values[v]
        if value < 2 * bound:
            # Divided, because the inverse of a very small unit is infinite.
            part = np.floor(value / coarse)
            high += np.int64(part)
            low += np.int64((value - part * coarse) / fine)
        else:
            wrong += 1
    return high, low, wrong


def total(values, bound, count, *, threads=1):
    coarse, fine = units(bound, count)
    parts = in_threads(
        lambda start, stop: _total(values, coarse, fine, bound, start, stop), len(values), threads
    )
    high, low, wrong = (sum(part) for part in zip(*parts, strict=True))
    return high, low, wrong


@_compiled
def _combine(sums, before, plus, factor, after, coarse, fine, start, stop):
    high, middle, low, largest = np.int64(0), np.int64(0), np.int64(0), 0.0
    per_coarse, per_fine = (1 / coarse, 1 / fine) if coarse else (0.0, 0.0)
    per_finest = per_fine * (per_fine * coarse)
    for v in range(start, stop):
        now = factor * np.float64(sums[v]) + (before[v] if plus == 0 else plus)
        after[v] = now
        largest = max(largest, now)
        if coarse:
            square = now * now
            part = np.floor(square * per_coarse)
            rest = square - part * coarse
            high += np.int64(part)
            part = np.floor(rest * per_fine)
            middle += np.int64(part)
            low += np.int64((rest - part * fine) * per_finest)
    return high, middle, low, largest


def combine(sums, before, plus, factor, after, squares, totals, *, threads=1):
    parts = in_threads(
        lambda start, stop: _combine(sums, before, plus, factor, after, *squares, start, stop),
        len(after),
        threads,
    )
    *squared, largest = zip(*parts, strict=True)
    totals.now[SQUARES] = [sum(part) for part in squared]
    totals.now[MOST:].view("float64")[0] = max(largest)


@_compiled
def _scales(now, summed, squares, entering, unit, bound, count):
    by = 1.0
    if summed:
        by = np.float64(now[SUM])
    elif squares[0]:
        by = _norm(now[HIGH], now[MIDDLE], now[LOW], squares[0], squares[1])
    most = now[MOST:].view(np.float64)[0] / by
    if unit == 0:
        unit = math.ldexp(1.0, math.frexp(most * entering)[1] - BITS)
    coarse, fine = _units(max(bound, most), np.float64(count))
    return by, unit, coarse, fine


@_compiled
def _scale(source, scores, wide, by, unit, coarse, fine, start, stop):
    high, low = np.int64(0), np.int64(0)
    per_unit, per_coarse, per_fine = 1 / unit, 1 / coarse, 1 / fine
    for v in range(start, stop):
        now = np.float64(source[v]) / by
        first, second = _split(abs(now - scores[v]), coarse, per_coarse, per_fine)
        high += first
        low += second
        scores[v] = now
        wide[v] = now * per_unit
    return high, low


def scale(source, scores, wide, squares, entering, unit, bound, count, totals, *, threads=1):
    whole = source.dtype.kind == "i"
    scales = _scales(totals.now, whole, squares, entering, unit, bound, count)
    parts = in_threads(
        lambda start, stop: _scale(source, scores, wide, *scales, start, stop),
        len(scores),
        threads,
    )
    totals.now[CHANGES] = [sum(part) for part in zip(*parts, strict=True)]


def in_threads(
    work: Callable[[int, int], tuple[Any, ...]], count: int, threads: int
) -> list[tuple[Any, ...]]:
    """Call ``work(start, stop)`` in each thread for its range of `count` items; return the results."""
    threads = min(threads, count // SHARE + 1)
    return in_parts(work, count, threads, threads)


new_totals = HostTotals
