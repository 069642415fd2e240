"""Near and far piles over the members of a gang: how :mod:`.sssp_many` relaxes edges on devices.

A device is busy only with many vertices at once, and a bucket (:mod:`.sssp_many`) seldom has them. So each
member relaxes all edges of its vertices that are nearer than a limit, those of the *near* pile; what comes
nearer but stays beyond the limit waits on the *far* pile. Once no member has a near one, all of them raise
the limit (Davidson et al. [1]_).

.. [1] A. Davidson, S. Baxter, M. Garland, J. D. Owens, "Work-Efficient Parallel GPU Methods for
   Single-Source Shortest Paths", IPDPS 2014.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from dask_graphflow.algorithms._old_advance import advance, superstep
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.comm.mirrors import Mirrors
from dask_graphflow.kernels.edge_op import EdgeOp
from dask_graphflow.operators.vertex_set import VertexSet as Frontier

__all__ = ["near_and_far"]

RELAX = EdgeOp("relax", target="distance", signal="distance[src] + weight", slot="min")


def near_and_far(
    local: Any,
    exchange: Exchange,
    mirrors: Mirrors,
    sources: Any,
    delta: float,
    cutoff: float,
    threads: int,
) -> tuple[Any, list[dict[str, Any]]]:
    """Return the distances of masters, and what mirrors were found at last; and the supersteps."""
    owned, offsets = local.owned, local.rows.offsets
    distance = np.full_like(local.rows.ends, np.inf, "float64", shape=local.size)
    distance[sources] = 0
    far = np.zeros_like(local.rows.ends, bool, shape=owned)
    near, limit = sources, delta
    leaving = np.diff(offsets)
    steps: list[dict[str, Any]] = []
    exchange.take_traffic()  # what it took so far is no superstep's
    while True:
        began = time.perf_counter()
        edges = int(leaving[near].sum())
        found = near[:0]
        if edges:
            moved, _ = advance(
                RELAX,
                {"distance": distance},
                [local.rows],
                Frontier(owned, vertices=near),
                direction="push",
                threads=threads,
            )
            found = Frontier(local.size, words=moved.words).vertices
        cut = int((found < owned).sum())
        reached = [found[:cut]]

        def nearer(at: Any, values: Any, reached: list[Any] = reached) -> None:
            better = values < distance[at]
            at = at[better]
            distance[at] = values[better]
            reached.append(at)

        mirrors.reduce(distance, found[cut:] - owned, sums=(len(near), edges))
        total = mirrors.receive(nearer)
        count, edges = total.sums
        steps.append(superstep("push", count, edges, time.perf_counter() - began))

        far[near] = False
        for at in reached:
            far[at] = distance[at] <= cutoff
        waiting = np.flatnonzero(far)
        least = float(distance[waiting].min()) if len(waiting) else math.inf
        # What is near for any member is relaxed before the limit is raised.
        least = -exchange.all_reduce(most=-least).most
        if least == math.inf:
            distance[distance > cutoff] = np.inf
            return distance, steps
        if least >= limit:
            # Rounded, that may be no more than the least.
            limit = max((math.floor(least / delta) + 1) * delta, math.nextafter(least, math.inf))
        near = waiting[distance[waiting] < limit].astype(local.rows.ends.dtype)
