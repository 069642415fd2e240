"""The move of a few rows between members, so that the ranges of all members begin at whole grains."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph import partition
from dask_graphflow.graph.offsets import offsets_of
from dask_graphflow.kernels import joined
from dask_graphflow.kernels.csr import Rows


def full_grains(bounds: Sequence[int]) -> list[int]:
    """Return bounds that are whole grains, or where the last range ends, and near to the given ones."""
    grain, size = partition.GRAIN, bounds[-1]
    return [size if bound == size else min(round(bound / grain) * grain, size) for bound in bounds]


def cuts(exchange: Exchange, have: Sequence[int], want: Sequence[int]) -> list[slice]:
    """Return the part of this member's range that each member gets: from the ranges `have` to `want`."""
    low, high = have[exchange.rank : exchange.rank + 2]
    at = [min(max(bound, low), high) - low for bound in want]
    return [slice(*pair) for pair in itertools.pairwise(at)]


def move_column(exchange: Exchange, column: Any, parts: Sequence[slice]) -> Any:
    """Send each member a part of this member's column; return the column of this member's new range."""
    return joined(exchange.all_to_all([column[part] for part in parts]))


def move_rows(exchange: Exchange, rows: Rows, parts: Sequence[slice], first: int) -> Rows:
    """Send each member a part of this member's rows; return those of this member's new range."""
    offsets = rows.offsets
    edges = [slice(int(offsets[part.start]), int(offsets[part.stop])) for part in parts]
    degrees = move_column(exchange, np.diff(offsets), parts)
    ends = move_column(exchange, rows.ends, edges)
    weights = None if rows.weights is None else move_column(exchange, rows.weights, edges)
    return Rows(offsets_of(degrees), ends, weights, first)
