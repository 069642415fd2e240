"""Groups of items that follow one another, such as the edges of rows, by where they begin."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.csr import Rows


def offsets_of(lengths: Any) -> Any:
    """Return where groups of these lengths begin, followed by where the last one ends: array of int64."""
    offsets = np.zeros_like(lengths, "int64", shape=len(lengths) + 1)
    offsets[1:] = np.cumsum(lengths)
    return offsets


def items_of(offsets: Any, threads: int) -> tuple[Any, Any]:
    """Return the group of each item, and the index of each item: arrays of int64."""
    items = np.arange(int(offsets[-1]), like=offsets)
    groups = Rows(offsets, items, None, 0)
    return rows_kernels.of(items).owners(groups, "int64", threads=threads), items
