"""What shortest paths ask of weights, in one process and over the members of a gang."""

from __future__ import annotations

from typing import Any

from dask_graphflow.exceptions import WeightError
from dask_graphflow.showing.tables import counted

__all__ = ["bucket_width"]


def bucket_width(kernels: Any, wrong: int, mean: float, edges: int, vertices: int) -> float:
    """Return the width of a bucket, or raise where weights are negative or no numbers.

    Parameters
    ----------
    kernels : module
        Whose buckets they are.
    wrong : int
        Weights that are negative or no number.
    mean : float
        Of the finite weights.
    edges, vertices : int
        Edges, and vertices that have one.
    """
    if wrong:
        raise WeightError(
            f"{counted(wrong, 'weight')} {'is' if wrong == 1 else 'are'} negative or no number; a shortest "
            "path is of weights of 0 or more. Leave those edges out"
        )
    width = kernels.bucket_width(mean, max(edges / max(1, vertices), 1.0))
    # Neither it nor its reciprocal overflows.
    return min(max(width, 1e-300), 1e300) if mean > 0 else 1.0
