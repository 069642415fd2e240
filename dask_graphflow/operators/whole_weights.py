"""Weights as whole numbers, so that their sums have the same bits in every order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .neighbor_sums import leaving
from .view import GraphView

__all__ = ["whole_weights"]

BITS = 51  # bits of the sum of all weights as a whole number, counting both ends of each edge


def whole_weights(g: GraphView, sides: Sequence[Any]) -> tuple[list[Any], float]:
    """Return rows with weights rounded to whole multiples of a unit, and the unit.

    All members call it. They use the same unit, which is a power of 2. Weights below half of it become 0.
    Without weights, the rows are unchanged and the unit is 1.

    Parameters
    ----------
    g : GraphView
    sides : sequence of Rows
        Rows of edges of `g`, in which each edge occurs at most twice.

    Returns
    -------
    list of Rows
        The rows, with int64 weights. The sum of all weights over all members is at most 2**51.
    float

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or the weights are far too large or small to be added up.
    """
    if not g.weighted:
        return list(sides), 1.0
    total = g.total(*leaving(g))
    unit = math.ldexp(1.0, math.frexp(2 * total)[1] - BITS) if total else 1.0
    weights = [np.rint(rows.weights.astype("float64") / unit).astype("int64") for rows in sides]
    return [rows._replace(weights=own) for rows, own in zip(sides, weights, strict=True)], unit
