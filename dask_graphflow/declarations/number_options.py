"""Options that are numbers: checks when the user makes the call."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.values import shown

from .option import Check

MOST = 2**63 - 1  # kernels count with int64


def check_count(
    name: str, value: Any, *, least: int = 1, most: int = MOST, optional: bool = False
) -> None:
    """Raise unless an option is a whole number, `least` to `most`; or None if it is optional."""
    if optional and value is None:
        return
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if whole and value >= least and value <= most:
        return
    # The limit of int64 is of interest only if a value is above it.
    bounded = most < MOST or (whole and value > most)
    allowed = f" from {least} to {most}" if bounded else f", {least} or more"
    none = ", or None" if optional else ""
    raise OptionError(f"{name}={shown(value)}; give a whole number{allowed}{none}")


@dataclass(frozen=True)
class Count(Check):
    """A whole number, `least` to `most`."""

    least: int = 1
    most: int = MOST

    def check(self, name: str, value: Any, spec: Any) -> int:
        """Return the number."""
        check_count(name, value, least=self.least, most=self.most, optional=self.optional)
        return int(value)


Seed = Annotated[int, Count(least=0, most=2**128 - 1)]


@dataclass(frozen=True)
class Number(Check):
    """A number from `low` to `high`, or one above `above`, or a finite number."""

    low: float | None = None
    high: float | None = None
    above: float | None = None
    finite: bool = False

    def check(self, name: str, value: Any, spec: Any) -> Any:
        """Return the number as a float; kernels do not take all of NumPy's types."""
        number, large = math.nan, False
        if isinstance(value, int | float | np.integer | np.floating) and not isinstance(
            value, bool
        ):
            try:
                number = float(value)
            except OverflowError:
                large = True
        fits = (
            (self.low is None or number >= self.low)
            and (self.high is None or number <= self.high)
            and (self.above is None or number > self.above)
            and not (self.finite and math.isinf(number))
        )
        if not fits or math.isnan(number):
            none = ", or None" if self.optional else ""
            most = " that a float can hold" if large else ""
            raise OptionError(f"{name}={shown(value)}; give a number{self._allowed()}{most}{none}")
        return number

    def _allowed(self) -> str:
        if self.above is not None:
            return f"{' that is finite and' * self.finite} above {self.above}"
        if self.high is not None:
            return f" from {self.low} to {self.high}"
        return "" if self.low is None else f", {self.low} or more"
