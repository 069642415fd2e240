"""Weights as whole numbers, so that their sums have the same bits in every order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .neighbor_sums import most_leaving
from .view import GraphView

__all__ = ["whole_weights"]

BITS = 51  # of the sum of all weights as a whole number, each counted at both ends of its edge


def whole_weights(g: GraphView, sides: Sequence[Any]) -> tuple[list[Any], float]:
    """Return rows with weights rounded to whole multiples of a unit, and the unit.

    All members call it, and agree on the unit, which is a power of 2. Weights below half of it become 0.
    Without weights the rows stay as they are, and the unit is 1.

    Parameters
    ----------
    g : GraphView
    sides : sequence of Rows
        Rows of edges of `g`. Each edge is in them at most twice.

    Returns
    -------
    list of Rows
        With weights of int64. The sum of all weights of all members is at most 2**51.
    float

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or the weights are far too large or small to be added up.
    """
    if not g.weighted:
        return list(sides), 1.0
    total = g.total(g.weighted_degrees, most_leaving(g))
    unit = math.ldexp(1.0, math.frexp(2 * total)[1] - BITS) if total else 1.0
    weights = [np.rint(rows.weights.astype("float64") / unit).astype("int64") for rows in sides]
    return [rows._replace(weights=own) for rows, own in zip(sides, weights, strict=True)], unit
