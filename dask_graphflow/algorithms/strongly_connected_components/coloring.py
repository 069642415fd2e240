"""Coloring: strong components of all vertices that are left, in rounds."""

from __future__ import annotations

from typing import Any

from dask_graphflow.operators.advance import fixpoint
from dask_graphflow.operators.priorities import priorities
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

REMAINS = "component[dst] < 0"
LEAST_COLOR = f"color[src] if group[src] == group[dst] else {2**63 - 1}"
COLOR = EdgeOp("color", target="color", signal=LEAST_COLOR, slot="min", cond=REMAINS)
SAME_COLOR = "0 if color[src] == color[dst] else -1"
REACH = EdgeOp("reach", target="component", signal=SAME_COLOR, slot="max", cond=REMAINS)
FIRST = "component[src] if color[src] == color[dst] else component[dst]"
SMALLEST = EdgeOp("smallest", target="component", signal=FIRST, slot="min")


def color_remaining(g: GraphView, back: GraphView, component: Any) -> None:
    """Find the components of all remaining vertices by coloring."""
    remaining = g.positions(g.exists & (component < 0))
    if not g.all_sum(len(remaining)):
        return
    priority = priorities(g.ranks, 0)
    color, group = priority.copy(), g.column(0, "int64")
    columns = {"color": color, "group": group, "component": component}
    colored = remaining
    while g.all_sum(len(remaining)):
        fixpoint(g, COLOR, columns, g.frontier(remaining))
        roots = remaining[g.positions(color[remaining] == priority[remaining])]
        component[roots] = 0
        fixpoint(back, REACH, columns, back.frontier(roots))
        remaining = remaining[g.positions(component[remaining] < 0)]
        group[remaining] = color[remaining]
        color[remaining] = priority[remaining]
    component[colored] = g.numbers[colored]
    # A component has the color of its root, and no vertex that was not colored has this color.
    fixpoint(g, SMALLEST, columns, g.frontier(colored))
