"""Scores on the device; :mod:`.scores.host` describes the functions. The results have the same bits.

The totals of an iteration stay on the device, where the next kernel reads them. A caller that needs them
copies them to the host, once per iteration.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.fixed_point import HIGH, LOW, SLOTS, SUM, units
from dask_graphflow.kernels.launching import launch_resident, read
from dask_graphflow.kernels.sources import instance


class DeviceTotals:
    """Totals that the kernels of an iteration add up; a kernel clears those of the next iteration."""

    def __init__(self) -> None:
        self._sets = list(cupy.zeros((3, SLOTS), "int64"))
        self._turn = 0
        self.now, self.before, self.after = self._sets[0], self._sets[2], self._sets[1]
        self._done = cupy.cuda.Event(disable_timing=True)  # what the device does before ``turn``

    def turn(self) -> None:
        """Begin the totals of another iteration. The caller's next kernel has to clear ``after``."""
        self._done.record()
        self._turn = (self._turn + 1) % 3
        self.now, self.before = self._sets[self._turn], self._sets[self._turn - 1]
        self.after = self._sets[self._turn - 2]

    def clear(self) -> None:
        """Begin the totals of an iteration without a sum along edges."""
        self.turn()
        self.now[:] = 0
        self.after[:] = 0

    def read(self) -> np.ndarray:
        """Wait for the totals of the current iteration, and return a copy in host memory."""
        return read(self.now)

    def read_before(self) -> np.ndarray:
        """Wait for the totals of the iteration before, but not for the kernels of the current one."""
        with cupy.cuda.Stream(non_blocking=True) as aside:
            aside.wait_event(self._done)
            return read(self.before)

    def write(self, totals: np.ndarray) -> None:
        """Set the totals of the current iteration."""
        self.now.set(totals)


def total(values: Any, bound: float, count: int, *, threads: int = 1) -> tuple[int, int, int]:
    """Return the parts of a sum as multiples of their :func:`units`, and how many values are too large."""
    totals = DeviceTotals()
    launch_resident(
        "total",
        len(values),
        values,
        np.uint64(len(values)),
        np.float64(bound),
        *map(np.float64, units(bound, count)),
        totals.now,
    )
    wrong, high, low = totals.read()[[SUM, HIGH, LOW]].tolist()
    return high, low, wrong


def combine(
    sums: Any,
    before: Any,
    plus: float,
    factor: float,
    after: Any,
    squares: tuple[float, float],
    totals: DeviceTotals,
    *,
    threads: int = 1,
) -> None:
    """Compute new scores from sums, and their largest; set the sums to 0."""
    launch_resident(
        instance("combine", sums.dtype),
        len(after),
        sums,
        before,
        np.float64(plus),
        np.float64(factor),
        after,
        np.uint64(len(after)),
        *map(np.float64, squares),
        totals.now,
    )


def scale(
    source: Any,
    scores: Any,
    wide: Any,
    squares: tuple[float, float],
    entering: float,
    unit: float,
    bound: float,
    count: int,
    totals: DeviceTotals,
    *,
    threads: int = 1,
) -> None:
    """Divide new scores by their norm, and prepare them for the next sums along edges."""
    launch_resident(
        instance("scale", source.dtype, wide.dtype),
        len(scores),
        source,
        scores,
        wide,
        np.uint64(len(scores)),
        *map(np.float64, squares),
        *map(np.float64, (entering, unit, bound, count)),
        totals.now,
    )


new_totals = DeviceTotals
