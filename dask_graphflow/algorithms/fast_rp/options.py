"""The weights of iterations, and the columns of a vector."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphflow.declarations.option import Check
from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.values import shown

LARGEST = 1e30  # so that sums of a few weights are finite in single precision


@dataclass(frozen=True)
class IterationWeights(Check):
    """Numbers, at least one of which is not 0."""

    def check(self, name: str, value: Any, spec: Any) -> tuple[float, ...]:
        """Return the numbers."""
        try:
            numbers = () if isinstance(value, str | dict | Set) else tuple(value)
        except TypeError:
            numbers = ()
        fit = all(
            isinstance(one, int | float | np.integer | np.floating)
            and not isinstance(one, bool)
            and -LARGEST <= one <= LARGEST
            for one in numbers
        )
        if not fit or not any(numbers):
            raise OptionError(
                f"{name}={shown(value)}; give a list of numbers from {-LARGEST:g} to {LARGEST:g}, one per "
                "iteration. At least one of them is not 0"
                f"{'. weight= names the column with the weights of edges' * isinstance(value, str)}"
            )
        return tuple(float(one) for one in numbers)


def columns(spec: Any, options: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of the result: one for each dimension."""
    return {f"fast_rp_{dimension}": "float32" for dimension in range(options["dimensions"])}
