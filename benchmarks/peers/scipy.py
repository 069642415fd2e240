"""SciPy: a sparse matrix from coordinates, then its connected components."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import missing

NAME = "scipy"


def available() -> str | None:
    """Return what is missing, or None."""
    return missing("scipy")


def run(source: Any, target: Any, n: int) -> Any:
    """Return the component of each of the `n` ids."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    matrix = coo_array((np.ones(len(source), np.int8), (source, target)), shape=(n, n))
    return connected_components(matrix, directed=False)[1]
