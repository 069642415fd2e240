"""Fixpoint: advance an edge program until no vertex changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dask_graphflow.kernels.edge_op import EdgeOp

from .direction import RULES, Direction
from .float_sums import advancing
from .view import Frontier, GraphView

__all__ = ["fixpoint"]


def fixpoint(
    g: GraphView,
    op: EdgeOp,
    columns: Mapping[str, Any],
    frontier: Frontier | None = None,
    *,
    rule: str = "gemini",
    balance: str = "auto",
    max_iter: int | None = None,
) -> None:
    """Advance from a frontier to the vertices that change, and from those, until there are none.

    All members call it at once. The columns end the same for every number of members.

    Parameters
    ----------
    g : GraphView
    op : EdgeOp
        The edge program.
    columns : mapping of str to array, shape (V_p,)
        The columns of this member's vertices; that of ``op.target`` is changed in place.
    frontier : Frontier, optional
        Where to begin; all vertices by default.
    rule : {"gemini", "beamer", "push", "pull"}
        When to pull; see :class:`.Direction`. A frontier of all vertices pulls if a rule chooses.
    balance : str
        How edges are shared out to threads; see :mod:`~dask_graphflow.kernels.policies`.
    max_iter : int, optional
        Maximum number of supersteps. With it, messages are those of the values before the superstep, so
        that a program that is stopped gives the same values for every number of threads and members.
        Without it, a program that reads at ``src`` the column that it writes can see a message in the
        same superstep, and need fewer supersteps.

    Raises
    ------
    UnknownColumnError, WeightError, ExpressionError
        What ``op.bind`` raises.
    """
    how: dict[str, Any] = {"balance": balance, "synchronous": max_iter is not None}
    steps = advancing(g, op, columns, **how, own_changes=True)
    direction, done = Direction(rule, g), 0
    frontier = g.everyone() if frontier is None else frontier
    while frontier and done != max_iter:
        way = direction.choose(frontier)
        if frontier.own is None and rule in RULES:
            way = "pull"
        frontier = steps.push(frontier) if way == "push" else steps.pull(frontier)
        done += 1
