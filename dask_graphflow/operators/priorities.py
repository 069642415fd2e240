"""Random orders and samples of vertices, which depend only on a seed and on the order of the ids.

.. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dask_graphflow.graph.hubs import inverse
from dask_graphflow.kernels import order as order_kernels
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels import sample as sample_kernels

from .access import gather
from .view import GraphView


def priorities(ranks: Any, seed: Any) -> Any:
    """Return a number for each rank, by SplitMix64 [1]_: no two ranks have the same number for a seed.

    There is one seed for all ranks, or one for each, which can be the result of another call.
    """
    return sample_kernels.of(ranks).hashes(ranks, seed).view("int64")


LAST = np.iinfo("int64").max


def sample_places(
    g: GraphView, count: int | None, seed: int, chosen: Any = None
) -> tuple[Any, int]:
    """Return the place of each owned vertex in a random sample, and the size of the sample.

    All members call it. A `count` of None takes all vertices. Places are 0, 1, ... in the order of the ids;
    -1 for vertices that are not in the sample. Instead of a sample, a member can give the positions of the
    `chosen` vertices that it owns, each once.
    """
    if chosen is not None:
        places, numbers = places_of(g, chosen)
        return places, len(numbers)
    exists, ranks = g.exists, g.ranks
    every = g.count
    if count is None or count >= every:
        return np.where(exists, ranks, -1).astype("int64"), every
    drawn = np.where(exists, priorities(ranks, seed), LAST)
    # Priorities are uniform, so almost surely the smallest ones are below this limit, and only few others.
    share = (count + 8 * math.sqrt(count) + 64) / every
    for limit in (int(min(share, 1.0) * 2.0**64) - 2**63 - 1, LAST):
        own = drawn[g.positions(drawn <= limit)]
        least = np.sort(gather(g, own))
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
    numbers = np.sort(gather(g, own))
    places = g.column(-1, "int64")
    places[chosen] = np.searchsorted(numbers, own)
    return places, numbers


def take_first_free(g: GraphView, priority: Any) -> Any | None:
    """Give each vertex, in an order, the smallest number that no neighbor before it has, as int32.

    Vertices with more edges come first. Among vertices with the same number of edges, those of a higher
    priority come first; no two vertices have the same one. The graph is simple and undirected. Positions
    that are not vertices get -1. The result is None if there are several members.
    """
    if not g.member.alone:
        return None
    rows = g.member.local("out").rows
    with g.superstep("push", g.count, len(rows.ends)):
        by_priority = np.argsort(priority)[::-1]
        labels = rows_kernels.of(rows.ends).degree_labels(g.degrees[by_priority])
        order = by_priority[inverse(labels)].astype(rows.ends.dtype)
        numbers = order_kernels.of(rows.ends).first_free(rows, order)
    numbers[~g.exists] = -1
    return numbers
