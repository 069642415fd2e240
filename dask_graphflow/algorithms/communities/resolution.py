"""The resolutions of communities, each of which has columns of its own in the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphflow.declarations.number_options import Number
from dask_graphflow.declarations.option import Check
from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.values import shown

RESOLUTION = Number(above=0, finite=True)


@dataclass(frozen=True)
class Resolution(Check):
    """A number above 0, or a list of such numbers."""

    def check(self, name: str, value: Any, spec: Any) -> Any:
        """Return the number, or a tuple of numbers."""
        if not isinstance(value, list | tuple | np.ndarray) or getattr(value, "ndim", 1) != 1:
            return RESOLUTION.check(name, value, spec)
        numbers = tuple(RESOLUTION.check(name, item, spec) for item in value)
        if not numbers or len(set(map(_spell, numbers))) < len(numbers):
            raise OptionError(
                f"{name}={shown(value)}; give at least one number, and each number once"
            )
        return numbers


def columns(spec: Any, options: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of the result: one for each resolution and level."""
    given, levels = options["resolution"], options["levels"]
    names = [f"community_{_spell(item)}" for item in given] if isinstance(given, tuple) else None
    numbers = [f"_{level + 1}" for level in range(levels)] if levels > 1 else [""]
    return {f"{name}{number}": "id" for name in names or ["community"] for number in numbers}


def _spell(resolution: float) -> str:
    return f"{resolution:g}"
