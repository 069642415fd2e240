"""Thresholds: exact comparison of weights with thresholds, and the names of the result columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.kernels import kernels_for


def component_names(thresholds: Sequence[float]) -> list[str]:
    """Return the name of the component column of each threshold.

    A name has up to 15 significant digits. If several thresholds have the same short form, they are written
    in full, except for the one that is equal to the short form: ``component_0.3`` and
    ``component_0.30000000000000004``.
    """
    short = [f"{threshold:.15g}" for threshold in thresholds]
    shared = Counter(short)
    return [
        f"component_{name if shared[name] == 1 or float(name) == threshold else repr(threshold)}"
        for name, threshold in zip(short, thresholds, strict=True)
    ]


def levels(weight: Any, thresholds: Sequence[float]) -> Any:
    """Return how many of the ascending thresholds the weight of each edge reaches, as unsigned integers.

    Weights and thresholds are compared as real numbers, without rounding. A weight that is null or NaN
    reaches no threshold, not even minus infinity.
    """
    kernels = kernels_for(weight)
    xp = kernels.namespace
    dtype = np.min_scalar_type(len(thresholds))
    has_weight = None
    # In pandas, a column with a NumPy dtype has no nulls other than NaN. Every other column may have nulls.
    if not (isinstance(weight, pd.Series) and isinstance(weight.dtype, np.dtype)):
        present = weight.notna()
        if not present.all():
            has_weight = kernels.asarray(present)
            weight = weight[present]
    values = kernels.asarray(weight)
    if values.dtype == bool:
        values = values.view("uint8")
    # Thresholds that no value of the dtype reaches are the last ones. They are left out.
    least = [_least(threshold, values.dtype) for threshold in thresholds]
    reachable = np.array([value for value in least if value is not None], values.dtype)
    reached = xp.searchsorted(xp.asarray(reachable), values, side="right").astype(dtype)
    if values.dtype.kind == "f":
        reached[xp.isnan(values)] = 0
    if has_weight is None:
        return reached
    level = xp.zeros(len(has_weight), dtype)
    level[has_weight] = reached
    return level


def _least(threshold: float, dtype: np.dtype) -> Any:
    """Return the smallest value of a dtype that is not below a threshold; None if all are below."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if threshold > limits.max:
            return None
        return limits.min if threshold < limits.min else math.ceil(threshold)
    with np.errstate(over="ignore"):
        nearest = dtype.type(threshold)
    # Compare as a Python number: NumPy would round the threshold to the dtype first.
    below = nearest.item() < threshold
    return np.nextafter(nearest, dtype.type(math.inf)) if below else nearest
