"""Scores on the device. The results have the bits of the host's.

The totals of an iteration stay on the device, where the next kernel reads them. A caller that needs them
copies them to the host, once per iteration.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.fixed_point import HIGH, LOW, SLOTS, SUM, units
from dask_graphflow.kernels.launching import launch_resident, read
from dask_graphflow.kernels.sources import instance


class DeviceTotals:
    def __init__(self):
        self._sets = list(cupy.zeros((3, SLOTS), "int64"))
        self._turn = 0
        self.now, self.before, self.after = self._sets[0], self._sets[2], self._sets[1]
        self._done = cupy.cuda.Event(disable_timing=True)  # what the device does before ``turn``

    # The caller's next kernel has to clear ``after``.
    def turn(self):
        self._done.record()
        self._turn = (self._turn + 1) % 3
        self.now, self.before = self._sets[self._turn], self._sets[self._turn - 1]
        self.after = self._sets[self._turn - 2]

    def clear(self):
        self.turn()
        self.now[:] = 0
        self.after[:] = 0

    def read(self):
        return read(self.now)

    def read_before(self):
        with cupy.cuda.Stream(non_blocking=True) as aside:
            aside.wait_event(self._done)
            return read(self.before)

    def write(self, totals):
        self.now.set(totals)


def total(values, bound, count, *, threads=1):
    totals = DeviceTotals()
    parts = map(np.float64, (bound, *units(bound, count)))
    launch_resident("total", len(values), values, len(values), *parts, totals.now)
    wrong, high, low = totals.read()[[SUM, HIGH, LOW]].tolist()
    return high, low, wrong


def combine(sums, before, plus, factor, after, squares, totals, *, threads=1):
    kernel, count = instance("combine", sums.dtype), len(after)
    given = sums, before, np.float64(plus), np.float64(factor), after, count
    launch_resident(kernel, count, *given, *map(np.float64, squares), totals.now)


def scale(source, scores, wide, squares, entering, unit, bound, count, totals, *, threads=1):
    kernel, numbers = instance("scale", source.dtype, wide.dtype), (entering, unit, bound, count)
    given = source, scores, wide, len(scores), *map(np.float64, (*squares, *numbers))
    launch_resident(kernel, len(scores), *given, totals.now)


new_totals = DeviceTotals
