"""Fanouts: how many edges each hop of a neighbor sample takes from a vertex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphflow.declarations.number_options import MOST
from dask_graphflow.declarations.option import Check
from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.values import shown


@dataclass(frozen=True)
class Fanouts(Check):
    """Whole numbers, each 1 or more, or -1 for all; at least one of them."""

    def check(self, name: str, value: Any, spec: Any) -> tuple[int, ...]:
        """Return the numbers."""
        try:
            counts = () if isinstance(value, str) else tuple(value)
        except TypeError:
            counts = ()
        fit = [
            isinstance(one, int | np.integer)
            and not isinstance(one, bool)
            and (1 <= one <= MOST or one == -1)
            for one in counts
        ]
        if not fit or not all(fit):
            raise OptionError(
                f"{name}={shown(value)}; give a list of whole numbers, each 1 or more, or -1 for all. "
                f"The largest one is {MOST}"
            )
        return tuple(int(one) for one in counts)
