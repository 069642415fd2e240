"""Contiguous ranges of vertices of equal work."""

from __future__ import annotations

import itertools

import numpy as np

__all__ = ["GRAIN", "chunk", "chunk_grains"]

GRAIN = 4096  # vertices that a bound of a range is a multiple of


def chunk(degrees: np.ndarray, parts: int, *, alpha: float | None = None) -> list[int]:
    """Cut the vertices into contiguous ranges that are as much work each.

    A vertex is as much work as its edges and `alpha` more: what is done for each vertex whether it has
    edges or not. Ranges of neighbouring vertices keep what lies close together on one part.

    Parameters
    ----------
    degrees : ndarray of integers, shape (V,)
        The vertices' edges.
    parts : int
        Ranges to make.
    alpha : float, optional
        By default ``8 * (parts - 1)``.

    Returns
    -------
    list of int
        ``parts + 1`` bounds, multiples of :data:`GRAIN` but the last, which is V; a range may be empty.

    References
    ----------
    .. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph
       Processing System", OSDI 2016, section 4.1.

    Examples
    --------
    >>> hub_first = np.array([100_000] + [1] * 16_383)
    >>> chunk(hub_first, 2, alpha=0), chunk(hub_first, 2)
    ([0, 4096, 16384], [0, 4096, 16384])
    """
    edges = np.add.reduceat(degrees, np.arange(0, len(degrees), GRAIN), dtype="int64")
    return chunk_grains(edges, len(degrees), parts, alpha=alpha)


def chunk_grains(
    edges: np.ndarray, size: int, parts: int, *, alpha: float | None = None
) -> list[int]:
    """Cut as :func:`chunk` does, from the edges that each :data:`GRAIN` of the vertices has.

    Parameters
    ----------
    edges : ndarray of int64, shape (ceil(V / GRAIN),)
    size : int
        V.
    parts, alpha
        As of :func:`chunk`.
    """
    alpha = 8 * (parts - 1) if alpha is None else alpha
    # Only bounds that are allowed are weighed.
    bounds = np.append(np.arange(0, size, GRAIN), size)
    work = alpha * bounds + np.concatenate([[0], np.cumsum(edges)])
    return [int(bounds[at]) for at in _even_cuts(work, parts)]


def _even_cuts(work: np.ndarray, parts: int) -> list[int]:
    """Return where a running sum is nearest to equal parts of all; ascending, with both ends."""
    nearest = [int(np.argmin(np.abs(work - work[-1] * part / parts))) for part in range(1, parts)]
    return [0, *itertools.accumulate(nearest, max), len(work) - 1]
