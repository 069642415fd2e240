"""In order: vertices take values one after another, each after its neighbors that come before it.

A single member visits its vertices in one call. Several members give values to all vertices at once that
*wait* for no other vertex, because all neighbors before them have values [1]_. Both give the same values.

A vertex collects the values of its neighbors as bits of a 64-bit word, its *window*. At first, it stands
for the values 0 to 63. When a window is full, the vertex moves it on by 64 values.

.. [1] M. T. Jones, P. E. Plassmann, "A Parallel Graph Coloring Heuristic", SIAM Journal on Scientific
   Computing 14, 1993.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.graph.hubs import inverse
from dask_graphflow.kernels import order as order_kernels
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.programs.edge_op import EdgeOp

from .advance import Advance
from .view import GraphView

WINDOW = 64  # values
FULL = 2**64 - 1

BEFORE = "degree[src] > degree[dst] or degree[src] == degree[dst] and priority[src] > priority[dst]"
WAIT = EdgeOp("wait", target="waits", signal=f"1 if {BEFORE} else 0", slot="add")
RELEASE = EdgeOp("release", target="waits", signal="-1", slot="add")
INSIDE = f"value[src] >= base[dst] and value[src] - base[dst] < {WINDOW}"
BIT = f"uint64(1) << uint64(value[src] - base[dst]) if {INSIDE} else uint64(0)"
USE = EdgeOp("use", target="used", signal=BIT, slot="or")
COLLECT = EdgeOp("collect", target="used", signal=BIT, slot="or", cond="moved[dst]")


def first_free(g: GraphView, priority: Any) -> Any:
    """Give each vertex, in an order, the smallest number that no neighbor before it has, as int32.

    Vertices with more edges come first. Among vertices with the same number of edges, those of a higher
    priority come first; no two vertices have the same one. The graph is simple and undirected. Positions
    that are not vertices get -1. All members call it.
    """
    if not g.member.alone:
        return _together(g, priority)
    rows = g.member.local("out").rows
    with g.superstep("push", g.count, len(rows.ends)):
        values = order_kernels.of(rows.ends).first_free(rows, _order(g, priority))
    values[~g.exists] = -1
    return values


def _order(g: GraphView, priority: Any) -> Any:
    """Return the positions in order, if there is a single member."""
    order = np.argsort(priority)[::-1]
    ends = g.member.local("out").rows.ends
    labels = rows_kernels.of(ends).degree_labels(g.degrees[order])
    return order[inverse(labels)].astype(ends.dtype)


def _together(g: GraphView, priority: Any) -> Any:
    waits, value = g.column(0, "int64"), g.column(-1, "int32")
    used, base, moved = g.column(0, "uint64"), g.column(0, "int32"), g.column(False, "bool")
    windows = {"used": used, "base": base, "value": value, "moved": moved}
    order = {"degree": g.degrees, "priority": priority}
    Advance(g, WAIT, {"waits": waits, **order}, own_changes=True).pull(g.everyone())
    release = Advance(g, RELEASE, {"waits": waits}, own_changes=True)
    use, collect = Advance(g, USE, windows, own_changes=True), Advance(g, COLLECT, windows)
    ready = g.frontier((g.exists & (waits == 0)).nonzero()[0])
    while ready:
        at = ready.vertices
        full = at[used[at] == FULL]
        while g.all_sum(len(full)):
            base[full] += WINDOW
            used[full], moved[full] = 0, True
            collect.pull(g.everyone())
            moved[full] = False
            full = full[used[full] == FULL]
            # The windows were changed here, and an Advance with `own_changes` does not look for that.
            use = Advance(g, USE, windows, own_changes=True)
        value[at] = base[at] + _lowest_zero(used[at])
        use.push(ready)
        # From now on, neighbors that have a value have a negative count, so they are not ready again.
        released = release.push(ready).vertices
        ready = g.frontier(released[(waits[released] == 0) & (value[released] < 0)])
    return value


def _lowest_zero(words: Any) -> Any:
    """Return the position of the lowest bit that is 0 in each word."""
    lowest = ~words & (words + np.uint64(1))
    return np.frexp(lowest.astype("float64"))[1] - 1
