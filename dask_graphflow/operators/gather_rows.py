"""Selected rows of a graph, concatenated."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import kernels_of
from dask_graphflow.kernels.csr import Rows


def offsets_of(lengths: Any) -> Any:
    """Return where rows of these lengths begin, followed by where the last one ends: array of int64."""
    offsets = np.zeros_like(lengths, "int64", shape=len(lengths) + 1)
    offsets[1:] = np.cumsum(lengths)
    return offsets


def entries_of(rows: Rows, which: Any, threads: int) -> tuple[Any, Any, Any]:
    """Return the offsets of selected rows once they are concatenated, and their entries in `rows`.

    Parameters
    ----------
    rows : Rows
    which : array of integers, shape (r,)
        Indices of rows.
    threads : int

    Returns
    -------
    offsets : array of int64, shape (r + 1,)
    row : array of int64
        For each entry, the index of its row in `which`.
    entries : array of int64
    """
    offsets = offsets_of(rows.offsets[which + 1] - rows.offsets[which])
    entries = np.arange(int(offsets[-1]), like=offsets)
    kernels = kernels_of("rows", rows.ends)
    row = kernels.owners(Rows(offsets, entries, None, 0), "int64", threads=threads)
    entries += (rows.offsets[which] - offsets[:-1])[row]
    return offsets, row, entries
