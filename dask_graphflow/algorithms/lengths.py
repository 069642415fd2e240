"""What shortest paths ask of weights, in one process and over the members of a gang."""

from __future__ import annotations

from typing import Any

from dask_graphflow.exceptions import WeightError
from dask_graphflow.showing.tables import counted

__all__ = ["bucket_width"]


def bucket_width(kernels: Any, wrong: int, mean: float, edges: int, vertices: int) -> float:
    """Return the width of a bucket, or raise if weights are negative or NaN.

    Parameters
    ----------
    kernels : module
        The kernels of the host or the device.
    wrong : int
        Number of weights that are negative or NaN.
    mean : float
        Mean of the finite weights.
    edges, vertices : int
        Number of edges, and of vertices that have an edge.
    """
    if wrong:
        raise WeightError(
            f"{counted(wrong, 'weight')} {'is' if wrong == 1 else 'are'} negative or NaN; shortest paths "
            "need weights of at least 0. Remove these edges"
        )
    width = kernels.bucket_width(mean, max(edges / max(1, vertices), 1.0))
    # Neither it nor its reciprocal overflows.
    return min(max(width, 1e-300), 1e300) if mean > 0 else 1.0
