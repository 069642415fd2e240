"""Connected components after a few edges of a graph have changed, from the components before.

Only labels are needed, and no spanning forest: searches from the ends of deleted edges find the pieces that
have been cut off. Then the labels at the ends of inserted edges are joined.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from dask_graphflow.graph.change import Change
from dask_graphflow.kernels import reconnect as reconnect_kernels
from dask_graphflow.operators.view import GraphView

from .connected import join_pairs

logger = logging.getLogger(__name__)

# Part of the entries of the rows that searches read at most. They read in random order, so on a graph of
# roads this takes a sixth of the time in which all components are found.
MOST = 1 / 32
# All components are found in less time than the earlier ones are aligned and joined if there are few
# vertices and entries of rows, or if there are less than so many vertices per deleted pair: more in a graph
# with few edges per vertex, such as roads, where the detour around an edge is long.
FEW_VERTICES, FEW_ENTRIES, VERTICES, OF_ROADS, DEGREE = 1 << 16, 1 << 21, 1 << 9, 1 << 15, 4


def pays(g: GraphView, vertices: int) -> bool:
    """Return whether :func:`reconnect` may take less time than to find all components."""
    change = g.member.shard.change
    assert change is not None, "no update made the graph"
    problem = ""
    if vertices < FEW_VERTICES and g.edges < FEW_ENTRIES:
        problem = "the graph is small"
    elif gone := int(np.count_nonzero(change.deleted)):
        if not g.member.alone_in_memory:
            problem = "edges on disk were deleted"
        elif g.directed and not g.member.has_rows("into"):
            problem = "edges were deleted, and no call has made the rows of entering edges"
        elif gone * (VERTICES if g.edges > DEGREE * vertices else OF_ROADS) > vertices:
            problem = f"{gone:,} pairs of vertices were deleted"
    if problem:
        logger.debug("Connected components are computed from scratch: %s", problem)
    return not problem


def reconnect(g: GraphView, labels: Any) -> Any | None:
    """Return the smallest number in the component of each vertex; None if it pays to find all components.

    Parameters
    ----------
    g : GraphView
        A graph that an update made, with a single member on the host. If it is directed, edges count in
        both directions.
    labels : array of index, shape (V_p,)
        The smallest number in the component of each vertex before the update; negative for new vertices.
    """
    change = g.member.shard.change
    assert change is not None, "no update made the graph"
    if (new := labels < 0).any():
        labels = np.where(new, g.numbers, labels)
    pieces = _cut(g, labels, change)
    if pieces is None:
        logger.debug("Connected components are computed from scratch: the searches were long")
        return None
    return _joined(pieces, change)


def _cut(g: GraphView, labels: Any, change: Change) -> Any | None:
    """Return the labels without the deleted edges; None if it takes too long."""
    gone = change.deleted & (change.sources != change.targets)
    if not gone.any():
        return labels
    seeds = np.unique(np.concatenate([change.sources[gone], change.targets[gone]]))
    seeds = seeds[np.argsort(labels[seeds], kind="stable")]
    sides = [g.member.rows("out")] + ([g.member.rows("into")] if g.directed else [])
    budget = int(len(sides[0].ends) * MOST)
    cut = reconnect_kernels.of(labels).cut_off(sides, labels, seeds, budget)
    if cut is None:
        return None
    labels = _renamed(labels, cut.old, cut.new) if len(cut.old) else labels.copy()
    labels[cut.vertices] = cut.labels
    return labels


def _joined(labels: Any, change: Change) -> Any:
    """Return the labels with the inserted edges."""
    new = change.inserted
    here, there = labels[change.sources[new]], labels[change.targets[new]]
    differ = here != there
    if not differ.any():
        return labels
    return _renamed(labels, *join_pairs(here[differ], there[differ]))


def _renamed(labels: Any, old: Any, new: Any) -> Any:
    names = np.arange(len(labels), dtype=labels.dtype)
    names[old] = new
    return names[labels]
