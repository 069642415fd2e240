"""Fixpoint: advance an edge program until no vertex changes, by push or pull, whichever is less work."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from dask_graphflow.kernels.edge_op import EdgeOp
from dask_graphflow.operators.vertex_set import VertexSet as Frontier

from ._old_advance import RULES, advance, direction, superstep

__all__ = ["fixpoint"]


def fixpoint(
    op: EdgeOp,
    columns: Mapping[str, Any],
    shards: Any,
    frontier: Frontier | None = None,
    *,
    rule: str = "gemini",
    balance: str = "auto",
    max_iter: int | None = None,
    threads: int = 1,
) -> list[dict[str, Any]]:
    """Advance from a frontier to the vertices that change, and from those, until there are none.

    Parameters
    ----------
    op : EdgeOp
        The edge program.
    columns : mapping of str to ndarray, shape (V,)
        The vertex columns; that of ``op.target`` is changed in place.
    shards : :class:`~dask_graphflow.graph.shards.Shards`
        The graph.
    frontier : Frontier, optional
        Where to begin; by default everywhere.
    rule : {"gemini", "beamer", "push", "pull"}
        When to pull; see :func:`~dask_graphflow.operators.advance.direction`. Or never, or always.
    balance : str
        How edges are shared out; see :func:`~dask_graphflow.operators.advance.advance`.
    max_iter : int, optional
        Supersteps at most.
    threads : int
        Host threads to use.

    Returns
    -------
    list of dict
        What each superstep did.
    """
    degrees = shards.out_degrees(threads)
    total = int(degrees.sum())
    steps: list[dict[str, Any]] = []
    last = None
    while len(steps) != max_iter and (frontier is None or len(frontier)):
        began = time.perf_counter()
        if rule not in RULES:
            way = rule
        elif frontier is None:
            way = "pull"
        else:
            way = direction(frontier, degrees, total=total, rule=rule, last=last)
        rows = shards.into(threads) if way == "pull" else shards.out(threads)
        frontier, last = advance(
            op, columns, rows, frontier, direction=way, balance=balance, threads=threads
        )
        steps.append(superstep(way, last.frontier, last.edges, time.perf_counter() - began))
    return steps
