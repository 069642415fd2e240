"""Contiguous ranges of vertices of equal work."""

from __future__ import annotations

import itertools

import numpy as np

GRAIN = 4096  # bounds of ranges are multiples of this many vertices


def chunk_grains(
    edges: np.ndarray, size: int, parts: int, *, alpha: float | None = None
) -> list[int]:
    """Cut the vertices into contiguous ranges that take about equal work.

    The work of a vertex is its number of edges plus `alpha`, the work per vertex that does not depend on
    its edges. Contiguous ranges keep neighboring vertices in the same part (Gemini [1]_).

    Parameters
    ----------
    edges : ndarray of int64, shape (ceil(V / GRAIN),)
        The number of edges of each grain of :data:`GRAIN` vertices.
    size : int
        V.
    parts : int
        Number of ranges.
    alpha : float, optional
        By default ``8 * (parts - 1)``.

    Returns
    -------
    list of int
        ``parts + 1`` bounds. All but the last, which is V, are multiples of :data:`GRAIN`. A range may be
        empty.

    References
    ----------
    .. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph
       Processing System", OSDI 2016, section 4.1.

    Examples
    --------
    >>> chunk_grains(np.array([104_095, 4096, 4096, 4095]), 16_383, 2)
    [0, 4096, 16383]
    """
    alpha = 8 * (parts - 1) if alpha is None else alpha
    # Only allowed bounds are considered.
    bounds = np.append(np.arange(0, size, GRAIN), size)
    work = alpha * bounds + np.concatenate([[0], np.cumsum(edges)])
    return [int(bounds[at]) for at in _even_cuts(work, parts)]


def _even_cuts(work: np.ndarray, parts: int) -> list[int]:
    """Return the indices where a running sum is nearest to equal parts; ascending, including both ends."""
    nearest = [int(np.argmin(np.abs(work - work[-1] * part / parts))) for part in range(1, parts)]
    return [0, *itertools.accumulate(nearest, max), len(work) - 1]
