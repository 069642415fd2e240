"""Shortest paths of a graph that an update made, repaired from those of the graph before it.

Only a single member with all rows in host memory repairs, with one thread. It gives up if it would read a
large part of the rows, because a search from scratch is then as fast.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import buckets as buckets_kernels
from dask_graphflow.kernels import repair as repair_kernels
from dask_graphflow.operators.view import GraphView

logger = logging.getLogger(__name__)

# The part of all entries of rows that a repair reads at most, without and with weights, whose search from
# scratch takes longer; and the number of entries that it may always read.
SHARES, LEAST = (16, 8), 1 << 10


def never_reached(dtype: Any) -> Any:
    """Return the distance of vertices that were not reached."""
    return np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max


class Paths(NamedTuple):
    """Shortest paths to all vertices. Arrays have one entry per owned vertex."""

    # Array of int32 or float64. The dtype's maximum, or infinity, for vertices that were not reached.
    distance: Any
    predecessor: Any  # array of index. -1 for sources, and for vertices that were not reached.

    @property
    def reached(self) -> Any:
        """Whether each vertex was reached: array of bool."""
        return self.distance < never_reached(self.distance.dtype)


def repair_paths(g: GraphView, earlier: Paths, sources: Any, cutoff: float) -> Paths | None:
    """Return the shortest paths of this version of a graph, or None if a search would be as fast.

    All members call it.

    Parameters
    ----------
    earlier : Paths
        The paths of the version before. The arrays are changed in place.
    sources : array of integers
        Positions of the sources that this member owns, each once.
    cutoff : float
        Maximum distance, which was the same before.
    """
    change = g.member.shard.change
    if change is None or not g.member.alone_in_memory:
        return None
    weighted = earlier.distance.dtype.kind == "f"
    out, into = (g.member.rows(side) for side in ("out", "into"))
    if not weighted:
        out, into = (rows._replace(weights=None) for rows in (out, into))
    # Without weights, a pair only matters if it has become an edge or is none any more.
    pairs = slice(None) if weighted else change.before != change.after
    named = change.sources[pairs], change.targets[pairs]
    budget = len(out.ends) // SHARES[weighted] + LEAST
    kernels = repair_kernels.of(out.ends)
    with g.superstep("push", len(named[0]), 0) as step:
        done = kernels.repair_paths(out, into, *named, *earlier, cutoff, budget)
        step["frontier"], step["edges"] = done.vertices, done.edges
    if not done.complete:
        logger.debug("Paths are found from scratch: a repair would read more than %d edges", budget)
        return None
    if done.level:
        find = buckets_kernels.of(out.ends).predecessors
        found: Any = find(out, earlier.distance, sources, threads=g.member.threads)
        found[(found == np.iinfo(found.dtype).max) | (earlier.distance == np.inf)] = -1
        return earlier._replace(predecessor=found)
    return earlier
