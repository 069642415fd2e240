"""Partitions of a graph's edges and vertices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Segment", "hierarchical"]


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
