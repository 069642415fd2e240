"""Partitions of a graph's edges and vertices."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["GRAIN", "Segment", "chunk", "chunk_grains", "even_cuts", "hierarchical"]

GRAIN = 4096  # vertices that a bound of a range is a multiple of


@dataclass(frozen=True)
class Segment:
    """Edges whose ends all lie between two ids.

    Attributes
    ----------
    low, high : int
        The smallest and the largest id of the edges.
    source, target : array of integers, shape (m,)
    """

    low: int
    high: int
    source: Any
    target: Any


def hierarchical(source: Any, target: Any, parts: int) -> list[Segment]:
    """Cut edges so that each part has to do with a segment of the ids only.

    The ids are halved again and again. An edge goes with the upper half where both its ends lie there,
    and with the lower half otherwise. A forest over a part covers its segment and no more, so forests
    are shorter, and less is moved and merged, where neighbours have ids that are close: on roads and
    meshes. On a power-law graph nearly every part reaches to the largest id, and nothing is gained.

    Parameters
    ----------
    source, target : array of integers, shape (m,)
        On the host or the device.
    parts : int
        At most so many parts; those without edges are left out.

    Returns
    -------
    list of Segment
        Each edge in exactly one.

    References
    ----------
    .. [1] T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU Programming
       Model for Irregular Computations", PPoPP 2017, section 5.2.
    """
    if not len(source):
        return []
    lower, upper = int(min(source.min(), target.min())), int(max(source.max(), target.max()))
    if parts <= 1:
        return [Segment(lower, upper, source, target)]
    middle = (lower + upper + 1) // 2
    above = (source >= middle) & (target >= middle)
    half = parts // 2
    return [
        *hierarchical(source[~above], target[~above], parts - half),
        *hierarchical(source[above], target[above], half),
    ]


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
    return [int(bounds[at]) for at in even_cuts(work, parts)]


def even_cuts(work: np.ndarray, parts: int) -> list[int]:
    """Return where a running sum is nearest to equal parts of all; ascending, with both ends."""
    nearest = [int(np.argmin(np.abs(work - work[-1] * part / parts))) for part in range(1, parts)]
    return [0, *itertools.accumulate(nearest, max), len(work) - 1]
