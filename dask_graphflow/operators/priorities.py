"""Random priorities and samples of vertices, which depend only on a seed and on the order of the ids.

.. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .view import GraphView


def priorities(ranks: Any, seed: Any) -> Any:
    """Return a number for each rank, by SplitMix64 [1]_: no two ranks have the same number for a seed.

    Parameters
    ----------
    ranks : array of integers, shape (n,)
    seed : int, or array of int64, shape (n,)
        One for all ranks, or one for each, which can be the result of another call.

    Returns
    -------
    array of int64, shape (n,)
    """
    mixed = (ranks.astype("uint64") + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed += np.uint64(seed % 2**64) if isinstance(seed, int) else seed.view("uint64")
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))).view("int64")


LAST = np.iinfo("int64").max


def sampled(g: GraphView, count: int | None, seed: int) -> tuple[Any, int]:
    """Return the place of each owned vertex in a random sample. All members call it.

    Parameters
    ----------
    g : GraphView
    count : int or None
        Number of vertices to sample; None takes all.
    seed : int

    Returns
    -------
    places : array of int64, shape (V_p,)
        0, 1, ... in the order of the ids; -1 for vertices that are not in the sample.
    count : int
        Number of vertices in the sample.
    """
    exists, ranks = g.exists, g.ranks
    every = g.count
    if count is None or count >= every:
        return np.where(exists, ranks, -1).astype("int64"), every
    drawn = np.where(exists, priorities(ranks, seed), LAST)
    own = np.sort(drawn)[:count]
    least = np.sort(own if g.alone else np.concatenate(g.exchange.all_gather(own)))
    return places_of(g, (drawn <= least[count - 1]).nonzero()[0])


def places_of(g: GraphView, chosen: Any) -> tuple[Any, int]:
    """Return the place of each owned vertex among chosen vertices, as :func:`sampled` does.

    All members call it.

    Parameters
    ----------
    g : GraphView
    chosen : array of integers
        Positions of the chosen vertices that this member owns, each once.
    """
    own = g.ranks[chosen]
    ranks = np.sort(own if g.alone else np.concatenate(g.exchange.all_gather(own)))
    places = g.column(-1, "int64")
    places[chosen] = np.searchsorted(ranks, own)
    return places, len(ranks)
