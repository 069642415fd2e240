"""The measures of similarity, of which some are also defined for edges with weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphflow.declarations.option import Choice
from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.exceptions import OptionError

SCORES: dict[str, Callable[..., Any]] = {
    "jaccard": lambda common, a, b: common / np.maximum(a + b - common, 1),
    "sorensen": lambda common, a, b: 2 * common / np.maximum(a + b, 1),
    "overlap": lambda common, a, b: common / np.maximum(np.minimum(a, b), 1),
    "cosine": lambda common, a, b: common / np.sqrt(np.maximum(a * b, 1)),
    "adamic_adar": lambda common, a, b: common,
    "common_neighbors": lambda common, a, b: common,
}
WEIGHTED = "jaccard", "sorensen", "overlap"  # measures that are defined for edges with weights


@dataclass(frozen=True)
class Measure(Choice):
    """One of the measures; with weights, one that is defined for them."""

    def check(self, name: str, value: Any, spec: GraphSpec) -> str:
        """Return the name of the measure."""
        measure = super().check(name, value, spec)
        if spec.weighted and measure not in WEIGHTED:
            raise OptionError(
                f"{name}={measure!r} is not defined for edges with weights; give "
                f"{', '.join(map(repr, WEIGHTED))}, or use a graph without weights: give weight=None"
            )
        return measure
