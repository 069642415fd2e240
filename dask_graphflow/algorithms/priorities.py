"""Random priorities of vertices, which depend only on a seed and on the order of the ids.

.. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["priorities"]


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
