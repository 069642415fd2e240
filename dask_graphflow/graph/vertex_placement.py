"""Placed vertices: a graph whose vertices lie on its shards in another order than that of their ids.

A vertex has a *number*, by the order of the ids, which is what results speak of and what ties are broken
by; and a *place*. Places of one shard are a contiguous range, in which vertices ascend by number. What lies
in a shard, rows and columns, goes by places. The ids themselves stay in ranges of numbers, their *homes*,
one a shard too.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from dask_graphflow.kernels import index_dtype

from .partition import GRAIN

__all__ = ["Placed", "arrange"]


class Placed(NamedTuple):
    """Where the vertices of a graph lie.

    Attributes
    ----------
    places : ndarray of int32 or int64, shape (V,)
        The place of each vertex, by number.
    homes : list of int
        Where the ranges of numbers begin that shards have the ids of, and the last one ends.
    """

    places: np.ndarray
    homes: list[int]

    def numbers(self, low: int, high: int) -> np.ndarray:
        """Return the numbers of the vertices at some places; -1 where no vertex is."""
        found = np.full(high - low, -1, self.places.dtype)
        here = np.flatnonzero((self.places >= low) & (self.places < high))
        found[self.places[here] - low] = here
        return found


def arrange(owners: np.ndarray, shards: int) -> tuple[np.ndarray, list[int]]:
    """Return the place of each vertex, and the bounds of the shards' ranges.

    Parameters
    ----------
    owners : ndarray of integers, shape (V,)
        The shard of each vertex, by number.
    shards : int

    Returns
    -------
    places : ndarray of int32 or int64, shape (V,)
    bounds : list of int
        Multiples of :data:`GRAIN`, so that there are a few places more than vertices.

    Examples
    --------
    >>> places, bounds = arrange(np.array([1, 0, 1]), 2)
    >>> places.tolist(), bounds
    ([4096, 0, 4097], [0, 4096, 8192])
    """
    counts = np.bincount(owners, minlength=shards)
    sizes = (-(-counts // GRAIN) * GRAIN).tolist()
    bounds = list(itertools.accumulate(sizes, initial=0))
    places = np.empty(len(owners), index_dtype(bounds[-1]))
    for shard in range(shards):
        here = np.flatnonzero(owners == shard)
        places[here] = np.arange(bounds[shard], bounds[shard] + len(here), dtype=places.dtype)
    return places, bounds
