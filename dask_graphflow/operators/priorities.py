"""Random priorities and samples of vertices, which depend only on a seed and on the order of the ids.

.. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dask_graphflow.kernels import sample as sample_kernels

from .view import GraphView


def priorities(ranks: Any, seed: Any) -> Any:
    """Return a number for each rank, by SplitMix64 [1]_: no two ranks have the same number for a seed.

    There is one seed for all ranks, or one for each, which can be the result of another call.
    """
    return sample_kernels.of(ranks).hashes(ranks, seed).view("int64")


LAST = np.iinfo("int64").max


def sample_places(g: GraphView, count: int | None, seed: int) -> tuple[Any, int]:
    """Return the place of each owned vertex in a random sample, and the size of the sample.

    All members call it. A `count` of None takes all vertices. Places are 0, 1, ... in the order of the ids;
    -1 for vertices that are not in the sample.
    """
    exists, ranks = g.exists, g.ranks
    every = g.count
    if count is None or count >= every:
        return np.where(exists, ranks, -1).astype("int64"), every
    drawn = np.where(exists, priorities(ranks, seed), LAST)
    # Priorities are uniform, so almost surely the smallest ones are below this limit, and only few others.
    share = (count + 8 * math.sqrt(count) + 64) / every
    for limit in (int(min(share, 1.0) * 2.0**64) - 2**63 - 1, LAST):
        own = drawn[g.positions(drawn <= limit)]
        least = np.sort(
            own if g.member.alone else np.concatenate(g.member.exchange.all_gather(own))
        )
        if len(least) >= count:
            break
    places, chosen = places_of(g, g.positions(drawn <= least[count - 1]))
    return places, len(chosen)


def places_of(g: GraphView, chosen: Any) -> tuple[Any, Any]:
    """Return the place of each owned vertex among chosen ones, and the numbers of these, ascending.

    All members call it. A member gives the positions of the chosen vertices that it owns, each once. Places
    are as in :func:`sample_places`.
    """
    own = g.numbers[chosen]
    numbers = np.sort(own if g.member.alone else np.concatenate(g.member.exchange.all_gather(own)))
    places = g.column(-1, "int64")
    places[chosen] = np.searchsorted(numbers, own)
    return places, numbers
