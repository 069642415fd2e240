"""Placed vertices: a graph whose shards do not store the vertices in the order of their ids.

A vertex has a *number*, which follows the order of the ids, and a *place*. Results use numbers, and ties
are broken by them. The places of one shard are a contiguous range, in which vertices ascend by number. The
rows and columns of a shard are in the order of places. The ids themselves stay in ranges of numbers, the
*homes*, one per shard.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from dask_graphflow.kernels import index_dtype

from . import partition


class Placed(NamedTuple):
    """The place of each vertex of a graph.

    Attributes
    ----------
    places : ndarray of int32 or int64, shape (V,)
        The place of each vertex, by number.
    homes : list of int
        Where the ranges of numbers begin whose ids each shard stores, followed by where the last one ends.
    """

    places: np.ndarray
    homes: list[int]

    def numbers(self, low: int, high: int) -> np.ndarray:
        """Return the numbers of the vertices at places `low` to ``high - 1``; -1 at empty places."""
        numbers = np.full(high - low, -1, self.places.dtype)
        here = np.flatnonzero((self.places >= low) & (self.places < high))
        numbers[self.places[here] - low] = here
        return numbers


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
        Multiples of :data:`.partition.GRAIN`, so there are a few more places than vertices.

    Examples
    --------
    >>> places, bounds = arrange(np.array([1, 0, 1]), 2)
    >>> places.tolist(), bounds
    ([4096, 0, 4097], [0, 4096, 8192])
    """
    counts = np.bincount(owners, minlength=shards)
    sizes = (-(-counts // partition.GRAIN) * partition.GRAIN).tolist()
    bounds = list(itertools.accumulate(sizes, initial=0))
    places = np.empty(len(owners), index_dtype(bounds[-1]))
    for shard in range(shards):
        here = np.flatnonzero(owners == shard)
        places[here] = np.arange(bounds[shard], bounds[shard] + len(here), dtype=places.dtype)
    return places, bounds
