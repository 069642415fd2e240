"""Tight edges: the edges of the shortest paths from a source, if edges have weights.

An edge is tight if the distance of its farther end is exactly the distance of its nearer end plus the
weight. A path from the source is a shortest path if all of its edges are tight.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.frontier import Frontier
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

# The number of the superstep, so that a vertex changes even if it sent something before.
ASK = EdgeOp("ask", target="asked", signal="step", slot="max", params={"step": np.int64(0)})


def without_parallel_edges(g: GraphView) -> GraphView:
    """Return a graph without self-loops, and with the lightest of parallel edges. All members call it.

    Raises
    ------
    WeightError
        A weight is not positive and finite. All members raise it.
    """
    if not g.weighted:
        return g.simple
    if not g.all_weights(lambda weights: (weights > 0) & (weights < np.inf)):
        raise WeightError(
            "a weight is 0, negative, infinite or NaN; to count shortest paths, weights have to be finite "
            "and above 0. Remove these edges, or give weight=None"
        )
    return g.lightest


def only_tight(op: EdgeOp, otherwise: int, *, backward: bool = False) -> EdgeOp:
    """Return an edge program that sends its messages along tight edges, and reads a column ``distance``.

    Along other edges, it sends `otherwise`, which changes nothing. If it is `backward`, messages go from
    the farther to the nearer end.
    """
    nearer, farther = ("dst", "src") if backward else ("src", "dst")
    tight = f"distance[{nearer}] + weight == distance[{farther}]"
    return replace(op, signal=f"({op.signal}) if {tight} else {otherwise}")


class Senders:
    """Finds the vertices from which tight edges lead to some vertices. All members create theirs at once.

    See :class:`.Generations` for the distances. If it is `backward`, edges are followed from their farther
    to their nearer end.
    """

    def __init__(self, g: GraphView, distance: Any, *, backward: bool) -> None:
        columns = {"asked": g.column(0, "int64"), "distance": distance}
        self._ask = Advance(g.T, only_tight(ASK, 0, backward=not backward), columns)

    def of(self, receivers: Frontier) -> Frontier:
        """Return the vertices with a tight edge to `receivers`. All members call it."""
        return self._ask.step("push", receivers, step=np.int64(self._ask.supersteps + 1))


def lost_weight() -> WeightError:
    """Return the error for a weight that does not change the distance to which it is added."""
    return WeightError(
        "a weight is so small that adding it to a distance does not change the distance, so that the "
        "shortest paths cannot be counted; every weight has to change the distances at its ends. Remove "
        "the lightest edges, or make their weights larger"
    )
