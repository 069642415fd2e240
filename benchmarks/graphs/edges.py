"""The input of all contenders, and the result of a run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Edges:
    """An edge list of int64 ids below `bound`, with a weight from 1 to 255 for each edge.

    Attributes
    ----------
    frame : DataFrame
        The columns src, dst, weight.
    start : int
        A vertex in the largest component, where searches start.
    """

    frame: pd.DataFrame
    bound: int
    start: int

    @classmethod
    def of(cls, frame: pd.DataFrame, seed: int) -> Edges:
        """Add weights to a frame of src and dst."""
        weights = np.random.default_rng(seed).integers(1, 256, len(frame)).astype("float64")
        bound = int(frame.to_numpy().max()) + 1
        # The end of any edge is probably in the largest component, so the fifth edge is a fair choice.
        return cls(frame.assign(weight=weights), bound, int(frame["src"].iloc[4]))

    @property
    def source(self) -> Any:
        """The sources of the edges."""
        return self.frame["src"].to_numpy()

    @property
    def target(self) -> Any:
        """The targets of the edges."""
        return self.frame["dst"].to_numpy()

    @property
    def weight(self) -> Any:
        """The weights of the edges."""
        return self.frame["weight"].to_numpy()


@dataclass
class Timed:
    """The time of a run, and its result by id: ranks, or distances, which are infinite if unreachable."""

    seconds: float
    found: Any = None


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that a function takes, and its result."""
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found
