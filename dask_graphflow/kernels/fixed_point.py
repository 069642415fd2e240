"""Sums in fixed point, and the totals of an iteration.

This module needs no compiler, so importing it does not import Numba.
"""

from __future__ import annotations

import math

SUM_BITS = 62  # bits of a part of a sum as a whole number

# The totals of an iteration: the sum of all sums along edges, a sum of squares in three parts, a sum of
# changes in two, and the largest value: a float64 of at least 0, stored as an int64 with the same bits.
SLOTS = 7
SUM, HIGH, MIDDLE, LOW, CHANGE_HIGH, CHANGE_LOW, MOST = range(SLOTS)
SQUARES, CHANGES = slice(HIGH, LOW + 1), slice(CHANGE_HIGH, CHANGE_LOW + 1)


def units(bound: float, count: float) -> tuple[float, float]:
    """Return the units of the two parts of a sum, both powers of 2.

    The sum has two parts, each a whole number: a single part would lose small values beside large ones.
    Neither sum can reach 2**62.

    Parameters
    ----------
    bound : float
        Upper bound of the magnitudes of all values.
    count : int or float
        Maximum number of values.
    """
    coarse = math.ldexp(1.0, math.frexp(bound * count)[1] - SUM_BITS)
    return coarse, math.ldexp(coarse, math.frexp(count)[1] - SUM_BITS)


def norm(high: int, middle: int, low: int, coarse: float, fine: float) -> float:
    """Return the root of a sum of squares in three parts, or 1 if it is 0.

    The third part is needed because the bound of the sum can exceed the sum by far.
    """
    return math.sqrt(high * coarse + (middle * fine + low * (fine * (fine / coarse)))) or 1.0
