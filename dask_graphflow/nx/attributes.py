"""Attributes of edges as arrays."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def attribute_values(data: list[dict[Any, Any]], attribute: Any, default: Any) -> Any:
    """Return an attribute of each edge as an array of int64 or float64.

    Raises
    ------
    NotImplementedError
        A value is not a number.
    """
    try:
        values = list(map(operator.itemgetter(attribute), data))
    except KeyError:  # an edge does not have it
        values = [edge.get(attribute, default) for edge in data]
    array = _numbers(values)
    if array is None:
        raise NotImplementedError(
            f"the edge attribute {attribute!r} has values that are not numbers"
        )
    return array


def _numbers(values: list[Any]) -> Any:
    """Return values as an array of int64 or float64, or None if that is not possible."""
    try:
        array = np.array(values)
    except ValueError:  # lists of different lengths
        return None
    if not values or (array.ndim == 1 and array.dtype.kind in "bi"):
        return array.astype(np.int64)
    return array.astype(np.float64) if array.ndim == 1 and array.dtype.kind in "uf" else None
