"""Shortest paths of a graph that an update made, repaired from those of the graph before it.

Only a single member with all rows in host memory repairs, with one thread. It gives up if it would read a
large part of the rows, because a search from scratch is then as fast.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import buckets as buckets_kernels
from dask_graphflow.kernels import repair as repair_kernels
from dask_graphflow.operators.view import GraphView

logger = logging.getLogger(__name__)

# The part of all entries of rows that a repair reads at most, without and with weights, whose search from
# scratch takes longer; and the number of entries that it may always read.
SHARES, LEAST = (16, 8), 1 << 10


# A search without weights takes less time than the alignment of its earlier result, and a repair, if it
# reached few vertices, or if there are less than so many vertices per changed pair. So does a search with
# weights in a graph with few edges per vertex, such as roads, where a change concerns many vertices.
FEW, VERTICES, OF_ROADS, DEGREE = 1 << 16, 1 << 9, 1 << 6, 4


def distances_pay(g: GraphView, reached: int) -> bool:
    """Return whether a repair may take less time than a search that reached so many vertices."""
    change = g.member.shard.change
    assert change is not None, "no update made the graph"
    return g.edges > DEGREE * g.size or len(change.sources) * OF_ROADS <= g.size


def levels_pay(g: GraphView, reached: int) -> bool:
    """Return the same for levels, that is without weights."""
    change = g.member.shard.change
    assert change is not None, "no update made the graph"
    changed = int(np.count_nonzero(change.before != change.after))
    return reached >= FEW and changed * VERTICES <= g.size


def never_reached(dtype: Any) -> Any:
    """Return the distance of vertices that were not reached."""
    return np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max


class Paths(NamedTuple):
    """Shortest paths to all vertices. Arrays have one entry per owned vertex."""

    # Array of int32 or float64. The dtype's maximum, or infinity, for vertices that were not reached.
    distance: Any
    # Array of index. -1 for sources, for vertices that were not reached, and after a repair for vertices
    # whose predecessor is the same as before.
    predecessor: Any

    @property
    def reached(self) -> Any:
        """Whether each vertex was reached: array of bool."""
        return self.distance < never_reached(self.distance.dtype)


def repair_paths(
    g: GraphView,
    distance: Any,
    precedes: Callable[[Any, Any], np.ndarray],
    sources: Any,
    cutoff: float,
) -> tuple[Paths, bool] | None:
    """Return the shortest paths of this version of a graph, or None if a search would be as fast.

    The second result says whether there are all predecessors, and not only those that may have changed. All
    members call it.

    Parameters
    ----------
    distance : array
        The distances in the version before; see :class:`Paths`. Changed in place.
    precedes : callable
        Takes two arrays of positions, and returns whether each vertex of the first one was the predecessor
        of that of the second one.
    sources : array of integers
        Positions of the sources that this member owns, each once.
    cutoff : float
        Maximum distance, which was the same before.
    """
    change = g.member.shard.change
    if change is None or not g.member.alone_in_memory:
        return None
    weighted = distance.dtype.kind == "f"
    out, into = (g.member.rows(side) for side in ("out", "into"))
    if not weighted:
        out, into = (rows._replace(weights=None) for rows in (out, into))
    # Without weights, a pair only matters if it has become an edge or is none any more.
    pairs = slice(None) if weighted else change.before != change.after
    named = change.sources[pairs], change.targets[pairs]
    budget = len(out.ends) // SHARES[weighted] + LEAST
    predecessor: Any = np.full(len(distance), -1, g.index)
    with g.superstep("push", len(named[0]), 0) as step:
        done = repair_kernels.of(out.ends).repair_paths(
            out, into, named, precedes(*named), distance, predecessor, sources, cutoff, budget
        )
        step["frontier"], step["edges"] = done.vertices, done.edges
    if not done.complete:
        logger.debug("Paths are found from scratch: a repair would read more than %d edges", budget)
        return None
    if done.level:
        find = buckets_kernels.of(out.ends).predecessors
        predecessor = find(out, distance, sources, threads=g.member.threads)
        never = predecessor == np.iinfo(predecessor.dtype).max
        predecessor[never | (distance == np.inf)] = -1
    return Paths(distance, predecessor), done.level
