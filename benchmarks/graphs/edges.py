"""What all contenders are given, and what a run brings back."""

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
        Columns src, dst, weight.
    start : int
        A vertex in the largest component: where searches begin.
    """

    frame: pd.DataFrame
    bound: int
    start: int

    @classmethod
    def of(cls, frame: pd.DataFrame, seed: int) -> Edges:
        """Give weights to a frame of src and dst."""
        weights = np.random.default_rng(seed).integers(1, 256, len(frame)).astype("float64")
        bound = int(frame.to_numpy().max()) + 1
        # An edge's end is in the largest component, more likely than not, and the fifth as well as any.
        return cls(frame.assign(weight=weights), bound, int(frame["src"].iloc[4]))

    @property
    def source(self) -> Any:
        """The edges' sources."""
        return self.frame["src"].to_numpy()

    @property
    def target(self) -> Any:
        """The edges' targets."""
        return self.frame["dst"].to_numpy()

    @property
    def weight(self) -> Any:
        """The edges' weights."""
        return self.frame["weight"].to_numpy()


@dataclass
class Timed:
    """The time of a run, and what it found by id: distances, infinite where there is no way, or ranks."""

    seconds: float
    found: Any = None


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that something takes, and what it returns."""
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found
