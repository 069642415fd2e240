"""Edges with weights, as most benchmarks use them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Edges:
    """An edge list with a weight from 1 to 255 for each edge.

    Attributes
    ----------
    frame : DataFrame
        The columns src, dst, weight.
    start : int
        A vertex in the largest component, where searches start.
    """

    frame: pd.DataFrame
    start: int

    @classmethod
    def of(cls, frame: pd.DataFrame, seed: int) -> Edges:
        """Add weights to a frame of src and dst."""
        weights = np.random.default_rng(seed).integers(1, 256, len(frame)).astype("float64")
        # The end of any edge is probably in the largest component, so the fifth edge is a fair choice.
        return cls(frame.assign(weight=weights), int(frame["src"].iloc[4]))
