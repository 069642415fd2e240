"""Fixpoint: advance an edge program until no vertex changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dask_graphflow.operators.advance.direction import RULES, Direction
from dask_graphflow.operators.frontier import Frontier
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

from .float_sums import make_advance


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
    """Advance from a frontier to the vertices that change, repeatedly, until no vertex changes.

    All members call it at once. The final columns are the same for every number of members.

    Parameters
    ----------
    op : EdgeOp
        The edge program.
    columns : mapping of str to array, shape (V_p,)
        The columns of this member's vertices. The column of ``op.target`` is changed in place.
    frontier : Frontier, optional
        The vertices to begin with; all vertices by default.
    rule : {"gemini", "beamer", "push", "pull"}
        When to pull; see :class:`.Direction`. With "gemini" and "beamer", a frontier of all vertices pulls.
    balance : str
        How edges are divided among threads; see :mod:`~dask_graphflow.kernels.policies`.
    max_iter : int, optional
        Maximum number of supersteps. If given, messages read the values from before the superstep. A
        program that is stopped then gives the same values for every number of threads and members. Without
        it, a program that reads at ``src`` the column that it writes can see a message in the same
        superstep, and may need fewer supersteps.

    Raises
    ------
    UnknownColumnError, WeightError, ExpressionError
        See ``op.bind``.
    """
    steps = make_advance(
        g, op, columns, balance=balance, synchronous=max_iter is not None, own_changes=True
    )
    direction, done = Direction(rule, g), 0
    frontier = g.everyone() if frontier is None else frontier
    while frontier and done != max_iter:
        way = direction.choose(frontier)
        if frontier.own is None and rule in RULES:
            way = "pull"
        if way == "push":
            most = None if max_iter is None else max_iter - done
            frontier, count = steps.push_on(frontier, direction, most)
        else:
            frontier, count = steps.pull(frontier), 1
        done += count
